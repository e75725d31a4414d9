// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/kept_entries.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "routing/verify/verify.h"
#include "smd/sweep/unkept_entries.h"

namespace smd::sm::inline decisions {
namespace {

using routing::kNoSwitch;
using routing::LftRow;
using routing::SwitchIndex;

/// The rows of a part, copied at the first change.
class Rows {
 public:
  explicit Rows(const RoutePart& part) {
    for (SwitchIndex s = 0; s < part.topology->switches(); ++s) {
      const auto* row = part.find(part.topology->guid(s));
      rows_.push_back(row != nullptr ? *row : nullptr);
    }
    edited_.resize(rows_.size());
  }
  std::uint8_t at(SwitchIndex s, Lid lid) const { return routing::entry(rows_[s].get(), lid); }
  void set(SwitchIndex s, Lid lid, std::uint8_t port) {
    if (at(s, lid) == port || !rows_[s] || lid.value() >= rows_[s]->size()) return;
    if (!edited_[s]) rows_[s] = edited_[s] = std::make_shared<LftRow>(*rows_[s]);
    (*edited_[s])[lid.value()] = port;
    changed_ = true;
  }
  bool changed() const { return changed_; }
  const auto& rows() const { return rows_; }

 private:
  std::vector<std::shared_ptr<const LftRow>> rows_;
  std::vector<std::shared_ptr<LftRow>> edited_;
  bool changed_ = false;
};

/// The ways to one LID.
class Ways {
 public:
  Ways(const RoutePart& part, Rows& rows, Lid lid, const std::vector<SwitchIndex>& fixed)
      : topology_(*part.topology), rows_(rows), lid_(lid), to_(part.lid_map->destination(lid)) {
    fixed_.resize(topology_.switches());
    for (const auto s : fixed) fixed_[s] = true;
    arrives_.assign(topology_.switches(), Arrives::unknown);
  }

  /// Gives those that would come to a fixed switch, and need not, another next hop.
  void lead_round() {
    if (to_.sw == kNoSwitch) return;
    const bool ends = rows_.at(to_.sw, lid_) == to_.port.value();
    arrives_[to_.sw] = ends ? Arrives::yes : Arrives::no;
    if (ends) near_.push({0, to_.sw});
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) follow(s);
    attach();
    // Who has no other way goes by a fixed switch, where that arrives.
    for (bool more = true; std::exchange(more, false);) {
      for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
        if (!fixed_[s] || arrives_[s] == Arrives::yes) continue;
        const auto next = next_of(s);
        if (next == kNoSwitch || arrives_[next] != Arrives::yes) continue;
        arrives_[s] = Arrives::yes;
        near_.push({topology_.switches(), s});
        more = true;
      }
      attach();
    }
  }

 private:
  enum class Arrives : std::uint8_t { unknown, under_way, no, yes };
  using Near = std::pair<std::size_t, SwitchIndex>;  ///< hops from the destination

  SwitchIndex next_of(SwitchIndex s) const { return topology_.peer(s, PortNum{rows_.at(s, lid_)}).sw; }

  /// By tables that are not fixed; what comes to a fixed one counts as not arriving.
  void follow(SwitchIndex start) {
    std::vector<SwitchIndex> way;
    auto s = start;
    while (s != kNoSwitch && arrives_[s] == Arrives::unknown && !fixed_[s]) {
      arrives_[s] = Arrives::under_way;
      way.push_back(s);
      s = next_of(s);
    }
    const bool yes = s != kNoSwitch && arrives_[s] == Arrives::yes;
    std::size_t hops = 1;
    for (auto it = way.rbegin(); it != way.rend(); ++it, ++hops) {
      arrives_[*it] = yes ? Arrives::yes : Arrives::no;
      if (yes) near_.push({hops, *it});
    }
  }

  /// Neighbours of those that arrive, nearest first.
  void attach() {
    while (!near_.empty()) {
      const auto [hops, s] = near_.top();
      near_.pop();
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto peer = topology_.group(s, g).peer;
        if (fixed_[peer] || arrives_[peer] == Arrives::yes) continue;
        rows_.set(peer, lid_, port_to(peer, s));
        arrives_[peer] = Arrives::yes;
        near_.push({hops + 1, peer});
      }
    }
  }

  std::uint8_t port_to(SwitchIndex from, SwitchIndex to) const {
    for (std::size_t g = 0; g < topology_.groups(from); ++g) {
      const auto group = topology_.group(from, g);
      if (group.peer == to) return group.ports[lid_.value() % group.ports.size()].value();
    }
    return routing::kNoRoute;
  }

  const routing::Topology& topology_;
  Rows& rows_;
  Lid lid_;
  routing::Destination to_;
  std::vector<bool> fixed_;
  std::vector<Arrives> arrives_;
  std::priority_queue<Near, std::vector<Near>, std::greater<>> near_;
};

}  // namespace

std::vector<KeptEntry> kept_entries(const Subnet& subnet) {
  std::vector<KeptEntry> kept;
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch() || !node->lft.row) continue;
    for (const auto& note : node->not_kept) {
      const auto lid = unkept_lid(note);
      if (!lid || !node->lft.known.test(lid->value() / routing::kLftBlock)) continue;
      kept.push_back({node->guid(), *lid, routing::entry(node->lft.row.get(), *lid)});
    }
  }
  std::ranges::sort(kept);
  return kept;
}

std::shared_ptr<const RoutePart> with_kept_entries(const std::shared_ptr<const RoutePart>& part,
                                                   std::vector<KeptEntry> kept,
                                                   const routing::Parallel& parallel) {
  if (!part || !part->topology || !part->lid_map || (kept.empty() && part->kept.empty())) return part;
  Rows rows(*part);
  std::map<Lid, std::vector<SwitchIndex>> fixed;
  for (const auto& entry : kept) {
    const auto s = part->topology->find(entry.node);
    if (s == kNoSwitch) continue;
    const bool known = std::ranges::binary_search(part->kept, entry);
    if (known || rows.at(s, entry.lid) != entry.port) fixed[entry.lid].push_back(s);
    rows.set(s, entry.lid, entry.port);
  }
  for (const auto& [lid, switches] : fixed) Ways(*part, rows, lid, switches).lead_round();
  if (!rows.changed() && kept == part->kept) return part;
  auto edited = std::make_shared<RoutePart>(*part);
  edited->kept = std::move(kept);
  if (!rows.changed()) return edited;
  for (auto& row : edited->rows) {
    const auto s = part->topology->find(row.node);
    if (s != kNoSwitch) row.row = rows.rows()[s];
  }
  const routing::Routes routes{.rows = rows.rows(), .layers = part->layers};
  edited->verification = routing::verify_routes({*part->topology, *part->lid_map, parallel}, routes);
  return edited;
}

}  // namespace smd::sm::inline decisions
