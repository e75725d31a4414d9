// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whole files as text.

#include <expected>
#include <string>

#include "mad/base/file_error.h"

namespace smd::base {

/// All of a file ("-" is standard input), or one error that names it and says why.
std::expected<std::string, FileError> read_file(const std::string& path);

}  // namespace smd::base
