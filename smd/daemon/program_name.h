// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to type for this program.

#include <filesystem>
#include <string>
#include <string_view>

namespace smd::daemon {

/// "smd" where `path` (as $PATH) leads to `program`; else its file's name from `folder` if it is below that,
/// or its absolute name.
std::string program_name(const std::filesystem::path& program, std::string_view path,
                         const std::filesystem::path& folder);

/// The same of this process.
std::string program_name();

}  // namespace smd::daemon
