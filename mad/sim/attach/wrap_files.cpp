// SPDX-License-Identifier: Apache-2.0
// As wrap.cpp: the functions that look at files without opening them.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mad/sim/attach/real.h"
#include "mad/sim/attach/tree.h"
#include "mad/sim/attach/wrap.h"

namespace smd::sim::attach {
namespace {

using Status = struct stat;
using StatusX = struct statx;

Real<int(const char*, Status*)> real_stat("stat"), real_lstat("lstat"), real_stat64("stat64"),
    real_lstat64("lstat64");
Real<int(int, Status*)> real_fstat("fstat"), real_fstat64("fstat64");
Real<int(int, const char*, Status*)> real_xstat("__xstat"), real_lxstat("__lxstat");
Real<int(int, const char*, Status*, int)> real_fstatat("fstatat"), real_fstatat64("fstatat64");
Real<int(int, const char*, int, unsigned, StatusX*)> real_statx("statx");
Real<int(const char*, int)> real_access("access"), real_eaccess("eaccess"), real_euidaccess("euidaccess");
Real<int(int, const char*, int, int)> real_faccessat("faccessat");
Real<ssize_t(const char*, char*, size_t)> real_readlink("readlink");
Real<ssize_t(int, const char*, char*, size_t)> real_readlinkat("readlinkat");
Real<char*(const char*, char*)> real_realpath("realpath");
Real<ssize_t(const char*, const char*, void*, size_t)> real_getxattr("getxattr"), real_lgetxattr("lgetxattr");
Real<ssize_t(const char*, char*, size_t)> real_listxattr("listxattr"), real_llistxattr("llistxattr");

void convert(const Status& plain, StatusX* status) {
  memset(status, 0, sizeof(*status));
  status->stx_mask = STATX_BASIC_STATS;
  status->stx_blksize = static_cast<__u32>(plain.st_blksize);
  status->stx_nlink = static_cast<__u32>(plain.st_nlink);
  status->stx_mode = static_cast<__u16>(plain.st_mode);
  status->stx_size = static_cast<__u64>(plain.st_size);
  status->stx_blocks = static_cast<__u64>(plain.st_blocks);
  status->stx_ino = plain.st_ino;
  status->stx_dev_major = major(plain.st_dev);
  status->stx_dev_minor = minor(plain.st_dev);
}

/// As fstatat(); false: none of ours. `path` is that of its arguments.
bool status_at(int folder, const char* file, int flags, const Path& path, Status* status, int* result) {
  if (path.ours) {
    *result = status_of(path, status);
    return true;
  }
  const bool itself = (flags & AT_EMPTY_PATH) != 0 && (file == nullptr || file[0] == 0);
  *result = 0;
  return itself && status_of(folder, status);
}

ssize_t no_link(const Path& path) { return fail(type_of(path) == Type::none ? ENOENT : EINVAL); }
ssize_t no_attributes(const Path& path) { return fail(type_of(path) == Type::none ? ENOENT : ENOTSUP); }

char* real_path_of(const Path& path, char* resolved) {
  if (type_of(path) == Type::none) return errno = ENOENT, nullptr;
  return resolved == nullptr ? strdup(path.text) : strcpy(resolved, path.text);
}

}  // namespace

#define SMD_WRAP_STAT(name)                                                      \
  SMD_WRAP(int, name, (const char* file, Status* status)) {                      \
    const Path path(file);                                                       \
    return path.ours ? status_of(path, status) : real_##name(path.real, status); \
  }
SMD_WRAP_STAT(stat)
SMD_WRAP_STAT(lstat)
SMD_WRAP_STAT(stat64)
SMD_WRAP_STAT(lstat64)

#define SMD_WRAP_FSTAT(name)                                    \
  SMD_WRAP(int, name, (int fd, Status* status)) {               \
    return status_of(fd, status) ? 0 : real_##name(fd, status); \
  }
SMD_WRAP_FSTAT(fstat)
SMD_WRAP_FSTAT(fstat64)

// Programs built against a C library before 2.33 call these.
SMD_WRAP(int, __xstat, (int version, const char* file, Status* status)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_xstat(version, path.real, status);
}
SMD_WRAP(int, __lxstat, (int version, const char* file, Status* status)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_lxstat(version, path.real, status);
}

#define SMD_WRAP_STATAT(name)                                                      \
  SMD_WRAP(int, name, (int folder, const char* file, Status* status, int flags)) { \
    const Path path(folder, file);                                                 \
    int result = 0;                                                                \
    if (status_at(folder, file, flags, path, status, &result)) return result;      \
    return real_##name(path.real_folder, path.real, status, flags);                \
  }
SMD_WRAP_STATAT(fstatat)
SMD_WRAP_STATAT(fstatat64)
SMD_WRAP(int, statx, (int folder, const char* file, int flags, unsigned mask, StatusX* status)) {
  const Path path(folder, file);
  Status plain{};
  int result = 0;
  if (!status_at(folder, file, flags, path, &plain, &result))
    return real_statx(path.real_folder, path.real, flags, mask, status);
  if (result == 0) convert(plain, status);
  return result;
}

#define SMD_WRAP_ACCESS(name)                                                \
  SMD_WRAP(int, name, (const char* file, int mode)) {                        \
    const Path path(file);                                                   \
    return path.ours ? access_of(path, mode) : real_##name(path.real, mode); \
  }
SMD_WRAP_ACCESS(access)
SMD_WRAP_ACCESS(eaccess)
SMD_WRAP_ACCESS(euidaccess)
SMD_WRAP(int, faccessat, (int folder, const char* file, int mode, int flags)) {
  const Path path(folder, file);
  return path.ours ? access_of(path, mode) : real_faccessat(path.real_folder, path.real, mode, flags);
}
SMD_WRAP(ssize_t, readlink, (const char* file, char* buffer, size_t size)) {
  const Path path(file);
  return path.ours ? no_link(path) : real_readlink(path.real, buffer, size);
}
SMD_WRAP(ssize_t, readlinkat, (int folder, const char* file, char* buffer, size_t size)) {
  const Path path(folder, file);
  return path.ours ? no_link(path) : real_readlinkat(path.real_folder, path.real, buffer, size);
}
SMD_WRAP(char*, realpath, (const char* file, char* resolved)) {
  const Path path(file);
  return path.ours ? real_path_of(path, resolved) : real_realpath(path.real, resolved);
}
SMD_WRAP(char*, __realpath_chk, (const char* file, char* resolved, size_t room)) {
  if (room < PATH_MAX) __builtin_trap();
  const Path path(file);
  return path.ours ? real_path_of(path, resolved) : real_realpath(path.real, resolved);
}

#define SMD_WRAP_GETXATTR(name)                                                                  \
  SMD_WRAP(ssize_t, name, (const char* file, const char* attribute, void* value, size_t size)) { \
    const Path path(file);                                                                       \
    return path.ours ? no_attributes(path) : real_##name(path.real, attribute, value, size);     \
  }
SMD_WRAP_GETXATTR(getxattr)
SMD_WRAP_GETXATTR(lgetxattr)
#define SMD_WRAP_LISTXATTR(name)                                                 \
  SMD_WRAP(ssize_t, name, (const char* file, char* list, size_t size)) {         \
    const Path path(file);                                                       \
    return path.ours ? no_attributes(path) : real_##name(path.real, list, size); \
  }
SMD_WRAP_LISTXATTR(listxattr)
SMD_WRAP_LISTXATTR(llistxattr)

}  // namespace smd::sim::attach
