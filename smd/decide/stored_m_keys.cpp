// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/stored_m_keys.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {
namespace {

Stored::MKey next_row(Stored::MKey row, std::uint64_t shown, std::optional<std::uint64_t> desired) {
  const auto key = desired ? *desired : shown;
  if (!desired && shown == 0) return row;
  if (key != row.key) return {.key = key, .before = shown != 0 ? shown : row.key, .node = {}, .port = {}};
  if (shown == key) row.before = 0;
  return row;
}

/// Port GUIDs by where they were seen last.
using Places = std::map<std::pair<Guid, PortNum>, Guid>;

Places places_of(const Stored& stored) {
  Places places;
  for (const auto& [port, row] : stored.former_m_keys) places[{row.node, row.port}] = port;
  for (const auto& [port, row] : stored.m_keys) places[{row.node, row.port}] = port;
  return places;
}

std::vector<std::uint64_t> likely(const MKeySettings& settings, const Stored& stored, Guid port) {
  std::vector<std::uint64_t> keys;
  const auto add = [&](std::uint64_t key) {
    if (key != 0 && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  };
  const auto add_row = [&](const Stored::MKeys& rows) {
    if (const auto row = rows.find(port); row != rows.end()) add(row->second.key), add(row->second.before);
  };
  const auto add_derived = [&](std::optional<std::uint64_t> secret, bool per_port) {
    if (secret && (port != Guid{} || !per_port))
      add(*MKeySettings{.secret = secret, .per_port = per_port}.key_of(port));
  };
  add_row(stored.m_keys);
  add_derived(settings.secret, settings.per_port);
  add_row(stored.former_m_keys);
  add_derived(settings.former_secret, settings.former_per_port);
  return keys;
}

bool has_m_key(const Stored::MKeys& rows, Guid port, std::uint64_t key) {
  const auto row = rows.find(port);
  return key == 0 || (row != rows.end() && (row->second.key == key || row->second.before == key));
}

}  // namespace

std::map<Guid, Stored::MKey> new_m_keys(const std::map<Guid, Stored::MKey>& before, const Subnet& subnet,
                                        const MKeySettings& settings) {
  std::map<Guid, Stored::MKey> rows;
  for (const auto& node : subnet.nodes) {
    const auto ports = node->is_switch() ? 1 : node->ports.size();
    for (std::size_t p = 0; p < ports; ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node->ports[p];
      if (!port.known || !is_end_port(*node, num)) continue;
      const auto guid = port_guid(*node, num);
      const auto old = before.find(guid);
      const auto is = old != before.end() ? old->second : Stored::MKey{};
      auto row = next_row(is, port.info.m_key, settings.key_of(guid));
      row.node = node->guid(), row.port = num;
      const bool none = row.key == 0 && row.before == 0;
      if (row != is && !(none && old == before.end())) rows.emplace(guid, row);
    }
  }
  return rows;
}

std::optional<Subnet> with_changed_m_keys(const Subnet& subnet, const std::map<Guid, Stored::MKey>& before,
                                          const std::map<Guid, Stored::MKey>& now) {
  std::set<Guid> changed;
  for (const auto& [port, row] : now) {
    const auto was = before.find(port);
    const bool same = was != before.end() && was->second == row;
    if (!same && row.key != 0 && row.before == 0) changed.insert(port);
  }
  std::optional<Subnet> made;
  for (const auto& [guid, at] : find_end_ports(subnet, changed)) {
    const auto key = now.at(guid).key;
    const auto& nodes = made ? made->nodes : subnet.nodes;
    if (nodes[at.node]->ports[at.port.value()].info.m_key == key) continue;
    auto node = std::make_shared<Node>(*nodes[at.node]);
    node->ports[at.port.value()].info.m_key = key;
    if (!made) made = subnet;
    made->nodes[at.node] = std::move(node);
  }
  return made;
}

Stored::MKeys former_m_keys(const Stored& before, const Stored::MKeys& now) {
  auto rows = before.former_m_keys;
  if (before.m_keys == now) return rows;
  for (const auto& [port, row] : before.m_keys) {
    if (!has_m_key(now, port, row.key)) rows.insert_or_assign(port, row);
  }
  return rows;
}

std::optional<Stored> with_left_m_keys(const Stored& stored, const Stored::MKeys& left) {
  auto rows = stored.former_m_keys;
  for (const auto& [port, row] : left) {
    if (!has_m_key(stored.m_keys, port, row.key) || !has_m_key(stored.m_keys, port, row.before))
      rows.insert_or_assign(port, row);
  }
  if (rows == stored.former_m_keys) return std::nullopt;
  auto made = stored;
  made.former_m_keys = std::move(rows);
  return made;
}

MKeyHints m_key_hints(const MKeySettings& settings, const StoredPtr& stored, Guid own) {
  const bool none = !settings.secret && !settings.former_secret;
  if (none && stored->m_keys.empty() && stored->former_m_keys.empty()) return {};
  MKeyHints hints;
  hints.own = own;
  hints.likely = [settings, stored](Guid port) { return likely(settings, *stored, port); };
  hints.was_behind =
      [stored, places = std::make_shared<const Places>(places_of(*stored))](const PeerPort& behind) -> Guid {
    const auto* link = stored->inventory ? stored->inventory->find({behind.node, behind.port}) : nullptr;
    if (link == nullptr) return {};
    const auto* node = stored->inventory->find(link->peer.node);
    const bool is_switch = node != nullptr && node->is_switch();
    const auto there = places->find({link->peer.node, is_switch ? PortNum{0} : link->peer.port});
    return there != places->end() ? there->second : Guid{};
  };
  return hints;
}

}  // namespace smd::sm::inline decisions
