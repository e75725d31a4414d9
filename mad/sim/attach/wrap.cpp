// SPDX-License-Identifier: Apache-2.0
// The functions that open, use and close descriptors. What looks at files without opening them:
// wrap_files.cpp, folders: wrap_folders.cpp.
#include "mad/sim/attach/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mad/sim/attach/device.h"
#include "mad/sim/attach/marks.h"
#include "mad/sim/attach/real.h"
#include "mad/sim/attach/tree.h"

namespace smd::sim::attach {
namespace {

int open_served(const Path& path, int flags) {
  if (!path.device) return open_file(path, flags);
  return type_of(path) == Type::folder ? open_file(path, flags) : open_device(path, flags);
}

bool wants_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

__attribute__((constructor)) void start() {
  const int before = errno;
  const char* path = "/sys/class/infiniband";
  if (Path(path).ours) {
    watch_forks();
    find_inherited();
    find_present_folder();
  }
  errno = before;
}

Real<int(const char*, int, ...)> real_open("open"), real_open64("open64");
Real<int(int, const char*, int, ...)> real_openat("openat"), real_openat64("openat64");
Real<int(const char*, int)> real_open_2("__open_2"), real_open64_2("__open64_2");
Real<int(int, const char*, int)> real_openat_2("__openat_2"), real_openat64_2("__openat64_2");
Real<FILE*(const char*, const char*)> real_fopen("fopen"), real_fopen64("fopen64");
Real<ssize_t(int, void*, size_t)> real_read("read");
Real<ssize_t(int, const void*, size_t)> real_write("write");
Real<int(int)> real_close("close"), real_dup("dup");
Real<int(FILE*)> real_fclose("fclose");
Real<int(unsigned, unsigned, int)> real_close_range("close_range");
Real<void(int)> real_closefrom("closefrom");
Real<int(int, int)> real_dup2("dup2");
Real<int(int, int, int)> real_dup3("dup3");
Real<int(int, int, ...)> real_fcntl("fcntl"), real_fcntl64("fcntl64");
Real<int(int, unsigned long, ...)> real_ioctl("ioctl");

/// As read(), whatever the descriptor is.
ssize_t read_any(int fd, void* buffer, size_t size) {
  if (is_device(fd)) return read_device(fd, buffer, size);
  return is_folder(fd) ? fail(EISDIR) : real_read(fd, buffer, size);
}

FILE* open_stream(const Path& path, const char* mode) {
  if (mode[0] != 'r' || strchr(mode, '+') != nullptr) return errno = EACCES, nullptr;
  const int fd = open_served(path, O_RDONLY);
  return fd < 0 ? nullptr : fdopen(fd, mode);
}

template <class Function>
int duplicate(Function& real, int fd, int command, void* argument) {
  const int result = real(fd, command, argument);
  if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) copy_mark(fd, result);
  return result;
}

}  // namespace

// The last argument of open is there only with some flags.
#define SMD_MODE(flags)                            \
  mode_t mode = 0;                                 \
  if (wants_mode(flags)) {                         \
    va_list rest;                                  \
    va_start(rest, flags);                         \
    mode = static_cast<mode_t>(va_arg(rest, int)); \
    va_end(rest);                                  \
  }

