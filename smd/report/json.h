// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON text from plain values, with the keys in the order in which they are given.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smd::sm::inline reports {

/// A JSON value. Numbers that are not finite become null.
struct Json;
using JsonMember = std::pair<std::string, Json>;
struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  std::variant<std::nullptr_t, bool, std::uint64_t, double, std::string, Array, Object> value = nullptr;
};

/// One line, no blanks between tokens. Bytes that are not UTF-8 (a NodeDescription may hold any) become
/// U+FFFD.
std::string to_text(const Json& value);

}  // namespace smd::sm::inline reports
