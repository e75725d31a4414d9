// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole files as text, and names for files.

#include <expected>
#include <string>
#include <string_view>

#include "mad/base/descriptor.h"
#include "mad/base/file_error.h"

namespace smd::base {

/// The open file, or the operating system's reason ("No such file or directory").
std::expected<Descriptor, std::string> open_for_reading(const std::string& path);

/// All bytes of an open file from its position to its end, or the operating system's reason. The caller keeps
/// the descriptor.
std::expected<std::string, std::string> read_to_end(int fd);

/// All of a file ("-" is standard input), or one error that names it and says why.
std::expected<std::string, FileError> read_file(const std::string& path);

/// Any text as one part of a path, and no two alike: "a/b" is "a%2fb", ".." is "%2e.".
std::string file_name_of(std::string_view text);

}  // namespace smd::base
