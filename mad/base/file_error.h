// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with a file that a user gave us.

#include <string>
#include <vector>

namespace smd::base {

struct FileError {
  std::string file;   ///< as the user named it; empty: the error is not about a file
  unsigned line = 0;  ///< from 1; 0: the error is about the whole file
  std::string what;   ///< what was found and what is allowed, without a full stop
  friend bool operator==(const FileError&, const FileError&) = default;
};
using FileErrors = std::vector<FileError>;

/// "file:line: what"; without the line where it is 0, only `what` where the file is empty.
std::string to_string(const FileError& error);
/// One line each, without a newline at the end.
std::string to_string(const FileErrors& errors);

}  // namespace smd::base
