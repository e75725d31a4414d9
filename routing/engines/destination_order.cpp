// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/destination_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd::routing::inline engines {
namespace {

constexpr std::size_t kRails = 16;
constexpr std::size_t kKinds = 4 * kRails;

/// Moves `set` to `out`: the first leaf, then the others from near to far, each distance ordered in the same
/// manner.
void by_nearness(std::vector<SwitchIndex> set, const HopCount& hops, std::vector<SwitchIndex>& out) {
  while (!set.empty()) {
    const auto first = set.front();
    out.push_back(first);
    std::vector<std::vector<SwitchIndex>> at;
    for (const auto leaf : std::span(set).subspan(1)) {
      const std::size_t distance = hops(first, leaf);
      if (at.size() <= distance) at.resize(distance + 1);
      at[distance].push_back(leaf);
    }
    for (std::size_t i = 0; i + 1 < at.size(); ++i) by_nearness(std::move(at[i]), hops, out);
    set = at.empty() ? std::vector<SwitchIndex>{} : std::move(at.back());
  }
}

struct Numbered {
  std::uint32_t number = 0;
  SwitchIndex destination = kNoSwitch;
  LidKind kind = LidKind::host;
};

/// By end port its number among the ports of its machine of that kind, in the order of their leaves: hosts
/// with an adapter per rail have them on as many leaves.
std::vector<std::uint8_t> rails(const Topology& topology, std::span<const SwitchIndex> order) {
  const auto ends = topology.end_ports();
  std::vector<EndIndex> sorted(ends.size());
  std::iota(sorted.begin(), sorted.end(), EndIndex{0});
  const auto machine = [&](EndIndex e) { return std::tuple(ends[e].kind, ends[e].system_image); };
  std::vector<std::uint32_t> place(topology.switches());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i + 1;
  std::ranges::sort(sorted, {}, [&](EndIndex e) {
    const auto at = ends[e].sw == kNoSwitch ? ~std::uint32_t{0} : place[ends[e].sw];
    return std::tuple(machine(e), at, ends[e].port, e);
  });
  std::vector<std::uint8_t> rail(ends.size());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const auto e = sorted[i], before = sorted[i - 1];
    if (ends[e].system_image.value() == 0 || machine(e) != machine(before)) continue;
    rail[e] = static_cast<std::uint8_t>((rail[before] + 1U) % kRails);
  }
  return rail;
}

struct EndNumbers {
  std::vector<std::uint32_t> of_end, of_switch;
};

/// The end ports of one kind: the places of those of each leaf begin where the one before ends.
struct KindPlaces {
  std::uint32_t width = 0;           ///< the most on one leaf
  std::vector<std::uint32_t> first;  ///< by place of the leaf in the order, and behind the last
};

using Places = std::array<KindPlaces, kKinds>;

/// By kind the places of all leaves in the order; empty for kinds without end ports.
Places places_of(const Topology& topology, std::span<const SwitchIndex> order,
                 std::span<const std::size_t> kind, Numbering numbering) {
  Places places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto first = topology.first_end(order[i]);
    for (std::size_t n = 0; n < topology.end_ports_of(order[i]).size(); ++n) {
      auto& counts = places[kind[first + n]].first;
      counts.resize(order.size() + 1);
      ++counts[i + 1];
    }
  }
  for (auto& [width, first] : places) {
    if (first.empty()) continue;
    width = *std::ranges::max_element(first);
    for (auto& count : first) count = count != 0 && numbering == Numbering::padded ? width : count;
    std::partial_sum(first.begin(), first.end(), first.begin());
  }
  return places;
}

/// By level the most places of a block.
std::vector<std::uint32_t> windows_of(const KindPlaces& places, std::span<const RoundRobinLevel> levels) {
  std::vector<std::uint32_t> windows;
  for (const auto& level : levels) {
    std::uint32_t most = 0;
    std::size_t leaf = 0;
    for (const auto leaves : level.blocks) {
      most = std::max(most, places.first[leaf + leaves] - places.first[leaf]);
      leaf += leaves;
    }
    windows.push_back(most);
  }
  return windows;
}

