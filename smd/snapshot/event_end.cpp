// SPDX-License-Identifier: Apache-2.0
#include "smd/snapshot/event_end.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "mad/base/parse.h"

namespace smd::sm::inline snapshots {

std::optional<LinkEnd> event_end(const std::vector<log::Field>& fields, std::string_view guid_key,
                                 std::string_view port_key) {
  const auto value_of = [&](std::string_view key) {
    const auto at = std::ranges::find(fields, key, &log::Field::key);
    return at != fields.end() ? &at->value : nullptr;
  };
  const auto* guid_text = value_of(guid_key);
  const auto node = guid_text != nullptr ? base::parse_guid(*guid_text) : std::nullopt;
  if (!node) return std::nullopt;
  const auto* port_text = value_of(port_key);
  const auto port =
      port_text != nullptr ? base::parse_number(*port_text, 254) : std::optional<std::uint64_t>(0);
  if (!port) return std::nullopt;
  return LinkEnd{*node, PortNum{static_cast<std::uint8_t>(*port)}};
}

}  // namespace smd::sm::inline snapshots
