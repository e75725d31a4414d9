// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that an attached program sees below /sys/class/infiniband* and /dev/infiniband.
#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>

#include "mad/sim/attach/path.h"

namespace smd::sim::attach {

enum class Type { none, file, folder, device };

/// Asks the server whether the path is a file, folder or device now; Type::none where it is not there.
Type type_of(const Path& path);
/// A descriptor to read the file's present content from, or of a folder; -1 and errno.
int open_file(const Path& path, int flags);
/// The path of the folder that the descriptor is; false: it is none of ours.
bool folder_of(int fd, char* path, size_t size);
/// As stat(); -1 and errno.
int status_of(const Path& path, struct stat* status);
/// As fstat(), for a file or folder of ours. False: it is none.
bool status_of(int fd, struct stat* status);
/// As access(); EACCES: writing to anything but a device, running anything but a folder.
int access_of(const Path& path, int mode);

/// Calls for each entry of a folder, once each; false: no such folder.
bool each_entry(const Path& path, void (*call)(void* context, const char* name, size_t length, bool folder),
                void* context);

/// The program has used a device: what was read before may be no longer so.
void outdate();

}  // namespace smd::sim::attach
