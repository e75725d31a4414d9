// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/stored.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>

#include "smd/decide/installed_engine.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/stored_m_keys.h"

namespace smd::sm::inline decisions {
namespace {

using PlaceMap = decltype(Stored::not_kept);

/// Where the LID of a port's node stands; nothing while it is not known.
std::optional<Lid> lid_of(const Node& node, PortNum port) {
  const auto at = node.is_switch() ? std::size_t{0} : port.value();
  if (at >= node.ports.size() || !node.ports[at].known) return std::nullopt;
  return node.ports[at].info.lid;
}

/// All rows of one node.
auto rows_of(const PlaceMap& map, Guid node) {
  const auto first = map.lower_bound({node, PortNum{0}});
  auto last = first;
  while (last != map.end() && last->first.first == node) ++last;
  return std::ranges::subrange(first, last);
}

std::vector<NotKept> recalled(const Node& node, const Stored& stored) {
  std::vector<NotKept> notes;
  for (const auto& [place, unkept] : rows_of(stored.not_kept, node.guid())) {
    const auto lid = lid_of(node, place.second);
    if (lid && *lid == unkept.lid && lid->unicast()) {
      notes.insert(notes.end(), unkept.fields.begin(), unkept.fields.end());
    }
  }
  return notes;
}

/// The notes of one node as they are stored.
PlaceMap unkept_of(const Node& node) {
  PlaceMap map;
  for (const auto& note : node.not_kept) {
    const auto lid = lid_of(node, note.port);
    if (!lid || !lid->unicast()) continue;
    auto& row = map[{node.guid(), note.port}];
    row.lid = *lid;
    row.fields.push_back(note);
  }
  for (auto& [place, row] : map) {
    std::ranges::sort(row.fields, {}, [](const NotKept& n) { return std::tie(n.attribute, n.field); });
  }
  return map;
}

/// The LIDs of all ports that are here, as a yes or no for each.
std::vector<bool> taken(const LidPart& lids) {
  std::vector<bool> taken(std::size_t{kLastUnicastLid.value()} + 1);
  for (const auto& entry : lids.entries) {
    for (unsigned i = 0; i < 1U << entry.lmc; ++i) taken[std::size_t{entry.base.value()} + i] = true;
  }
  return taken;
}

bool same_lids(const Stored& stored, const LidPart& lids) {
  auto row = stored.lids.begin();  // both ascend
  return std::ranges::all_of(lids.entries, [&](const LidPart::Entry& entry) {
    while (row != stored.lids.end() && row->first < entry.port) ++row;
    return row != stored.lids.end() && row->first == entry.port &&
           row->second == Stored::LidRange{entry.base, entry.lmc};
  });
}

void note_lids(Stored& stored, const Subnet& subnet, const LidPart& lids) {
  const auto now_taken = taken(lids);
  std::erase_if(stored.lids, [&](const auto& row) {
    const auto& range = row.second;
    for (unsigned i = 0; i < range.count(); ++i) {
      if (now_taken[std::size_t{range.base.value()} + i]) return true;
    }
    return false;
  });
  for (const auto& entry : lids.entries) stored.lids[entry.port] = {entry.base, entry.lmc};
  std::erase_if(stored.not_kept, [&](const auto& row) {
    return now_taken[row.second.lid.value()] && subnet.find(row.first.first) == nullptr;
  });
}

bool same_notes(const Stored& stored, const Subnet& subnet) {
  return std::ranges::all_of(subnet.nodes, [&](const NodePtr& node) {
    const auto rows = rows_of(stored.not_kept, node->guid());
    return node->not_kept.empty() ? rows.empty() : std::ranges::equal(rows, unkept_of(*node));
  });
}

void note_unkept(Stored& stored, const Subnet& subnet) {
  for (const auto& node : subnet.nodes) {
    const auto rows = rows_of(stored.not_kept, node->guid());
    stored.not_kept.erase(rows.begin(), rows.end());
    stored.not_kept.merge(unkept_of(*node));
  }
}

using PKeyMap = decltype(Stored::pkeys);

bool same_pkeys(const Stored& stored, const PartitionPart* part) {
  if (part == nullptr) return true;
  auto row = stored.pkeys.begin();  // both ascend
  return std::ranges::all_of(part->placed, [&](const PartitionPart::Placed& placed) {
    const std::pair key(placed.port, placed.key);
    while (row != stored.pkeys.end() && row->first < key) ++row;
    return row != stored.pkeys.end() && row->first == key && row->second == placed.index;
  });
}

/// `placed`: all keys of one port. A key's other membership is the same entry, unless the port has both. An
/// index belongs to its last key.
void note_keys_of_port(PKeyMap& rows, std::span<const PartitionPart::Placed> placed) {
  using Placed = PartitionPart::Placed;
  const auto port = placed.front().port;
  const auto is_placed = [&](PKey key) {
    return std::ranges::find(placed, key, &Placed::key) != placed.end();
  };
  auto row = rows.lower_bound({port, PKey{}});
  while (row != rows.end() && row->first.first == port) {
    const auto key = row->first.second;
    const PKey other{static_cast<std::uint16_t>(key.value() ^ 0x8000U)};
    const bool taken = std::ranges::find(placed, row->second, &Placed::index) != placed.end();
    row = taken || (!is_placed(key) && is_placed(other)) ? rows.erase(row) : std::next(row);
  }
  for (const auto& one : placed) rows[{port, one.key}] = one.index;
}

/// A change of a member leaves the keys of nearly all ports as they are.
void note_pkeys(PKeyMap& rows, const PartitionPart& part) {
  auto row = rows.begin();  // both ascend
  std::span rest(part.placed);
  while (!rest.empty()) {
    const auto port = rest.front().port;
    const auto end = std::ranges::find_if(rest, [&](const auto& one) { return one.port != port; });
    const auto placed = rest.first(static_cast<std::size_t>(end - rest.begin()));
    rest = rest.subspan(placed.size());
    const bool same = std::ranges::all_of(placed, [&](const PartitionPart::Placed& one) {
      const std::pair key(one.port, one.key);
      while (row != rows.end() && row->first < key) ++row;
      return row != rows.end() && row->first == key && row->second == one.index;
    });
    if (same) continue;
    note_keys_of_port(rows, placed);
    row = rows.upper_bound({port, PKey{0xffff}});
  }
}

}  // namespace

Subnet recall(Subnet found, const Subnet* before, const Stored& stored) {
  if (stored.not_kept.empty()) return found;
  for (auto& node : found.nodes) {
    const bool known = before != nullptr && before->find(node->guid()) != nullptr;
    if (known || !node->not_kept.empty()) continue;
    auto notes = recalled(*node, stored);
    if (notes.empty()) continue;
    auto noted = std::make_shared<Node>(*node);
    noted->not_kept = std::move(notes);
    node = std::move(noted);
  }
  return found;
}

StoredPtr remember(const StoredPtr& before, const Subnet& subnet, const Decided& decided) {
  const bool lids = same_lids(*before, *decided.lids);
  const bool notes = same_notes(*before, subnet);
  const auto& reference = decided.routes ? decided.routes->reference : before->reference;
  const bool same_reference =
      reference == before->reference || (reference && before->reference && *reference == *before->reference);
  const auto* partitions = decided.partitions.get();
  const bool pkeys = same_pkeys(*before, partitions);
  const auto m_keys =
      new_m_keys(before->m_keys, subnet, decided.settings ? decided.settings->m_keys : MKeySettings{});
  auto layers = decided.routes ? remembered_layers(*before, *decided.routes)
                               : RememberedLayers{before->layers_home, before->layers_now};
  const bool same_layers = layers.home == before->layers_home && layers.now == before->layers_now;
  // Without layers an SL is the number of its class: there is nothing to keep.
  const auto* sls = decided.service_levels.get();
  const bool keep_sls = sls != nullptr && has_layers(*sls) && sls->sls != before->wire_sls;
  const auto engine = decided.routes ? engine_to_store(*decided.routes) : std::nullopt;
  const auto left = engine ? decided.routes->left_engine : before->left_engine;
  const bool same_engine = (!engine || *engine == before->engine) && left == before->left_engine;
  const bool same = lids && notes && same_reference && pkeys && m_keys.empty() && same_layers && !keep_sls;
  if (same && same_engine) return before;
  auto after = std::make_shared<Stored>(*before);
  if (!lids) note_lids(*after, subnet, *decided.lids);
  if (!notes) note_unkept(*after, subnet);
  if (!same_reference) after->reference = reference;
  after->layers_home = std::move(layers.home);
  after->layers_now = std::move(layers.now);
  if (keep_sls) after->wire_sls = sls->sls;
  if (engine) after->engine = *engine;
  after->left_engine = left;
  if (!pkeys) note_pkeys(after->pkeys, *partitions);
  for (const auto& [port, row] : m_keys) after->m_keys[port] = row;
  return after;
}

StoredPtr remember_pkeys(const StoredPtr& before, const PartitionPart* part) {
  if (same_pkeys(*before, part)) return before;
  auto after = std::make_shared<Stored>(*before);
  note_pkeys(after->pkeys, *part);
  return after;
}

Stored with_lids(Stored stored, const base::GuidLids& lids) {
  for (const auto& [guid, range] : lids) {
    const unsigned count = range.last.value() - range.first.value() + 1U;
    if (!std::has_single_bit(count) || count > 128 || range.first.value() % count != 0) continue;
    stored.lids.insert({guid, {range.first, static_cast<std::uint8_t>(std::countr_zero(count))}});
  }
  return stored;
}

}  // namespace smd::sm::inline decisions
