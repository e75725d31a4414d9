// SPDX-License-Identifier: Apache-2.0
#pragma once
// TOML text to values. Keeps the TOML library (toml++) to one file.

#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/value.h"

namespace smd::config {

struct TomlDocument {
  Value root{};
  std::vector<ConfigError> errors{};  ///< of syntax; other lines are in `root` where they could be read
};

/// Parses the text; errors name `file`. At most 20 syntax errors are reported.
TomlDocument read_toml(std::string_view text, const std::string& file);

/// Text for a message: control characters escaped, on one line, cut after about 120 bytes.
std::string printable(std::string_view text);

}  // namespace smd::config
