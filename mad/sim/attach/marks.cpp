// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/marks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mad/sim/attach/connection.h"
#include "mad/sim/attach/real.h"

namespace smd::sim::attach {
namespace {

constexpr int kMarked = 1 << 20;  // all that Linux lets a process have unless fs.nr_open is raised
Mark marks[kMarked];              // untouched pages cost nothing
int highest = -1;                 ///< that was ever marked

void note_mark(const Mark& mark) {
  const auto fd = static_cast<int>(&mark - marks);
  int seen = __atomic_load_n(&highest, __ATOMIC_RELAXED);
  while (fd > seen &&
         !__atomic_compare_exchange_n(&highest, &seen, fd, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

Next* free_ones = nullptr;
int free_lock = 0;

Next* make_next() {
  {
    const Lock hold(free_lock);
    if (auto* again = free_ones) {
      free_ones = again->other;
      again->at = again->size = 0;
      again->users = 1;
      return again;
    }
  }
  auto* fresh = static_cast<Next*>(calloc(1, sizeof(Next)));
  if (fresh != nullptr) fresh->users = 1;
  return fresh;
}

void release(Next* next) {
  if (next == nullptr || __atomic_sub_fetch(&next->users, 1, __ATOMIC_ACQ_REL) != 0) return;
  const Lock hold(free_lock);
  next->other = free_ones;
  free_ones = next;
}

void replace(Mark& target, const Mark& with) {
  if (shares_memory()) return;
  auto* before = target.next;
  if (with.what != Served::nothing) note_mark(target);
  target = with;
  release(before);
}

bool memory_status(int fd, struct stat* status) {
  // The C library's own fstat is one of those that the library stands in front of.
  return syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH) == 0;
}

}  // namespace

Mark* mark_of(int fd) { return fd >= 0 && fd < kMarked ? &marks[fd] : nullptr; }

void mark_device(int fd) {
  if (auto* known = mark_of(fd)) replace(*known, Mark{.what = Served::device});
}

void mark_memory(int fd, Served what, ino_t shown) {
  struct stat status{};
  auto* known = mark_of(fd);
  if (known == nullptr || !memory_status(fd, &status)) return;
  replace(*known, Mark{.what = what, .memory = status.st_ino, .shown = shown});
}

Next* next_of(Mark& known) {
  auto* next = __atomic_load_n(&known.next, __ATOMIC_ACQUIRE);
  if (next != nullptr) return next;
  auto* fresh = make_next();
  if (fresh == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(&known.next, &next, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return fresh;
  release(fresh);
  return next;
}

bool is_device(int fd) {
  const auto* known = mark_of(fd);
  return known != nullptr && known->what == Served::device;
}

bool is_folder(int fd) {
  const auto* known = mark_of(fd);
  return known != nullptr && known->what == Served::folder && memory_mark(fd) != nullptr;
}

const Mark* memory_mark(int fd) {
  const auto* known = mark_of(fd);
  if (known == nullptr || (known->what != Served::file && known->what != Served::folder)) return nullptr;
  // It may have been closed where the library does not see it.
  struct stat status{};
  const bool same = memory_status(fd, &status) && status.st_nlink == 0 && status.st_ino == known->memory;
  return same ? known : nullptr;
}

void copy_mark(int from, int to) {
  auto* target = mark_of(to);
  if (target == nullptr || from == to) return;
  auto* source = mark_of(from);
  if (source == nullptr || source->what == Served::nothing) {
    if (target->what != Served::nothing) replace(*target, Mark{});
    return;
  }
  if (source->what == Served::device && !shares_memory() &&
      next_of(*source) != nullptr)  // from now on both look at the same
    __atomic_add_fetch(&source->next->users, 1, __ATOMIC_ACQ_REL);
  replace(*target, *source);
}

void drop_marks(unsigned first, unsigned last) {
  const int top = __atomic_load_n(&highest, __ATOMIC_RELAXED);
  for (unsigned fd = first; top >= 0 && fd <= last && fd <= static_cast<unsigned>(top); ++fd)
    copy_mark(-1, static_cast<int>(fd));
}

void find_inherited() {
  // System calls: the C library's functions of folders are among those that the library stands in front of.
  const auto folder =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder < 0) return;
  alignas(dirent64) char entries[4096];
  for (;;) {
    const long size = syscall(SYS_getdents64, folder, entries, sizeof(entries));
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const int fd = atoi(entry->d_name);  // of "." and ".." 0, which is looked at twice more
      if (is_connection(fd)) mark_device(fd);
    }
  }
  raw_close(folder);
}

}  // namespace smd::sim::attach
