// SPDX-License-Identifier: Apache-2.0
#include "smd/snapshot/event_end.h"

#include <cstdint>

#include "mad/base/parse.h"
#include "smd/log/fields.h"

namespace smd::sm::inline snapshots {

std::optional<LinkEnd> event_end(const std::vector<log::Field>& fields, std::string_view guid_key,
                                 std::string_view port_key) {
  const auto* guid_text = log::value_of(fields, guid_key);
  const auto node = guid_text != nullptr ? base::parse_guid(*guid_text) : std::nullopt;
  if (!node) return std::nullopt;
  const auto* port_text = log::value_of(fields, port_key);
  const auto port =
      port_text != nullptr ? base::parse_number(*port_text, 254) : std::optional<std::uint64_t>(0);
  if (!port) return std::nullopt;
  return LinkEnd{*node, PortNum{static_cast<std::uint8_t>(*port)}};
}

}  // namespace smd::sm::inline snapshots
