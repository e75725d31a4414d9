// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mad/sim/attach/connection.h"
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
char here[sizeof(Path::text)];  ///< the folder that the program has gone to

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

bool begins(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

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

int file_with(const char* content, int flags) {
  const int fd = memfd_create("smd-sim", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (fd < 0) return -1;
  if (pwrite(fd, content, strlen(content), 0) < 0) {
    raw_close(fd);
    return fail(EIO);
  }
  return fd;
}

}  // namespace

Path::Path(const char* path) {
  text[0] = 0;
  if (path == nullptr || !attached()) return;
  if (path[0] != '/') {
    if (here[0] == 0) return;
    if (!append(here) || !append("/")) return;
    while (path[0] == '.' && (path[1] == '/' || path[1] == 0)) path += path[1] == 0 ? 1 : 2;
  } else if (!begins(path, "/sys/") && !begins(path, "/dev/")) {
    return;
  }
  if (!append(path)) return;
  while (length > 1 && text[length - 1] == '/') --length;
  text[length] = 0;
  device = strcmp(text, "/dev/infiniband") == 0 || begins(text, "/dev/infiniband/");
  ours = device || begins(text, "/sys/class/infiniband");
}

bool Path::append(const char* part) {
  for (const char* c = part; *c != 0; ++c) {
    if (*c == '/' && length != 0 && text[length - 1] == '/') continue;
    if (length + 1 == sizeof(text)) return false;
    text[length++] = *c;
  }
  return true;
}

bool change_folder(const Path& path, int* result) {
  if (!path.ours) return false;
  const auto type = type_of(path);
  if (type == Type::folder) {
    strcpy(here, path.text);
    *result = 0;
  } else {
    *result = fail(type == Type::none ? ENOENT : ENOTDIR);
  }
  return true;
}

void leave_folder() { here[0] = 0; }

Type type_of(const Path& path) {
  const Lock hold(tree.lock);
  return fresh() ? type_here(path) : Type::none;
}

int open_file(const Path& path, int flags) {
  const Lock hold(tree.lock);
  if (!fresh()) return fail(ENOENT);
  switch (type_here(path)) {
    case Type::file:
      break;
    case Type::folder:
      return fail(EACCES);
    default:
      return fail(ENOENT);
  }
  if ((flags & O_ACCMODE) != O_RDONLY) return fail(EACCES);
  int fd = -1;
  search([&](const char* file, const char* content) {
    if (strcmp(file, path.text) != 0) return false;
    fd = file_with(content, flags);
    return true;
  });
  return fd;
}

int status_of(const Path& path, struct stat* status) {
  const auto type = type_of(path);
  if (type == Type::none) return fail(ENOENT);
  memset(status, 0, sizeof(*status));
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
  }
  return 0;
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
