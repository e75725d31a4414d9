// SPDX-License-Identifier: Apache-2.0
#pragma once
// Alias GUIDs: further GUIDs of a port, as virtual machines behind it need it.

#include <expected>
#include <optional>
#include <set>
#include <vector>

#include "mad/wire/tables.h"
#include "smd/base/guid_block.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {

/// The port that has this GID, as its own or as an alias; null: none.
const EndPort* find_port(const Directory& directory, const Registry& registry, const Gid& gid);

/// What a GUIDInfoRecord shows of a port.
wire::GuidInfo guid_block(const EndPort& port, const Registry& registry, unsigned block);
/// Blocks of 8 GUIDs that GUIDCap of the port reaches; at least one.
unsigned guid_blocks(const EndPort& port);

struct Granted {
  std::vector<std::uint8_t> record;  ///< as the table is now
  std::optional<Refusal> rest;       ///< what could not be granted, for the operator
};
using AliasAnswer = std::expected<Granted, Refusal>;

/// Set(GUIDInfoRecord): each GUID that the component mask names becomes an alias of the port; a GUID of 0
/// leaves it to us to choose one, or keeps the one that is there. The place of a GUID that is taken stays
/// as it is: that is how the kernel's mlx4 driver, which asks for eight at a time, learns which it may use.
AliasAnswer add_aliases(Writing& writing, const Requester& requester, const Request& request);
/// Delete(GUIDInfoRecord): the places that the component mask names are empty afterwards.
AliasAnswer drop_aliases(Writing& writing, const Requester& requester, const Request& request);

/// All blocks of these ports, as they are to be written.
std::vector<sm::GuidBlock> blocks_of(const Directory& directory, const Registry& registry,
                                     const std::set<Guid>& ports);

}  // namespace smd::sa
