// SPDX-License-Identifier: Apache-2.0
#include "smd/store/inventory_kinds.h"

#include <limits>

#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

using sm::Inventory;
using sm::KnownLink;
using sm::KnownNode;
using sm::LinkEnd;
using sm::Stored;

const Inventory& inventory_of(const Stored& stored) {
  static const Inventory kNone;
  return stored.inventory ? *stored.inventory : kNone;
}

/// Not shared yet while rows are read.
Inventory& inventory_in(Stored& into) {
  if (!into.inventory) into.inventory = std::make_shared<Inventory>();
  return *std::const_pointer_cast<Inventory>(into.inventory);
}

Cell time_cell(sm::UnixTime time) { return std::int64_t{time}; }

bool read_time(const Cell& cell, sm::UnixTime& into) {
  return read_number(cell, std::numeric_limits<std::int64_t>::max(), into);
}

Cells key_of(const LinkEnd& end) { return {guid(end.node), number(end.port.value())}; }

/// The row of a link stands by its smaller end.
bool has_row(const LinkEnd& end, const KnownLink* link) { return link != nullptr && end < link->peer; }

}  // namespace

void inventory_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  const auto was = inventory_of(before).complete_at(), is = inventory_of(now).complete_at();
  if (before.inventory && !now.inventory) sink({{number(0)}, std::nullopt});
  if (now.inventory && (!before.inventory || was != is)) sink({{number(0)}, Cells{time_cell(is)}});
}

bool decode_inventory(const Cells& row, Stored& into) {
  sm::UnixTime when = 0;
  if (!read_time(row[1], when)) return false;
  inventory_in(into).set_complete(when);
  return true;
}

void inventory_nodes_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  Inventory::Nodes::difference(
      inventory_of(before).nodes(), inventory_of(now).nodes(), [&](Guid node, const KnownNode* is) {
        std::optional<Cells> value;
        if (is != nullptr)
          value = Cells{number(static_cast<std::uint64_t>(is->type)), is->name, time_cell(is->lost_at)};
        sink({{guid(node)}, std::move(value)});
      });
}

bool decode_inventory_node(const Cells& row, Stored& into) {
  Guid node;
  KnownNode known;
  const auto* name = std::get_if<std::string>(&row[2]);
  const bool good = read_guid(row[0], node) && read_number(row[1], 255, known.type) && name != nullptr &&
                    read_time(row[3], known.lost_at);
  if (!good) return false;
  known.name = *name;
  auto& inventory = inventory_in(into);
  if (const auto* was = inventory.find(node)) known.image = was->image;  // a row of its own
  inventory.put(node, std::move(known));
  return true;
}

void machines_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  const auto image_of = [](const KnownNode* node) { return node != nullptr ? node->image : Guid{}; };
  const auto& old = inventory_of(before);
  Inventory::Nodes::difference(old.nodes(), inventory_of(now).nodes(), [&](Guid node, const KnownNode* is) {
    const auto image = image_of(is);
    if (image == image_of(old.find(node))) return;
    sink({{guid(node)}, image != Guid{} ? std::optional(Cells{guid(image)}) : std::nullopt});
  });
}

bool decode_machine(const Cells& row, Stored& into) {
  Guid node, image;
  if (!read_guid(row[0], node) || !read_guid(row[1], image)) return false;
  auto& inventory = inventory_in(into);
  const auto* known = inventory.find(node);
  if (known == nullptr) return true;  // it was forgotten
  auto with_image = *known;
  with_image.image = image;
  inventory.put(node, std::move(with_image));
  return true;
}

bool erase_machine(const Cells& key, Stored& into) {
  Guid node;
  if (!read_guid(key[0], node)) return false;
  auto& inventory = inventory_in(into);
  const auto* known = inventory.find(node);
  if (known == nullptr) return true;
  auto without = *known;
  without.image = {};
  inventory.put(node, std::move(without));
  return true;
}

void inventory_links_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  const auto& was = inventory_of(before);
  Inventory::Links::difference(
      was.links(), inventory_of(now).links(), [&](const LinkEnd& end, const KnownLink* is) {
        if (has_row(end, is)) {
          sink({key_of(end), Cells{guid(is->peer.node), number(is->peer.port.value()),
                                   number(static_cast<std::uint64_t>(is->rate.width)),
                                   number(static_cast<std::uint64_t>(is->rate.speed)),
                                   time_cell(is->up_since), time_cell(is->lost_at)}});
        } else if (has_row(end, was.find(end))) {
          sink({key_of(end), std::nullopt});
        }
      });
}

bool decode_inventory_link(const Cells& row, Stored& into) {
  LinkEnd end;
  KnownLink link;
  const bool good = read_guid(row[0], end.node) && read_port(row[1], end.port) &&
                    read_guid(row[2], link.peer.node) && read_port(row[3], link.peer.port) &&
                    read_number(row[4], 16, link.rate.width) && read_number(row[5], 9, link.rate.speed) &&
                    read_time(row[6], link.up_since) && read_time(row[7], link.lost_at);
  if (!good || !(end < link.peer)) return false;
  inventory_in(into).put(end, link);
  return true;
}

bool erase_inventory_link(const Cells& key, Stored& into) {
  LinkEnd end;
  const bool good = read_guid(key[0], end.node) && read_port(key[1], end.port);
  if (good) inventory_in(into).forget(end);
  return good;
}

}  // namespace smd::store
