// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TOML document as values that know their line and their spelling; no other file sees the TOML library.

#include <cstdint>
#include <string>
#include <vector>

namespace smd::config {

struct Value {
  enum class Kind : std::uint8_t { other, flag, whole, text, list, table };  ///< other: a float, a date
  Kind kind = Kind::other;
  bool flag = false;
  std::int64_t whole = 0;
  std::string text{};
  std::vector<Value> items{};  ///< of a list, or of a table in the order of the file

  std::string key{};      ///< its name, where it stands in a table
  unsigned key_line = 0;  ///< from 1; 0 for an override
  std::string spelled{};  ///< as the operator wrote it, on one line and printable
  unsigned line = 0;
};

}  // namespace smd::config
