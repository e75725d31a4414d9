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
  std::vector<ConfigError>
      errors{};  ///< of syntax; the lines around them are in `root` where they could be read
};

TomlDocument read_toml(std::string_view text, const std::string& file);

/// Foreign text fit for a message: printable, one line, cut where it is long.
std::string printable(std::string_view text);

}  // namespace smd::config
