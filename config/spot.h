// SPDX-License-Identifier: Apache-2.0
#pragma once
// A place in a configuration while it is read: the position in errors, and the folder of relative file names.

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
  bool all_was_read = true;  ///< false: lines could not be read, so a key may be missing for that reason

  /// Adds an error: got `value`, expected `expected`.
  void wrong(const Value& value, std::string expected, std::string hint = {}) const;
  /// Adds the error `complaint`, which contains the value itself: "99 is out of range (0 to 15)".
  void refuse(const Value& value, std::string complaint, std::string hint = {}) const;
  /// The same for a key of this table, at its line; at the table's where the key is not given.
  void refuse_in(const Value& table, std::string_view name, std::string complaint) const;
  /// The same place, another key.
  Spot with_key(std::string other) const;
  /// The place of an item of a list, from 0: "key[0]".
  Spot element(std::size_t index) const;
  /// A file name of the configuration; relative ones start at the folder of smd.toml.
  std::filesystem::path resolve(const std::string& name) const;
  /// The bytes of the file that `value` names; nothing, with an error, where it cannot be read.
  std::optional<std::string> contents(const Value& value) const;
  /// As `contents`, for a file that holds a key: its permissions are checked.
  std::optional<std::string> secret(const Value& value) const;
};

}  // namespace smd::config
