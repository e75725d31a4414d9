// SPDX-License-Identifier: Apache-2.0
#include "smd/report/description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace smd::sm::inline reports {

std::string description_of(const Subnet& subnet, Guid node) {
  const auto* found = subnet.find(node);
  return found != nullptr ? raw_name(*found) : std::string{};
}

std::string listed(std::span<const PKey> keys, std::size_t most) {
  auto text = fmt::format("{}", fmt::join(keys.first(std::min(keys.size(), most)), ","));
  if (keys.size() > most) text += fmt::format(" and {} more", keys.size() - most);
  return text;
}

}  // namespace smd::sm::inline reports
