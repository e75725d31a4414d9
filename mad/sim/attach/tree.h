// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that an attached program sees below /sys/class/infiniband* and /dev/infiniband.
#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>

namespace smd::sim::attach {

/// A path that is served here and never by the machine; without double or trailing slashes.
struct Path {
  explicit Path(const char* text);
  bool ours = false;
  bool device = false;  ///< below /dev
  size_t length = 0;
  char text[256];

 private:
  bool append(const char* part);
};

enum class Type { none, file, folder, device };

/// What the path is now, as the server says.
Type type_of(const Path& path);
/// A descriptor to read the file's present content from; -1 and errno.
int open_file(const Path& path, int flags);
/// As stat(); -1 and errno.
int status_of(const Path& path, struct stat* status);
int access_of(const Path& path, int mode);

/// Calls for each entry of a folder, once each; false: no such folder.
bool each_entry(const Path& path, void (*call)(void* context, const char* name, size_t length, bool folder),
                void* context);

/// As chdir(), for a folder served here; false: the path is none of ours. Relative paths count from there
/// then, in this process and what it forks.
bool change_folder(const Path& path, int* result);
/// The program has gone to a folder of the machine.
void leave_folder();

/// The program has used a device: what was read before may be no longer so.
void outdate();

}  // namespace smd::sim::attach
