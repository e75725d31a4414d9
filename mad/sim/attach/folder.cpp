// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "mad/sim/attach/marks.h"
#include "mad/sim/attach/real.h"

namespace smd::sim::attach {

struct Folder {
  Folder* next;
  size_t at, size, room;
  dirent* entries;
  int fd;  ///< -1: not opened yet
  char path[sizeof(Path::text)];
};

namespace {

Folder* open_folders = nullptr;  // under the lock
int folders_lock = 0;

void add(void* context, const char* name, size_t length, bool is_folder) {
  auto* folder = static_cast<Folder*>(context);
  if (folder->size == folder->room) {
    const size_t room = folder->room == 0 ? 16 : folder->room * 2;
    auto* grown = static_cast<dirent*>(realloc(folder->entries, room * sizeof(dirent)));
    if (grown == nullptr) return;
    folder->entries = grown;
    folder->room = room;
  }
  auto& entry = folder->entries[folder->size++];
  memset(&entry, 0, sizeof(entry));
  if (length >= sizeof(entry.d_name)) length = sizeof(entry.d_name) - 1;
  memcpy(entry.d_name, name, length);
  entry.d_ino = folder->size;
  entry.d_off = static_cast<off_t>(folder->size);
  entry.d_reclen = sizeof(entry);
  entry.d_type = is_folder ? DT_DIR : DT_REG;
}

void release(Folder* folder) {
  if (folder->fd >= 0) {
    copy_mark(-1, folder->fd);
    raw_close(folder->fd);
  }
  free(folder->entries);
  free(folder);
}

}  // namespace

Folder* open_folder(const Path& path, int fd) {
  auto* folder = static_cast<Folder*>(calloc(1, sizeof(Folder)));
  if (folder == nullptr) return nullptr;
  folder->fd = -1;
  strcpy(folder->path, path.text);
  add(folder, ".", 1, true);
  add(folder, "..", 2, true);
  if (!each_entry(path, add, folder)) {
    const bool file = type_of(path) != Type::none;
    release(folder);
    errno = file ? ENOTDIR : ENOENT;
    return nullptr;
  }
  folder->fd = fd;
  const Lock hold(folders_lock);
  folder->next = open_folders;
  __atomic_store_n(&open_folders, folder, __ATOMIC_RELEASE);
  return folder;
}

Folder* as_folder(DIR* dir) {
  if (__atomic_load_n(&open_folders, __ATOMIC_ACQUIRE) == nullptr) return nullptr;
  const Lock hold(folders_lock);
  for (auto* folder = open_folders; folder != nullptr; folder = folder->next) {
    if (reinterpret_cast<DIR*>(folder) == dir) return folder;
  }
  return nullptr;
}

dirent* next_entry(Folder* folder) {
  return folder->at < folder->size ? &folder->entries[folder->at++] : nullptr;
}

long position_of(const Folder* folder) { return static_cast<long>(folder->at); }

void go_to_entry(Folder* folder, long position) {
  const auto entry = position < 0 ? 0 : static_cast<size_t>(position);
  folder->at = entry < folder->size ? entry : folder->size;
}

int descriptor_of(Folder* folder) {
  if (folder->fd < 0) folder->fd = open_file(Path(folder->path), O_RDONLY | O_CLOEXEC);
  return folder->fd;
}

void close_folder(Folder* folder) {
  {
    const Lock hold(folders_lock);
    for (auto** link = &open_folders; *link != nullptr; link = &(*link)->next) {
      if (*link != folder) continue;
      *link = folder->next;
      break;
    }
  }
  release(folder);
}

int scan_folder(const Path& path, dirent*** list, Filter filter, Compare compare) {
  auto* folder = open_folder(path, -1);
  if (folder == nullptr) return -1;
  auto** names = static_cast<dirent**>(calloc(folder->size, sizeof(dirent*)));
  size_t count = 0;
  while (const auto* entry = names == nullptr ? nullptr : next_entry(folder)) {
    if (filter != nullptr && filter(entry) == 0) continue;
    auto* copy = static_cast<dirent*>(malloc(sizeof(dirent)));
    if (copy == nullptr) break;
    memcpy(copy, entry, sizeof(*copy));
    names[count++] = copy;
  }
  close_folder(folder);
  if (names == nullptr) return fail(ENOMEM);
  if (compare != nullptr)
    qsort(static_cast<void*>(names), count, sizeof(dirent*),
          reinterpret_cast<int (*)(const void*, const void*)>(compare));
  *list = names;
  return static_cast<int>(count);
}

}  // namespace smd::sim::attach
