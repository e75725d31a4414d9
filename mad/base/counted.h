// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers of things in words for people.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace smd::base {

/// "1 node", "2 nodes". `many`: where that is not `one` with an "s".
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many = {}) {
  if (number == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

}  // namespace smd::base
