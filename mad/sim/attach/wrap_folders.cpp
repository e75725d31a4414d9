// SPDX-License-Identifier: Apache-2.0
// As wrap.cpp: the functions of folders, and of the folder that the program is in.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mad/sim/attach/folder.h"
#include "mad/sim/attach/real.h"
#include "mad/sim/attach/tree.h"
#include "mad/sim/attach/wrap.h"

namespace smd::sim::attach {
namespace {

Real<int(const char*)> real_chdir("chdir");
Real<int(int)> real_fchdir("fchdir");
Real<char*(char*, size_t)> real_getcwd("getcwd");
Real<char*()> real_get_current_dir_name("get_current_dir_name");
Real<DIR*(const char*)> real_opendir("opendir");
Real<DIR*(int)> real_fdopendir("fdopendir");
Real<dirent*(DIR*)> real_readdir("readdir"), real_readdir64("readdir64");
Real<void(DIR*)> real_rewinddir("rewinddir");
Real<void(DIR*, long)> real_seekdir("seekdir");
Real<long(DIR*)> real_telldir("telldir");
Real<int(DIR*)> real_closedir("closedir"), real_dirfd("dirfd");
Real<int(const char*, dirent***, Filter, Compare)> real_scandir("scandir"), real_scandir64("scandir64");

int go_to(const Path& path) {
  if (path.ours) return change_folder(path);
  const int result = real_chdir(path.real);
  if (result == 0) leave_folder();
  return result;
}

char* present(char* buffer, size_t size) {
  const size_t needed = strlen(present_folder()) + 1;
  if (buffer == nullptr) {
    if (size != 0 && size < needed) return errno = ERANGE, nullptr;
    return strdup(present_folder());
  }
  if (size < needed) return errno = size == 0 ? EINVAL : ERANGE, nullptr;
  return strcpy(buffer, present_folder());
}

}  // namespace

SMD_WRAP(int, chdir, (const char* name)) { return go_to(Path(name)); }
SMD_WRAP(int, fchdir, (int fd)) {
  char folder[sizeof(Path::text)];
  if (folder_of(fd, folder, sizeof(folder))) return go_to(Path(folder));
  const int result = real_fchdir(fd);
  if (result == 0) leave_folder();
  return result;
}
SMD_WRAP(char*, getcwd, (char* buffer, size_t size)) {
  return present_folder()[0] != 0 ? present(buffer, size) : real_getcwd(buffer, size);
}
SMD_WRAP(char*, __getcwd_chk, (char* buffer, size_t size, size_t room)) {
  if (size > room) __builtin_trap();
  return present_folder()[0] != 0 ? present(buffer, size) : real_getcwd(buffer, size);
}
SMD_WRAP(char*, get_current_dir_name, ()) {
  return present_folder()[0] != 0 ? strdup(present_folder()) : real_get_current_dir_name();
}

SMD_WRAP(DIR*, opendir, (const char* name)) {
  const Path path(name);
  return path.ours ? reinterpret_cast<DIR*>(open_folder(path, -1)) : real_opendir(path.real);
}
SMD_WRAP(DIR*, fdopendir, (int fd)) {
  char folder[sizeof(Path::text)];
  if (!folder_of(fd, folder, sizeof(folder))) return real_fdopendir(fd);
  return reinterpret_cast<DIR*>(open_folder(Path(folder), fd));
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
  go_to_entry(folder, 0);
}
SMD_WRAP(void, seekdir, (DIR * dir, long position)) {
  auto* folder = as_folder(dir);
  if (folder == nullptr) return real_seekdir(dir, position);
  go_to_entry(folder, position);
}
SMD_WRAP(long, telldir, (DIR * dir)) {
  auto* folder = as_folder(dir);
  return folder != nullptr ? position_of(folder) : real_telldir(dir);
}
SMD_WRAP(int, dirfd, (DIR * dir)) {
  auto* folder = as_folder(dir);
  return folder != nullptr ? descriptor_of(folder) : real_dirfd(dir);
}
SMD_WRAP(int, closedir, (DIR * dir)) {
  auto* folder = as_folder(dir);
  if (folder == nullptr) return real_closedir(dir);
  close_folder(folder);
  return 0;
}
SMD_WRAP(int, scandir, (const char* name, dirent*** list, Filter filter, Compare compare)) {
  const Path path(name);
  return path.ours ? scan_folder(path, list, filter, compare)
                   : real_scandir(path.real, list, filter, compare);
}
SMD_WRAP(int, scandir64, (const char* name, dirent*** list, Filter filter, Compare compare)) {
  const Path path(name);
  return path.ours ? scan_folder(path, list, filter, compare)
                   : real_scandir64(path.real, list, filter, compare);
}

}  // namespace smd::sim::attach
