// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/scenarios/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "mad/sim/packets/forward.h"

namespace smd::test {
namespace {

constexpr std::uint8_t kNone = 255;
constexpr std::size_t kMostNoted = 8;
/// Sets of one entry within this belong together: those of one repair, with what was lost of them.
constexpr auto kTogether = std::chrono::seconds(1);
/// A run that took a switch for mute may write so long after it has answered again: it waits for packets to
/// expire first.
constexpr auto kRunThatTookItForMute = std::chrono::seconds(2);

}  // namespace

Watch::Watch(sim::Fabric& fabric) : fabric_(fabric), state_(fabric.state()) {
  look_again();
  fabric_.watch_sets([this](const sim::DoneSet& set) { served(set); });
}

Watch::~Watch() { fabric_.watch_sets(nullptr); }

void Watch::look_again() {
  for (sim::NodeIndex sw = 0; sw < state_.nodes.size(); ++sw) {
    if (is_mute(sw)) {
      out_of_hand_.insert(sw);
    } else if (out_of_hand_.erase(sw) != 0) {
      back_since_[sw] = state_.now;
    }
  }
  rows_.resize(state_.nodes.size());
  earlier_.resize(state_.nodes.size());
  for (sim::NodeIndex node = 0; node < state_.nodes.size(); ++node) {
    if (!state_.nodes[node].is_switch()) continue;
    auto now = effective(node);
    if (now != rows_[node]) earlier_[node].clear();
    rows_[node] = std::move(now);
  }
  was_active_.resize(state_.ports.size());
  lids_.resize(state_.ports.size());
  for (sim::PortIndex port = 0; port < state_.ports.size(); ++port) {
    was_active_[port] = active(port);
    lids_[port] = state_.ports[port].info.lid;
  }
}

void Watch::note(std::vector<std::string>& where, const std::string& what) const {
  if (where.size() >= kMostNoted) return;
  const std::chrono::duration<double> now = state_.now.time_since_epoch();
  where.push_back(fmt::format("{:.6f} s: {}", now.count(), what));
}

void Watch::served(const sim::DoneSet& set) {
  ++sets_;
  const auto node = state_.ports[set.at].node;
  const auto& here = state_.nodes[node];
  if (set.attribute == wire::LinearForwardingTable::kAttribute ||
      set.attribute == wire::SwitchInfo::kAttribute) {
    if (here.is_switch()) tables_changed(node);
  }
  if (set.attribute != wire::PortInfo::kAttribute) return;
  for (unsigned number = 0; number <= here.ports; ++number) port_changed(state_.index(here, number));
}

Watch::Row Watch::effective(sim::NodeIndex sw) const {
  const auto& tables = *state_.nodes[sw].sw;
  Row row(std::min<std::size_t>(tables.lft.size(), tables.info.linear_fdb_top + std::size_t{1}));
  std::copy_n(tables.lft.begin(), row.size(), row.begin());
  return row;
}

void Watch::tables_changed(sim::NodeIndex sw) {
  auto now = effective(sw);
  std::swap(now, rows_[sw]);
  const auto& before = now;
  const auto size = std::max(before.size(), rows_[sw].size());
  for (std::size_t lid = 1; lid < size; ++lid) {
    const auto old = lid < before.size() ? before[lid] : kNone;
    const auto is = lid < rows_[sw].size() ? rows_[sw][lid] : kNone;
    if (old == is) continue;
    const Lid changed{static_cast<std::uint16_t>(lid)};
    auto [entry, added] = earlier_[sw].try_emplace(changed);
    if (added || state_.now > entry->second.until + kTogether) entry->second = {state_.now, old};
    entry_changed(sw, changed, old);
  }
}

void Watch::entry_changed(sim::NodeIndex sw, Lid lid, std::uint8_t before) {
  ++entries_;
  const auto now = sim::lft_port(*state_.nodes[sw].sw, lid).value();
  if (circles(sw, lid)) {
    note(broken_, fmt::format("LID {} goes in a circle at {}, whose entry was {} and is {}", lid, name(sw),
                              before, now));
    return;
  }
  const auto to = end_of(sw, lid, before);
  if (to == sim::kNowhere || end_of(sw, lid, now) == to || state_.node_of(to).is_switch()) return;
  if (excused_.contains(state_.ports[to].node) || !on_the_way_of_a_host(sw, lid, to)) return;
  if (passes_out_of_hand(sw, lid, before) || !had_a_path(sw, lid, to)) return;
  note(lost_paths_, fmt::format("LID {} ({}) is reached no more from {}, whose entry was {} and is {}", lid,
                                name(state_.ports[to].node), name(sw), before, now));
}

bool Watch::active(sim::PortIndex port) const {
  const auto& here = state_.ports[port];
  return here.peer != sim::kNowhere && here.info.port_state == PortState::active &&
         state_.ports[here.peer].info.port_state == PortState::active;
}

sim::PortIndex Watch::next(sim::NodeIndex sw, Lid lid, std::uint8_t out) const {
  const auto& node = state_.nodes[sw];
  if (out == 0) {
    const auto port0 = state_.index(node, 0);
    return sim::has_lid(state_.ports[port0], lid) ? port0 : sim::kNowhere;
  }
  if (out > node.ports || !active(state_.index(node, out))) return sim::kNowhere;
  return state_.port(node, out).peer;
}

/// Its agent answers nothing about its tables: it forwards on by what nobody can read or write, and until its
/// neighbours are all rewritten a packet may still pass it.
bool Watch::out_of_hand(sim::NodeIndex sw) const {
  const auto back = back_since_.find(sw);
  return is_mute(sw) || (back != back_since_.end() && state_.now < back->second + kRunThatTookItForMute);
}

bool Watch::is_mute(sim::NodeIndex sw) const {
  const auto& faults = state_.nodes[sw].faults;
  return faults && (faults->silent || !faults->answers_only.empty());
}

/// A path over such a switch counts as dead: nobody can keep it.
bool Watch::passes_out_of_hand(sim::NodeIndex from, Lid lid, std::uint8_t out) const {
  auto port = next(from, lid, out);
  for (std::size_t steps = 0; steps <= state_.nodes.size() && port != sim::kNowhere; ++steps) {
    const auto node = state_.ports[port].node;
    if (!state_.nodes[node].is_switch()) return false;
    if (out_of_hand(node)) return true;
    port = next(node, lid, sim::lft_port(*state_.nodes[node].sw, lid).value());
  }
  return false;
}

bool Watch::circles(sim::NodeIndex from, Lid lid) const {
  auto at = from;
  for (std::size_t steps = 0; steps <= state_.nodes.size(); ++steps) {
    const auto& node = state_.nodes[at];
    const auto port = next(at, lid, sim::lft_port(*node.sw, lid).value());
    if (port == sim::kNowhere || state_.ports[port].number == PortNum{0}) return false;
    at = state_.ports[port].node;
    if (!state_.nodes[at].is_switch() || out_of_hand(at)) return false;
    if (at == from) return true;
  }
  return true;
}

sim::PortIndex Watch::end_of(sim::NodeIndex from, Lid lid, std::uint8_t out) const {
  auto port = next(from, lid, out);
  for (std::size_t steps = 0; steps <= state_.nodes.size() && port != sim::kNowhere; ++steps) {
    const auto node = state_.ports[port].node;
    if (state_.ports[port].number == PortNum{0}) return port;
    if (!state_.nodes[node].is_switch()) return sim::has_lid(state_.ports[port], lid) ? port : sim::kNowhere;
    if (node == from) return sim::kNowhere;
    port = next(node, lid, sim::lft_port(*state_.nodes[node].sw, lid).value());
  }
  return sim::kNowhere;
}

std::uint8_t Watch::settled(sim::NodeIndex sw, Lid lid) const {
  const auto entry = earlier_[sw].find(lid);
  if (entry != earlier_[sw].end() && state_.now <= entry->second.until + kTogether) return entry->second.port;
  const auto& row = rows_[sw];
  return lid.value() < row.size() ? row[lid.value()] : kNone;
}

/// By the tables before these Sets and the links that there are now: else the path had died, and comes and
/// goes while it is repaired.
bool Watch::had_a_path(sim::NodeIndex from, Lid lid, sim::PortIndex to) const {
  auto at = from;
  for (std::size_t steps = 0; steps <= state_.nodes.size(); ++steps) {
    const auto port = next(at, lid, settled(at, lid));
    if (port == to) return true;
    if (port == sim::kNowhere || !state_.node_of(port).is_switch()) return false;
    at = state_.ports[port].node;
  }
  return false;
}

/// Some host other than the destination sends to the LID through this switch.
bool Watch::on_the_way_of_a_host(sim::NodeIndex sw, Lid lid, sim::PortIndex to) const {
  for (const auto& node : state_.nodes) {
    if (node.is_switch()) continue;
    for (unsigned number = 1; number <= node.ports; ++number) {
      const auto from = state_.index(node, number);
      if (from == to || !active(from)) continue;
      auto port = state_.ports[from].peer;
      for (std::size_t steps = 0; steps <= state_.nodes.size() && port != sim::kNowhere; ++steps) {
        const auto at = state_.ports[port].node;
        if (at == sw) return true;
        if (!state_.nodes[at].is_switch() || state_.ports[port].number == PortNum{0}) break;
        port = next(at, lid, sim::lft_port(*state_.nodes[at].sw, lid).value());
      }
    }
  }
  return false;
}

std::vector<sim::PortIndex> Watch::holders(Lid lid) const {
  std::vector<sim::PortIndex> found;
  for (sim::PortIndex index = 0; index < state_.ports.size(); ++index) {
    const auto& port = state_.ports[index];
    const auto& node = state_.node_of(index);
    if (node.gone || !sim::has_lid(port, lid)) continue;
    const bool in_use = node.is_switch() ? port.number == PortNum{0} : active(index);
    if (in_use) found.push_back(index);
  }
  return found;
}

void Watch::port_changed(sim::PortIndex port) {
  const auto& now = state_.ports[port].info;
  if (now.lid != lids_[port]) lid_changed(port, std::exchange(lids_[port], now.lid));
  const bool is_active = active(port), was = was_active_[port];
  if (was && !is_active && now.port_state == PortState::down && !excused_.contains(state_.ports[port].node))
    note(broken_, fmt::format("the working link at {} was taken down", sim::port_text(state_, port)));
  was_active_[port] = is_active;
  if (state_.ports[port].peer != sim::kNowhere) was_active_[state_.ports[port].peer] = is_active;
  if (is_active && !was) link_became_active(port);
}

void Watch::lid_changed(sim::PortIndex port, Lid before) {
  const auto lid = state_.ports[port].info.lid;
  const auto node = state_.ports[port].node;
  if (excused_.contains(node)) return;
  const auto all = holders(lid);
  for (const auto other : all) {
    if (other == port || excused_.contains(state_.ports[other].node)) continue;
    note(broken_, fmt::format("{} got LID {}, which {} has", sim::port_text(state_, port), lid,
                              sim::port_text(state_, other)));
  }
  const auto& held = state_.nodes[node];
  if (!fits(before)) return;
  const bool works = held.is_switch() ? before != Lid{} : active(port);
  if (works && before != Lid{} && holders(before).empty())
    note(broken_, fmt::format("{} had LID {} and got {}", sim::port_text(state_, port), before, lid));
}

/// All LIDs of the fabric and this one fit into every switch's table: else it may have to change.
bool Watch::fits(Lid lid) const {
  std::size_t needed = 0, cap = 0xC000;
  for (const auto& node : state_.nodes) {
    needed += node.is_switch() ? 1U : node.ports;
    if (node.is_switch()) cap = std::min<std::size_t>(cap, node.sw->info.linear_fdb_cap);
  }
  return needed < cap && lid.value() < cap;
}

void Watch::link_became_active(sim::PortIndex port) {
  for (const auto end : {port, state_.ports[port].peer}) {
    const auto node = state_.ports[end].node;
    if (!state_.nodes[node].is_switch()) continue;
    const auto number = state_.ports[end].number.value();
    for (std::size_t lid = 1; lid < rows_[node].size(); ++lid) {
      if (rows_[node][lid] != number || !circles(node, Lid{static_cast<std::uint16_t>(lid)})) continue;
      note(broken_,
           fmt::format("LID {} goes in a circle at {} since port {} is Active", lid, name(node), number));
    }
  }
}

}  // namespace smd::test
