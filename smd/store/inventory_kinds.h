// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of what belongs to the fabric: how they differ, and how their rows are read. For kinds().

#include "smd/store/kinds.h"

namespace smd::store {

// inventory: always row 0 -> complete_at
/// Calls `sink` for the row if complete_at differs, or if only one of them has an inventory.
void inventory_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// Takes complete_at from a row; false where it is no time.
bool decode_inventory(const Cells& row, sm::Stored& into);

// inventory_nodes: node_guid -> type, name, lost_at (0: it is there)
/// Calls `sink` for each node that differs, without a value if it is gone.
void inventory_nodes_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// Takes a node from a row, without its image; false: a GUID of 0, or another field out of its range.
bool decode_inventory_node(const Cells& row, sm::Stored& into);

// machines: node_guid -> system_image of an adapter in inventory_nodes
/// Calls `sink` for each adapter whose image differs, without a value if it has none or is gone.
void machines_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// Takes the image of a node that is known already; false: a GUID of 0.
bool decode_machine(const Cells& row, sm::Stored& into);
/// The node has none from now on; false: a GUID of 0.
bool erase_machine(const Cells& key, sm::Stored& into);

// inventory_links: the smaller end -> the other one, width, speed, up_since, lost_at (0: it is there)
/// Calls `sink` for each link that differs, without a value if it is gone.
void inventory_links_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// Takes a link from a row; false: a field out of its range, or the ends are not in order.
bool decode_inventory_link(const Cells& row, sm::Stored& into);
/// Takes the link with this end out, where there is one; false: a field out of its range.
bool erase_inventory_link(const Cells& key, sm::Stored& into);

}  // namespace smd::store
