// SPDX-License-Identifier: Apache-2.0
// As wrap.cpp: the functions that look at files and folders without opening them.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mad/sim/attach/folder.h"
#include "mad/sim/attach/real.h"
#include "mad/sim/attach/tree.h"

#define SMD_WRAP(result, name, parameters)                                                           \
  extern "C" __attribute__((visibility("default"))) result wrapped_##name parameters __asm__(#name); \
  result wrapped_##name parameters

namespace smd::sim::attach {
namespace {

using Status = struct stat;
using StatusX = struct statx;

Real<int(const char*, Status*)> real_stat("stat"), real_lstat("lstat"), real_stat64("stat64"),
    real_lstat64("lstat64");
Real<int(int, const char*, Status*)> real_xstat("__xstat"), real_lxstat("__lxstat");
Real<int(int, const char*, Status*, int)> real_fstatat("fstatat"), real_fstatat64("fstatat64");
Real<int(int, const char*, int, unsigned, StatusX*)> real_statx("statx");
Real<int(const char*, int)> real_access("access"), real_eaccess("eaccess"), real_euidaccess("euidaccess");
Real<int(int, const char*, int, int)> real_faccessat("faccessat");
Real<ssize_t(const char*, char*, size_t)> real_readlink("readlink");
Real<ssize_t(int, const char*, char*, size_t)> real_readlinkat("readlinkat");
Real<int(const char*)> real_chdir("chdir");
Real<DIR*(const char*)> real_opendir("opendir");
Real<dirent*(DIR*)> real_readdir("readdir"), real_readdir64("readdir64");
Real<void(DIR*)> real_rewinddir("rewinddir");
Real<int(DIR*)> real_closedir("closedir"), real_dirfd("dirfd");
Real<int(const char*, dirent***, Filter, Compare)> real_scandir("scandir"), real_scandir64("scandir64");

int statusx_of(const Path& path, StatusX* status) {
  Status plain{};
  if (status_of(path, &plain) != 0) return -1;
  memset(status, 0, sizeof(*status));
  status->stx_mask = STATX_BASIC_STATS;
  status->stx_blksize = static_cast<__u32>(plain.st_blksize);
  status->stx_nlink = 1;
  status->stx_mode = static_cast<__u16>(plain.st_mode);
  status->stx_size = static_cast<__u64>(plain.st_size);
  return 0;
}

ssize_t no_link(const Path& path) { return fail(type_of(path) == Type::none ? ENOENT : EINVAL); }

}  // namespace

#define SMD_WRAP_STAT(name)                                                 \
  SMD_WRAP(int, name, (const char* file, Status* status)) {                 \
    const Path path(file);                                                  \
    return path.ours ? status_of(path, status) : real_##name(file, status); \
  }
SMD_WRAP_STAT(stat)
SMD_WRAP_STAT(lstat)
SMD_WRAP_STAT(stat64)
SMD_WRAP_STAT(lstat64)

// Programs built against a C library before 2.33 call these.
SMD_WRAP(int, __xstat, (int version, const char* file, Status* status)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_xstat(version, file, status);
}
SMD_WRAP(int, __lxstat, (int version, const char* file, Status* status)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_lxstat(version, file, status);
}
SMD_WRAP(int, fstatat, (int folder, const char* file, Status* status, int flags)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_fstatat(folder, file, status, flags);
}
SMD_WRAP(int, fstatat64, (int folder, const char* file, Status* status, int flags)) {
  const Path path(file);
  return path.ours ? status_of(path, status) : real_fstatat64(folder, file, status, flags);
}
SMD_WRAP(int, statx, (int folder, const char* file, int flags, unsigned mask, StatusX* status)) {
  const Path path(file);
  return path.ours ? statusx_of(path, status) : real_statx(folder, file, flags, mask, status);
}

#define SMD_WRAP_ACCESS(name)                                           \
  SMD_WRAP(int, name, (const char* file, int mode)) {                   \
    const Path path(file);                                              \
    return path.ours ? access_of(path, mode) : real_##name(file, mode); \
  }
SMD_WRAP_ACCESS(access)
SMD_WRAP_ACCESS(eaccess)
SMD_WRAP_ACCESS(euidaccess)
SMD_WRAP(int, faccessat, (int folder, const char* file, int mode, int flags)) {
  const Path path(file);
  return path.ours ? access_of(path, mode) : real_faccessat(folder, file, mode, flags);
}
SMD_WRAP(ssize_t, readlink, (const char* file, char* buffer, size_t size)) {
  const Path path(file);
  return path.ours ? no_link(path) : real_readlink(file, buffer, size);
}
SMD_WRAP(ssize_t, readlinkat, (int folder, const char* file, char* buffer, size_t size)) {
  const Path path(file);
  return path.ours ? no_link(path) : real_readlinkat(folder, file, buffer, size);
}

SMD_WRAP(int, chdir, (const char* name)) {
  int result = 0;
  if (change_folder(Path(name), &result)) return result;
  result = real_chdir(name);
  if (result == 0) leave_folder();
  return result;
}
SMD_WRAP(DIR*, opendir, (const char* name)) {
  const Path path(name);
  return path.ours ? reinterpret_cast<DIR*>(open_folder(path)) : real_opendir(name);
}
SMD_WRAP(dirent*, readdir, (DIR * dir)) {
  auto* folder = as_folder(dir);
  return folder != nullptr ? next_entry(folder) : real_readdir(dir);
}
SMD_WRAP(dirent*, readdir64, (DIR * dir)) {
  auto* folder = as_folder(dir);
  return folder != nullptr ? next_entry(folder) : real_readdir64(dir);
}
SMD_WRAP(void, rewinddir, (DIR * dir)) {
  auto* folder = as_folder(dir);
  if (folder == nullptr) return real_rewinddir(dir);
  rewind_folder(folder);
}
SMD_WRAP(int, dirfd, (DIR * dir)) { return as_folder(dir) != nullptr ? fail(ENOTSUP) : real_dirfd(dir); }
SMD_WRAP(int, closedir, (DIR * dir)) {
  auto* folder = as_folder(dir);
  if (folder == nullptr) return real_closedir(dir);
  close_folder(folder);
  return 0;
}
SMD_WRAP(int, scandir, (const char* name, dirent*** list, Filter filter, Compare compare)) {
  const Path path(name);
  return path.ours ? scan_folder(path, list, filter, compare) : real_scandir(name, list, filter, compare);
}
SMD_WRAP(int, scandir64, (const char* name, dirent*** list, Filter filter, Compare compare)) {
  const Path path(name);
  return path.ours ? scan_folder(path, list, filter, compare) : real_scandir64(name, list, filter, compare);
}

}  // namespace smd::sim::attach
