// SPDX-License-Identifier: Apache-2.0
#pragma once
// The owner of a file, in words for error messages.

#include <filesystem>
#include <optional>
#include <string>

namespace smd::base {

struct Ownership {
  std::string user{}, group{};  ///< names, or numbers where the system has no name
  unsigned mode = 0;            ///< the permission bits, 0 to 07777
};

/// Of the file that `path` leads to; nothing where that cannot be asked.
std::optional<Ownership> ownership_of(const std::filesystem::path& path);

/// "root:smd mode 0660": owner, group, and the mode in octal.
std::string to_string(const Ownership& ownership);

}  // namespace smd::base
