// SPDX-License-Identifier: Apache-2.0
#pragma once
// A place in a configuration while it is read: where errors point to, and how files beside it are found.

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "config/value.h"

namespace smd::config {

struct Spot {
  std::string file{};              ///< named in errors; "--set" for an override
  std::string key{};               ///< "routing.engines[0]"
  std::filesystem::path folder{};  ///< relative file names start here
  const ConfigContext& context;
  std::vector<ConfigError>& errors;

  /// Notes that `value` is not what `expected` says.
  void wrong(const Value& value, std::string expected, std::string hint = {}) const;
  /// Notes `complaint` about a value that it names itself: "99 is out of range (0 to 15)".
  void refuse(const Value& value, std::string complaint, std::string hint = {}) const;
  /// The same place, another key.
  Spot with_key(std::string other) const;
  Spot element(std::size_t index) const;
  std::filesystem::path resolve(const std::string& name) const;
  /// The bytes of the file that `value` names; notes it where they cannot be had.
  std::optional<std::string> contents(const Value& value) const;
  /// The same of a file that holds a key.
  std::optional<std::string> secret(const Value& value) const;
};

}  // namespace smd::config
