// SPDX-License-Identifier: Apache-2.0
#pragma once
// The port or node that an event is about.

#include <optional>
#include <string_view>
#include <vector>

#include "smd/inventory/inventory.h"
#include "smd/log/record.h"

namespace smd::sm::inline snapshots {

/// The port, or (0) the node, that these keys of an event name, as "guid" and "port" or "peer_guid" and
/// "peer_port"; nothing: none.
std::optional<LinkEnd> event_end(const std::vector<log::Field>& fields, std::string_view guid_key,
                                 std::string_view port_key);

}  // namespace smd::sm::inline snapshots
