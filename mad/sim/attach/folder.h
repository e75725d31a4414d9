// SPDX-License-Identifier: Apache-2.0
#pragma once
// Open folders of the served files: what opendir gives for them.
#include <dirent.h>

#include "mad/sim/attach/tree.h"

namespace smd::sim::attach {

struct Folder;

/// Null and errno where there is none. `fd` is the folder's descriptor from then on (-1: it has none yet).
Folder* open_folder(const Path& path, int fd);
/// The Folder behind a DIR* that open_folder() made; null for one of the C library's.
Folder* as_folder(DIR* dir);
/// As readdir(): null at the end. The entry lives until close_folder().
dirent* next_entry(Folder* folder);
/// As telldir() and seekdir().
long position_of(const Folder* folder);
/// As seekdir(); a position outside of the folder is its start or its end.
void go_to_entry(Folder* folder, long position);
/// As dirfd().
int descriptor_of(Folder* folder);
/// As closedir(): the folder's descriptor is closed, too.
void close_folder(Folder* folder);

using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);
/// As scandir().
int scan_folder(const Path& path, dirent*** list, Filter filter, Compare compare);

}  // namespace smd::sim::attach
