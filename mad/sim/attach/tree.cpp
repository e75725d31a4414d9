// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "mad/sim/attach/connection.h"
#include "mad/sim/attach/marks.h"
#include "mad/sim/attach/real.h"

namespace smd::sim::attach {
namespace {

// One question to the server brings all files, and libibumad reads some 150 of them in a row (one a P_Key),
// so an answer serves for this long, unless the program uses a device meanwhile.
constexpr long kFreshNanoseconds = 2'000'000;

struct Tree {
  int lock = 0;
  int owner = 0;  ///< process that asked
  long asked = 0;
  const char* text = nullptr;
  size_t size = 0;
};
Tree tree;
int outdated = 0;

long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

bool ask() {
  const auto reply = connect_as(Kind::tree, 0, false, true);
  if (reply.fd < 0) return false;
  raw_close(reply.fd);
  if (reply.memory < 0) return false;
  void* text = mmap(nullptr, reply.size, PROT_READ, MAP_PRIVATE, reply.memory, 0);
  raw_close(reply.memory);
  if (text == MAP_FAILED) return false;
  if (tree.text != nullptr) munmap(const_cast<char*>(tree.text), tree.size);
  tree.text = static_cast<const char*>(text);
  tree.size = reply.size;
  tree.asked = now();
  tree.owner = getpid();
  return true;
}

/// With the lock held.
bool fresh() {
  const bool old = __atomic_exchange_n(&outdated, 0, __ATOMIC_RELAXED) != 0;
  const bool usable = tree.text != nullptr && tree.owner == getpid() && !old;
  return (usable && now() - tree.asked < kFreshNanoseconds) || ask();
}

/// Calls fn(path, content) for each file until it answers true.
template <class Fn>
bool search(Fn fn) {
  const char* at = tree.text;
  const char* end = tree.text + tree.size;
  while (at < end) {
    const char* content = at + strlen(at) + 1;
    if (fn(at, content)) return true;
    at = content + strlen(content) + 1;
  }
  return false;
}

bool inside(const char* file, const Path& folder) {
  return strncmp(file, folder.text, folder.length) == 0 && file[folder.length] == '/';
}

Type type_here(const Path& path) {
  auto type = Type::none;
  search([&](const char* file, const char*) {
    if (strcmp(file, path.text) == 0) {
      type = path.device ? Type::device : Type::file;
    } else if (inside(file, path)) {
      type = Type::folder;
    }
    return type != Type::none;
  });
  return type;
}

/// A number for the path, as files of a disk have one.
ino_t number_of(const Path& path) {
  uint64_t number = 0xCBF2'9CE4'8422'2325;  // FNV-1a
  for (size_t i = 0; i < path.length; ++i)
    number = (number ^ static_cast<unsigned char>(path.text[i])) * 0x0000'0100'0000'01B3;
  return number;
}

int memory_with(const char* content, int flags, Served what, ino_t number) {
  const int fd = memfd_create("smd-sim", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (fd < 0) return -1;
  if (pwrite(fd, content, strlen(content), 0) < 0) {
    raw_close(fd);
    return fail(EIO);
  }
  mark_memory(fd, what, number);
  return fd;
}

/// What stat() tells of it.
void describe(Type type, ino_t number, struct stat* status) {
  memset(status, 0, sizeof(*status));
  status->st_dev = makedev(0, 0x5D);  // any that is the same for all of them
  status->st_ino = number;
  status->st_nlink = 1;
  status->st_blksize = 4096;
  switch (type) {
    case Type::folder:
      status->st_mode = S_IFDIR | 0755;
      break;
    case Type::device:
      status->st_mode = S_IFCHR | 0666;
      break;
    default:
      status->st_mode = S_IFREG | 0444;
      status->st_size = 4096;  // as sysfs shows it
      status->st_blocks = 8;   // no holes for cp to look for
  }
}

}  // namespace

Type type_of(const Path& path) {
  const Lock hold(tree.lock);
  return fresh() ? type_here(path) : Type::none;
}

int open_file(const Path& path, int flags) {
  const Lock hold(tree.lock);
  if (!fresh()) return fail(ENOENT);
  switch (type_here(path)) {
    case Type::file:
      if ((flags & O_DIRECTORY) != 0) return fail(ENOTDIR);
      break;
    case Type::folder:
      if ((flags & O_ACCMODE) != O_RDONLY) return fail(EISDIR);
      return memory_with(path.text, flags, Served::folder, number_of(path));
    default:
      return fail(ENOENT);
  }
  if ((flags & O_ACCMODE) != O_RDONLY) return fail(EACCES);
  int fd = -1;
  search([&](const char* file, const char* content) {
    if (strcmp(file, path.text) != 0) return false;
    fd = memory_with(content, flags, Served::file, number_of(path));
    return true;
  });
  return fd;
}

bool folder_of(int fd, char* path, size_t size) {
  const auto* known = memory_mark(fd);
  if (known == nullptr || known->what != Served::folder) return false;
  const auto got = pread(fd, path, size - 1, 0);
  if (got <= 0) return false;
  path[got] = 0;
  return true;
}

int status_of(const Path& path, struct stat* status) {
  const auto type = type_of(path);
  if (type == Type::none) return fail(ENOENT);
  describe(type, number_of(path), status);
  return 0;
}

bool status_of(int fd, struct stat* status) {
  if (is_device(fd)) {
    describe(Type::device, static_cast<ino_t>(fd), status);
    return true;
  }
  const auto* known = memory_mark(fd);
  if (known == nullptr) return false;
  describe(known->what == Served::folder ? Type::folder : Type::file, known->shown, status);
  return true;
}

int access_of(const Path& path, int mode) {
  const auto type = type_of(path);
  if (type == Type::none) return fail(ENOENT);
  const bool write = (mode & W_OK) != 0 && type != Type::device;
  const bool run = (mode & X_OK) != 0 && type != Type::folder;
  return write || run ? fail(EACCES) : 0;
}

bool each_entry(const Path& path, void (*call)(void*, const char*, size_t, bool), void* context) {
  const Lock hold(tree.lock);
  if (!fresh() || type_here(path) != Type::folder) return false;
  // The server lists files in order, so that what is in one folder stands together.
  const char* last = "";
  size_t last_length = 0;
  search([&](const char* file, const char*) {
    if (!inside(file, path)) return false;
    const char* name = file + path.length + 1;
    const size_t length = strcspn(name, "/");
    if (length == last_length && strncmp(name, last, length) == 0) return false;
    last = name;
    last_length = length;
    call(context, name, length, name[length] == '/');
    return false;
  });
  return true;
}

void outdate() { __atomic_store_n(&outdated, 1, __ATOMIC_RELAXED); }

}  // namespace smd::sim::attach
