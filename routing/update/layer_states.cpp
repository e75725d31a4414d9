// SPDX-License-Identifier: Apache-2.0
#include "routing/update/layer_states.h"

#include <algorithm>
#include <bit>
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
  others_.assign(layers, Dependencies(in.topology));
  const auto assigned = [&](Lid lid) { return in.lids.destination(lid).sw != kNoSwitch; };
  std::erase_if(changing_, [&](Lid lid) { return !assigned(lid); });
  for (std::size_t value = 1; value < size && !in.stop.stop_requested(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    if (assigned(lid) && !std::ranges::binary_search(changing_, lid)) add(lid, ports_of(lid), others_);
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

/// Layers flow along all ports that an entry may be.
void LayerStates::add(Lid lid, std::span<const std::vector<std::uint8_t>> ports, Graphs& graphs) const {
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
          graphs[static_cast<std::size_t>(std::countr_zero(bits))].add({s, PortNum{out}}, PortNum{then});
      }
    }
  }
}

bool LayerStates::ends_in_cycle() const {
  auto graphs = others_;
  std::vector<std::vector<std::uint8_t>> ports(now_.size());
  for (const auto lid : changing_) {
    for (SwitchIndex s = 0; s < now_.size(); ++s) ports[s].assign(1, wanted(s, lid));
    add(lid, ports, graphs);
  }
  return std::ranges::any_of(graphs, &Dependencies::any_cycle);
}

bool LayerStates::closes_cycle(std::span<const EntryWrite> entries) const {
  auto graphs = others_;
  for (const auto lid : changing_) {
    if (in_.stop.stop_requested()) return false;
    auto ports = ports_of(lid);
    for (const auto& written : std::ranges::equal_range(entries, lid, {}, &EntryWrite::lid))
      ports[written.sw].push_back(written.port);
    add(lid, ports, graphs);
  }
  return std::ranges::any_of(graphs, &Dependencies::any_cycle);
}

void LayerStates::apply(std::span<const EntryWrite> entries) {
  for (const auto& written : entries) now_[written.sw][written.lid.value()] = written.port;
}

}  // namespace smd::routing::inline update