SMD_WRAP(int, open, (const char* name, int flags, ...)) {
  SMD_MODE(flags)
  const Path path(name);
  return path.ours ? open_served(path, flags) : real_open(path.real, flags, mode);
}
SMD_WRAP(int, open64, (const char* name, int flags, ...)) {
  SMD_MODE(flags)
  const Path path(name);
  return path.ours ? open_served(path, flags) : real_open64(path.real, flags, mode);
}
SMD_WRAP(int, openat, (int folder, const char* name, int flags, ...)) {
  SMD_MODE(flags)
  const Path path(folder, name);
  return path.ours ? open_served(path, flags) : real_openat(path.real_folder, path.real, flags, mode);
}
SMD_WRAP(int, openat64, (int folder, const char* name, int flags, ...)) {
  SMD_MODE(flags)
  const Path path(folder, name);
  return path.ours ? open_served(path, flags) : real_openat64(path.real_folder, path.real, flags, mode);
}
SMD_WRAP(int, __open_2, (const char* name, int flags)) {
  const Path path(name);
  return path.ours ? open_served(path, flags) : real_open_2(path.real, flags);
}
SMD_WRAP(int, __open64_2, (const char* name, int flags)) {
  const Path path(name);
  return path.ours ? open_served(path, flags) : real_open64_2(path.real, flags);
}
SMD_WRAP(int, __openat_2, (int folder, const char* name, int flags)) {
  const Path path(folder, name);
  return path.ours ? open_served(path, flags) : real_openat_2(path.real_folder, path.real, flags);
}
SMD_WRAP(int, __openat64_2, (int folder, const char* name, int flags)) {
  const Path path(folder, name);
  return path.ours ? open_served(path, flags) : real_openat64_2(path.real_folder, path.real, flags);
}
SMD_WRAP(FILE*, fopen, (const char* name, const char* mode)) {
  const Path path(name);
  return path.ours ? open_stream(path, mode) : real_fopen(path.real, mode);
}
SMD_WRAP(FILE*, fopen64, (const char* name, const char* mode)) {
  const Path path(name);
  return path.ours ? open_stream(path, mode) : real_fopen64(path.real, mode);
}

SMD_WRAP(ssize_t, read, (int fd, void* buffer, size_t size)) { return read_any(fd, buffer, size); }
SMD_WRAP(ssize_t, __read_chk, (int fd, void* buffer, size_t size, size_t room)) {
  if (size > room) __builtin_trap();
  return read_any(fd, buffer, size);
}
SMD_WRAP(ssize_t, write, (int fd, const void* buffer, size_t size)) {
  return is_device(fd) ? write_device(fd, buffer, size) : real_write(fd, buffer, size);
}
SMD_WRAP(int, close, (int fd)) {
  copy_mark(-1, fd);
  return real_close(fd);
}
SMD_WRAP(int, fclose, (FILE * file)) {
  const int fd = file != nullptr ? fileno(file) : -1;
  if (fd >= 0) copy_mark(-1, fd);
  return real_fclose(file);
}
SMD_WRAP(int, close_range, (unsigned first, unsigned last, int flags)) {
  const int result = real_close_range(first, last, flags);
  if (result == 0 && (static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) == 0) drop_marks(first, last);
  return result;
}
SMD_WRAP(void, closefrom, (int first)) {
  drop_marks(first < 0 ? 0U : static_cast<unsigned>(first), ~0U);
  real_closefrom(first);
}
SMD_WRAP(int, dup, (int fd)) {
  const int copy = real_dup(fd);
  if (copy >= 0) copy_mark(fd, copy);
  return copy;
}
SMD_WRAP(int, dup2, (int fd, int wanted)) {
  const int copy = real_dup2(fd, wanted);
  if (copy >= 0) copy_mark(fd, copy);
  return copy;
}
SMD_WRAP(int, dup3, (int fd, int wanted, int flags)) {
  const int copy = real_dup3(fd, wanted, flags);
  if (copy >= 0) copy_mark(fd, copy);
  return copy;
}
SMD_WRAP(int, fcntl, (int fd, int command, ...)) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return duplicate(real_fcntl, fd, command, argument);
}
SMD_WRAP(int, fcntl64, (int fd, int command, ...)) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return duplicate(real_fcntl64, fd, command, argument);
}
SMD_WRAP(int, ioctl, (int fd, unsigned long request, ...)) {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  int result = 0;
  if (control_device(fd, request, argument, &result)) return result;
  return real_ioctl(fd, request, argument);
}

}  // namespace smd::sim::attach
