// SPDX-License-Identifier: Apache-2.0
#include "routing/update/layer_states.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "routing/verify/egress_sets.h"

namespace smd::routing::inline update {
namespace {

bool has_block(std::span<const std::uint64_t> words, std::size_t block) {
  return block / 64 < words.size() && (words[block / 64] >> (block % 64) & 1U) != 0;
}

}  // namespace

LayerStates::LayerStates(const RoutingContext& in, const UpdateInput& tables, std::vector<Lid> changing,
                         MovedPairs moved)
    : in_(in), tables_(tables), moved_(moved), changing_(std::move(changing)) {
  const auto size = in.lids.row_size();
  for (const auto& table : tables.installed) {
    auto& row = now_.emplace_back(size, kNoRoute);
    for (std::size_t value = 0; table.row != nullptr && table.forwards && value < size; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (has_block(table.known, value / kLftBlock)) row[value] = entry(table.row, lid);
    }
  }
  unsigned layers = layers_in_use(tables.routes.layers);
  if (tables.layers_before != nullptr) layers = std::max(layers, layers_in_use(*tables.layers_before));
  const auto& vls = tables.routes.layers.vls;
  if (vls.by_port()) {
    others_.assign(1, Dependencies(in.topology, vls.indexes()));
  } else {
    others_.assign(layers, Dependencies(in.topology));
  }
  const auto assigned = [&](Lid lid) { return in.lids.destination(lid).sw != kNoSwitch; };
  std::erase_if(changing_, [&](Lid lid) { return !assigned(lid); });
  for (std::size_t value = 1; value < size && !in.stop.stop_requested(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (assigned(lid) && !std::ranges::binary_search(changing_, lid)) add(waits(lid, ports_of(lid)), others_);
  }
  current_ = others_;
  cyclic_.resize(current_.size());
  for (const auto lid : changing_) {
    if (!in.stop.stop_requested()) hold(lid);
  }
}

/// By switch the ports that the entry may be: as it is known, and as unanswered writes may have left it.
std::vector<std::vector<std::uint8_t>> LayerStates::ports_of(Lid lid) const {
  std::vector<std::vector<std::uint8_t>> ports(now_.size());
  for (SwitchIndex s = 0; s < now_.size(); ++s) {
    ports[s].push_back(now_[s][lid.value()]);
    const auto& table = tables_.installed[s];
    if (!has_block(table.uncertain, lid.value() / kLftBlock)) continue;
    for (const auto& row : table.perhaps) ports[s].push_back(entry(row.get(), lid));
  }
  return ports;
}

std::uint64_t LayerStates::layers_from(SwitchIndex s, SwitchIndex to, Lid lid) const {
  const auto after = tables_.routes.layers.of(s, to, lid);
  if (tables_.layers_before == nullptr) return std::uint64_t{1} << after;
  const auto before = tables_.layers_before->of(s, to, lid);
  if (before != after && moved_ == MovedPairs::left_out) return 0;
  return std::uint64_t{1} << before;
}

/// What flows along all ports that an entry may be are layers and the dimension by which packets come in: a
/// bit each for both together. SL to VL tables are written before, so the VLs are those of the routes to
/// come.
LayerStates::Waits LayerStates::waits_by_port(Lid lid, Ports ports) const {
  Waits found;
  constexpr unsigned kDimensions = VlMap::kNoDimension + 1U;
  const auto& vls = tables_.routes.layers.vls;
  const auto& topology = in_.topology;
  const auto to = in_.lids.destination(lid).sw;
  std::vector<std::uint64_t> here(now_.size());
  const auto for_each = [&](SwitchIndex s, const auto& fn) {
    for (auto bits = here[s]; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      fn(bit / kDimensions, static_cast<std::uint8_t>(bit % kDimensions));
    }
  };
  std::vector<SwitchIndex> open;
  for (SwitchIndex s = 0; s < now_.size(); ++s) {
    if (s == to) continue;
    for (auto bits = layers_from(s, to, lid); bits != 0; bits &= bits - 1) {
      const auto layer = static_cast<unsigned>(std::countr_zero(bits));
      here[s] |= std::uint64_t{1} << (layer * kDimensions + VlMap::kNoDimension);
    }
    open.push_back(s);
  }
  while (!open.empty()) {
    const auto s = open.back();
    open.pop_back();
    for (const auto port : ports[s]) {
      const auto peer = topology.peer(s, PortNum{port});
      if (peer.sw == kNoSwitch) continue;
      auto there = here[peer.sw];
      const auto in = vls.dimension(peer.sw, peer.port);
      for_each(
          s, [&](unsigned layer, std::uint8_t) { there |= std::uint64_t{1} << (layer * kDimensions + in); });
      if (there == here[peer.sw]) continue;
      here[peer.sw] = there;
      open.push_back(peer.sw);
    }
  }
  for (SwitchIndex s = 0; s < now_.size(); ++s) {
    for (const auto port : ports[s]) {
      const PortNum out{port};
      const auto peer = topology.peer(s, out);
      if (peer.sw == kNoSwitch) continue;
      for (const auto onward : ports[peer.sw]) {
        const PortNum then{onward};
        if (topology.peer(peer.sw, then).sw == kNoSwitch) continue;
        for_each(s, [&](unsigned layer, std::uint8_t in) {
          found.push_back({0,
                           {s, out},
                           vls.vl_of(in, vls.dimension(s, out), layer),
                           then,
                           vls.vl(peer.sw, peer.port, then, layer)});
        });
      }
    }
  }
  return found;
}

/// Layers flow along all ports that an entry may be.
LayerStates::Waits LayerStates::waits(Lid lid, Ports ports) const {
  if (tables_.routes.layers.vls.by_port()) return waits_by_port(lid, ports);
  Waits found;
  const auto to = in_.lids.destination(lid).sw;
  std::vector<std::uint64_t> layers(now_.size());
  std::vector<SwitchIndex> open;
  for (SwitchIndex s = 0; s < now_.size(); ++s) {
    if (s != to) layers[s] = layers_from(s, to, lid), open.push_back(s);
  }
  while (!open.empty()) {
    const auto s = open.back();
    open.pop_back();
    for (const auto port : ports[s]) {
      const auto peer = in_.topology.peer(s, PortNum{port}).sw;
      if (peer == kNoSwitch || (layers[peer] | layers[s]) == layers[peer]) continue;
      layers[peer] |= layers[s];
      open.push_back(peer);
    }
  }
  for (SwitchIndex s = 0; s < now_.size(); ++s) {
    for (const auto out : ports[s]) {
      const auto peer = in_.topology.peer(s, PortNum{out}).sw;
      if (peer == kNoSwitch) continue;
      for (const auto then : ports[peer]) {
        if (in_.topology.peer(peer, PortNum{then}).sw == kNoSwitch) continue;
        for (auto bits = layers[s]; bits != 0; bits &= bits - 1)
          found.push_back(
              {static_cast<unsigned>(std::countr_zero(bits)), {s, PortNum{out}}, 0, PortNum{then}, 0});
      }
    }
  }
  return found;
}

void LayerStates::add(const Waits& waits, Graphs& graphs) {
  for (const auto& wait : waits) graphs[wait.graph].add(wait.channel, wait.vl, wait.next, wait.next_vl);
}

/// Different for different ones: VLs and layers are below 64.
std::uint64_t LayerStates::key(const Wait& wait) const {
  const auto channel = std::uint64_t{in_.topology.channel(wait.channel.sw, wait.channel.out)};
  return (((channel << 8U | wait.next.value()) << 6U | wait.vl) << 6U | wait.next_vl) << 6U | wait.graph;
}

/// Takes the LID as it is now into `current_`.
void LayerStates::hold(Lid lid) {
  for (const auto& wait : waits(lid, ports_of(lid))) {
    if (++holders_[key(wait)] != 1) continue;
    current_[wait.graph].add(wait.channel, wait.vl, wait.next, wait.next_vl);
    cyclic_[wait.graph].reset();
  }
}

/// Takes it out, with what no other LID waits for.
void LayerStates::release(Lid lid) {
  for (const auto& wait : waits(lid, ports_of(lid))) {
    const auto at = holders_.find(key(wait));
    if (at == holders_.end() || --at->second != 0) continue;
    holders_.erase(at);
    if (others_[wait.graph].contains(wait.channel, wait.vl, wait.next, wait.next_vl)) continue;
    current_[wait.graph].remove(wait.channel, wait.vl, wait.next, wait.next_vl);
    cyclic_[wait.graph].reset();
  }
}

bool LayerStates::is_cyclic(std::size_t graph) const {
  if (const auto& known = cyclic_[graph]; known) return *known;
  const bool found = current_[graph].any_cycle();
  cyclic_[graph] = found;
  return found;
}

bool LayerStates::ends_in_cycle() const {
  auto graphs = others_;
  std::vector<std::vector<std::uint8_t>> ports(now_.size());
  for (const auto lid : changing_) {
    for (SwitchIndex s = 0; s < now_.size(); ++s) ports[s].assign(1, wanted(s, lid));
    add(waits(lid, ports), graphs);
  }
  return std::ranges::any_of(graphs, &Dependencies::any_cycle);
}

bool LayerStates::closes_cycle(std::span<const EntryWrite> entries) const {
  for (std::size_t graph = 0; graph < current_.size(); ++graph) {
    if (is_cyclic(graph)) return true;
  }
  // What is not written is in `current_`.
  std::map<unsigned, Dependencies> changed;
  while (!entries.empty()) {
    if (in_.stop.stop_requested()) return false;
    const auto lid = entries.front().lid;
    auto ports = ports_of(lid);
    std::size_t count = 0;
    for (; count < entries.size() && entries[count].lid == lid; ++count)
      ports[entries[count].sw].push_back(entries[count].port);
    entries = entries.subspan(count);
    if (!std::ranges::binary_search(changing_, lid)) continue;
    for (const auto& wait : waits(lid, ports)) {
      if (current_[wait.graph].contains(wait.channel, wait.vl, wait.next, wait.next_vl)) continue;
      auto& graph = changed.try_emplace(wait.graph, current_[wait.graph]).first->second;
      graph.add(wait.channel, wait.vl, wait.next, wait.next_vl);
    }
  }
  return std::ranges::any_of(changed, [](const auto& one) { return one.second.any_cycle(); });
}

void LayerStates::apply(std::span<const EntryWrite> entries) {
  while (!entries.empty()) {
    const auto lid = entries.front().lid;
    const bool counts = std::ranges::binary_search(changing_, lid);
    if (counts) release(lid);
    for (; !entries.empty() && entries.front().lid == lid; entries = entries.subspan(1))
      now_[entries.front().sw][lid.value()] = entries.front().port;
    if (counts) hold(lid);
  }
}

}  // namespace smd::routing::inline update