EndNumbers end_numbers(const Topology& topology, std::span<const SwitchIndex> order,
                       std::span<const RoundRobinLevel> levels, Numbering numbering) {
  const auto ends = topology.end_ports();
  const auto rail = rails(topology, order);
  std::vector<std::size_t> kind;
  for (EndIndex e = 0; e < ends.size(); ++e)
    kind.push_back(static_cast<std::size_t>(ends[e].kind) * kRails + rail[e]);
  const auto places = places_of(topology, order, kind, numbering);
  std::array<std::vector<std::uint32_t>, kKinds> numbers;
  for (std::size_t k = 0; k < kKinds; ++k) {
    if (!places[k].first.empty())
      numbers[k] = numbers_with_gaps(places[k].first.back(), levels, windows_of(places[k], levels));
  }
  EndNumbers result{std::vector<std::uint32_t>(ends.size()), std::vector<std::uint32_t>(topology.switches())};
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    result.of_switch[order[i]] = i;
    std::array<std::uint32_t, kKinds> here{};
    const auto first = topology.first_end(order[i]);
    for (std::size_t n = 0; n < topology.end_ports_of(order[i]).size(); ++n) {
      const auto k = kind[first + n];
      result.of_end[first + n] = numbers[k][places[k].first[i] + here[k]++];
    }
  }
  return result;
}

/// By LID; LIDs that lead to no switch have no destination.
std::vector<Numbered> numbers(const Topology& topology, const LidMap& lids,
                              std::span<const SwitchIndex> leaf_order,
                              std::span<const RoundRobinLevel> levels, Numbering numbering) {
  std::vector<SwitchIndex> order(leaf_order.begin(), leaf_order.end());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (!topology.leaf(s)) order.push_back(s);
  }
  const auto [of_end, of_switch] = end_numbers(topology, order, levels, numbering);
  std::vector<Numbered> result(std::size_t{lids.top().value()} + 1);
  for (std::size_t lid = 0; lid < result.size(); ++lid) {
    const auto to = lids.destination(Lid{static_cast<std::uint16_t>(lid)});
    if (to.sw == kNoSwitch) continue;
    const bool own = to.end == kNoEnd;
    result[lid] = {(own ? of_switch[to.sw] : of_end[to.end]) + to.offset, to.sw, kind_of(topology, to)};
  }
  return result;
}

}  // namespace

LidKind kind_of(const Topology& topology, const Destination& to) {
  if (to.end == kNoEnd) return LidKind::of_switch;
  return topology.end_ports()[to.end].kind == EndKind::aggregation ? LidKind::aggregation : LidKind::host;
}

std::vector<SwitchIndex> switches_by_lid(const Topology& topology, const LidMap& lids) {
  std::vector<std::pair<std::uint32_t, SwitchIndex>> sorted;
  const auto key = [&](SwitchIndex s) -> std::uint32_t {
    auto first = Lid{0xffff};
    auto e = topology.first_end(s);
    for (std::size_t i = 0; i < topology.end_ports_of(s).size(); ++i, ++e) {
      if (lids.of_end(e).count() != 0) first = std::min(first, lids.of_end(e).base);
    }
    if (first != Lid{0xffff}) return first.value();
    return 0x10000U + lids.of_switch(s).base.value();
  };
  for (SwitchIndex s = 0; s < topology.switches(); ++s) sorted.emplace_back(key(s), s);
  std::ranges::sort(sorted);
  std::vector<SwitchIndex> order;
  order.reserve(sorted.size());
  for (const auto& [lid, s] : sorted) order.push_back(s);
  return order;
}

std::vector<SwitchIndex> leaves_by_nearness(const Topology& topology, const HopCount& hops) {
  std::vector<SwitchIndex> out;
  by_nearness({topology.leaves().begin(), topology.leaves().end()}, hops, out);
  return out;
}

void append(std::vector<LidRun>& runs, LidRun one) {
  if (!runs.empty()) {
    auto& last = runs.back();
    one.follows =
        last.lid + last.length == one.lid && last.number + last.length == one.number && last.kind == one.kind;
    if (one.follows && last.destination == one.destination) {
      ++last.length;
      return;
    }
  }
  runs.push_back(one);
}

std::vector<LidRun> number_lids(const Topology& topology, const LidMap& lids,
                                std::span<const SwitchIndex> leaf_order, Numbering numbering,
                                std::span<const RoundRobinLevel> levels) {
  const auto all = numbers(topology, lids, leaf_order, levels, numbering);
  std::vector<LidRun> runs;
  for (std::size_t lid = 1; lid < all.size(); ++lid) {
    const auto& entry = all[lid];
    if (entry.destination == kNoSwitch) continue;
    append(runs, {.lid = static_cast<std::uint16_t>(lid),
                  .length = 1,
                  .number = entry.number,
                  .destination = entry.destination,
                  .kind = entry.kind});
  }
  return runs;
}

}  // namespace smd::routing::inline engines
