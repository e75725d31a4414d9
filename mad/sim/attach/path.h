// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which path a call means, and whether it is one that is served here.
#include <fcntl.h>
#include <stddef.h>

namespace smd::sim::attach {

/// Without double or trailing slashes, `.` and `..`: a served folder has no links in it.
struct Path {
  /// A relative path counts from the working directory.
  explicit Path(const char* text) : Path(AT_FDCWD, text) {}
  /// As openat() and its like: `folder` counts for relative paths.
  Path(int folder, const char* text);

  bool ours = false;
  bool device = false;  ///< below /dev
  size_t length = 0;
  char text[256];

  // What a real call is given where the path is none of ours: a relative path that begins in a served folder
  // means another one there.
  int real_folder;
  const char* real;

 private:
  bool append(const char* part);
};

/// What is started in a folder served here knows it by this variable, as "PID:FOLDER" where exec has set it,
/// else as "FOLDER".
inline constexpr const char* kFolderVariable = "SMD_SIM_FOLDER";

/// As chdir(), for a folder served here. Relative paths count from there then, in this process, in what it
/// forks and in what it starts.
int change_folder(const Path& path);
/// The program has gone to a folder of the machine.
void leave_folder();
/// The folder of ours that the program is in; empty: it is in none.
const char* present_folder();
/// What the program was started with is looked at.
void find_present_folder();

}  // namespace smd::sim::attach
