// SPDX-License-Identifier: Apache-2.0
#pragma once
// A TOML document as values with their line and their spelling. Only toml_reader.cpp includes the TOML
// library.

#include <algorithm>
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

  bool is_table() const { return kind == Kind::table; }  ///< keys are in `items`
  /// [[headings]], or tables in brackets; not the empty list.
  bool is_array_of_tables() const {
    return kind == Kind::list && !items.empty() && std::ranges::all_of(items, &Value::is_table);
  }
};

}  // namespace smd::config
