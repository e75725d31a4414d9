// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "routing/engines/balanced_tree.h"
#include "routing/engines/tree.h"
#include "routing/ranking/disjoint_sets.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline chain {
namespace {

using Kind = Shape::Kind;

/// What the cables of a line are; with two switches they are all three.
enum class Line : std::uint8_t { pair, path, ring, complete, broken };

struct LineCables {
  Line kind = Line::broken;
  bool whole = true;
};

/// A line that has seven tenths of all cables between its switches is a damaged complete one.
LineCables cables_of(const Topology& topology, std::span<const SwitchIndex> members,
                     std::vector<bool>& inside) {
  for (const auto s : members) inside[s] = true;
  std::size_t ends = 0, middles = 0, sum = 0;
  for (const auto s : members) {
    std::size_t degree = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g)
      degree += inside[topology.group(s, g).peer] ? 1U : 0U;
    ends += degree == 1 ? 1U : 0U;
    middles += degree == 2 ? 1U : 0U;
    sum += degree;
  }
  for (const auto s : members) inside[s] = false;
  const auto n = members.size(), all = n * (n - 1);
  if (sum == all) return {n == 2 ? Line::pair : Line::complete};
  if (middles == n) return {Line::ring};
  if (ends == 2 && middles + 2 == n) return {Line::path};
  return {n > 3 && 10 * sum >= 7 * all ? Line::complete : Line::broken, false};
}

/// What most lines of a dimension are.
struct DimensionLines {
  Line kind = Line::broken;
  std::uint32_t size = 0;
  bool damaged = false;
};

DimensionLines lines_in(const Topology& topology, const Lattice& lattice, std::size_t d) {
  const auto lines = lines_of(lattice, d);
  std::vector<bool> inside(topology.switches());
  std::array<std::size_t, 5> of_kind{};
  DimensionLines found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto members = lines.line(i);
    const auto size = static_cast<std::uint32_t>(members.size());
    found.damaged = found.damaged || (i != 0 && size != found.size);
    found.size = std::max(found.size, size);
    const auto [kind, whole] = cables_of(topology, members, inside);
    found.damaged = found.damaged || !whole;
    ++of_kind[static_cast<std::size_t>(kind)];
  }
  const auto known = std::span(of_kind).first(4);  // a broken line tells nothing
  const auto most = static_cast<std::size_t>(std::ranges::max_element(known) - known.begin());
  if (known[most] != 0) found.kind = static_cast<Line>(most);
  if (found.kind == Line::pair && found.size > 2) found.kind = Line::broken;
  found.damaged = found.damaged || of_kind[most] != lines.size();
  return found;
}

std::optional<Shape> lattice_shape(const Topology& topology) {
  const auto lattice = find_lattice(topology);
  if (!lattice) return std::nullopt;
  Shape shape{.kind = Kind::hypercube};
  const auto is = [&](Kind kind) { shape.kind = std::min(shape.kind, kind); };
  bool complete = false;
  for (std::size_t d = 0; d < lattice->dimensions; ++d) {
    const auto lines = lines_in(topology, *lattice, d);
    if (lines.size < 2) continue;
    shape.sizes.push_back(lines.size);
    shape.damaged = shape.damaged || lines.damaged;
    if (lines.kind == Line::ring) is(Kind::torus);
    if (lines.kind == Line::path || lines.kind == Line::broken) is(Kind::mesh);
    complete = complete || lines.kind == Line::complete;
  }
  if (complete && shape.kind == Kind::hypercube) shape.kind = Kind::hyperx;
  std::ranges::sort(shape.sizes, std::greater{});
  return shape;
}

/// Nine of ten, and not all.
struct Share {
  std::uint64_t have = 0, of = 0;
  bool nearly() const { return of != 0 && 10 * have >= 9 * of; }
  bool all() const { return have == of; }
};

/// By link of each switch how many neighbours its ends have in common.
std::uint32_t common(const Topology& topology, const std::vector<bool>& beside, SwitchIndex peer) {
  std::uint32_t count = 0;
  for (std::size_t g = 0; g < topology.groups(peer); ++g)
    count += beside[topology.group(peer, g).peer] ? 1U : 0U;
  return count;
}

/// Calls fn(a, b, common neighbours) for each link in both directions.
template <class Fn>
void for_each_link(const Topology& topology, const Fn& fn) {
  std::vector<bool> beside(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) beside[topology.group(s, g).peer] = true;
    for (std::size_t g = 0; g < topology.groups(s); ++g)
      fn(s, topology.group(s, g).peer, common(topology, beside, topology.group(s, g).peer));
    for (std::size_t g = 0; g < topology.groups(s); ++g) beside[topology.group(s, g).peer] = false;
  }
}

/// The groups that `sets` joins, as a dragonfly: `pairs(members)` links are in a whole group. Nothing where
/// groups are incomplete, differ in size, or are not cabled with each other.
template <class Pairs>
std::optional<Shape> groups_shape(const Topology& topology, DisjointSets& sets, Kind kind,
                                  const Pairs& pairs) {
  const auto n = static_cast<SwitchIndex>(topology.switches());
  std::vector<std::vector<SwitchIndex>> groups;
  std::vector<std::uint32_t> group_of(n);
  for (SwitchIndex s = 0; s < n; ++s) {
    if (sets.first(s) == s) {
      group_of[s] = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    }
    group_of[s] = group_of[sets.first(s)];
    groups[group_of[s]].push_back(s);
  }
  if (groups.size() < 3 || groups.size() * 2 > n) return std::nullopt;
  Share inside, between{.have = 0, .of = groups.size() * (groups.size() - 1)};
  std::vector<std::uint32_t> seen(groups.size(), ~0U);
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    inside.of += pairs(groups[i]);
    for (const auto s : groups[i]) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto other = group_of[topology.group(s, g).peer];
        if (other == i) ++inside.have;
        if (other == i || seen[other] == i) continue;
        seen[other] = i;
        ++between.have;
      }
    }
  }
  const auto most = std::ranges::max(groups, {}, &std::vector<SwitchIndex>::size).size();
  const bool even = std::ranges::all_of(groups, [&](const auto& g) { return g.size() == most; });
  if (!inside.nearly() || !between.nearly() || std::size_t{n} * 10 < most * groups.size() * 9)
    return std::nullopt;
  return Shape{.kind = kind,
               .sizes = {static_cast<std::uint32_t>(groups.size()), static_cast<std::uint32_t>(most)},
               .damaged = !even || !inside.all() || !between.all()};
}

/// Links within a group are in more triangles than those between groups.
std::optional<Shape> dragonfly_shape(const Topology& topology) {
  std::vector<std::uint32_t> most(topology.switches());
  for_each_link(topology, [&](SwitchIndex a, SwitchIndex /*b*/, std::uint32_t shared) {
    most[a] = std::max(most[a], shared);
  });
  DisjointSets sets(topology.switches());
  for_each_link(topology, [&](SwitchIndex a, SwitchIndex b, std::uint32_t shared) {
    if (shared != 0 && 2 * shared >= std::max(most[a], most[b])) sets.join(a, b);
  });
  return groups_shape(topology, sets, Kind::dragonfly, [](const auto& members) {
    return std::uint64_t{members.size()} * (members.size() - 1);
  });
}

std::optional<Shape> dragonfly_plus_shape(const Topology& topology) {
  DisjointSets sets(topology.switches());
  bool spines_cabled = false;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (topology.leaf(s) && topology.leaf(peer)) return std::nullopt;
      if (topology.leaf(s) || topology.leaf(peer)) sets.join(s, peer);
      spines_cabled = spines_cabled || (!topology.leaf(s) && !topology.leaf(peer));
    }
  }
  if (!spines_cabled) return std::nullopt;
  return groups_shape(topology, sets, Kind::dragonfly_plus, [&](const auto& members) {
    const auto leaves = static_cast<std::uint64_t>(
        std::ranges::count_if(members, [&](SwitchIndex s) { return topology.leaf(s); }));
    return 2 * leaves * (members.size() - leaves);
  });
}

using Lacked = std::vector<std::uint32_t>;  ///< cables to each slot

Lacked lacked(const Topology& topology, const SwitchGroup& group, SwitchIndex s) {
  Lacked all;
  for (const auto& slot : group.slots) {
    all.push_back(slot.cables);
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto [peer, ports] = topology.group(s, g);
      if (peer == slot.peer) all.back() -= std::min(slot.cables, static_cast<std::uint32_t>(ports.size()));
    }
  }
  return all;
}

std::uint32_t sum(const Lacked& cables) {
  return std::accumulate(cables.begin(), cables.end(), std::uint32_t{0});
}

/// Whether no host is at the switch or below: no route needs its cables.
bool is_empty_end(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s) {
  if (topology.leaf(s)) return false;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    if (ranking.rank[topology.group(s, g).peer] >= ranking.rank[s]) return false;
  }
  return true;
}

/// Whether some cables of the group are missing and not left out by a design, much as check_cabling() has it:
/// two members that lack the same two or more are of a kind. A member is another kind of switch if it lacks
/// three or more beside those of its kind, and more than a quarter, or two or more and half of all. Switches
/// with no host below, as a top in a tree of one pod, lack nothing.
bool misses_uplinks(const Topology& topology, const SwitchRanking& ranking, const SwitchGroup& group) {
  if (!group.gone.empty()) return true;
  std::map<Lacked, std::size_t> members;
  for (const auto s : group.members) {
    if (!is_empty_end(topology, ranking, s)) ++members[lacked(topology, group, s)];
  }
  const auto is_kind = [](const auto& entry) { return entry.second >= 2 && sum(entry.first) >= 2; };
  std::uint32_t wanted = 0;
  for (const auto& slot : group.slots) wanted += slot.cables;
  return std::ranges::any_of(members, [&](const auto& entry) {
    auto rest = sum(entry.first);
    for (const auto& kind : members) {
      if (is_kind(kind) && std::ranges::equal(kind.first, entry.first, std::ranges::less_equal{}))
        rest = std::min(rest, sum(entry.first) - sum(kind.first));
    }
    const bool many = rest >= 3 && rest * 4 > wanted, half = rest >= 2 && sum(entry.first) * 2 >= wanted;
    return rest != 0 && !many && !half;
  });
}

}  // namespace

std::string to_string(const Shape& shape) {
  const auto* const damaged = shape.damaged ? "damaged " : "";
  const auto lattice = [&](std::string_view name) {
    return fmt::format("{}{} {}", damaged, name, fmt::join(shape.sizes, "x"));
  };
  const auto groups = [&](std::string_view name) {
    return fmt::format("{}{} of {} groups of {} switches", damaged, name, shape.sizes.front(),
                       shape.sizes.back());
  };
  switch (shape.kind) {
    case Kind::tree:
      return fmt::format("{}tree", damaged);
    case Kind::mesh:
      return lattice("mesh");
    case Kind::torus:
      return lattice("torus");
    case Kind::hypercube:
      return fmt::format("{}hypercube of {} dimension{}", damaged, shape.sizes.size(),
                         shape.sizes.size() == 1 ? "" : "s");
    case Kind::hyperx:
      return lattice("HyperX");
    case Kind::dragonfly:
      return groups("dragonfly");
    case Kind::dragonfly_plus:
      return groups("dragonfly+");
    case Kind::irregular:
      break;
  }
  return "irregular fabric";
}

bool is_dragonfly_plus(const Topology& topology) { return dragonfly_plus_shape(topology).has_value(); }

Shape find_shape(const Topology& topology) {
  if (auto plus = dragonfly_plus_shape(topology)) return *std::move(plus);
  if (auto lattice = lattice_shape(topology)) return *std::move(lattice);
  if (auto dragonfly = dragonfly_shape(topology)) return *std::move(dragonfly);
  return {};
}

bool leaves_differ(const Topology& topology) {
  std::map<std::uint32_t, std::size_t> with_hosts;
  std::vector<std::size_t> cables;
  for (const auto leaf : topology.leaves()) {
    ++with_hosts[topology.hosts(leaf)];
    cables.push_back(0);
    for (std::size_t g = 0; g < topology.groups(leaf); ++g)
      cables.back() += topology.group(leaf, g).ports.size();
  }
  if (cables.empty()) return false;
  const auto usual = std::ranges::max(with_hosts | std::views::values), most = std::ranges::max(cables);
  const auto few = std::ranges::count_if(cables, [&](std::size_t count) { return 3 * count <= 2 * most; });
  return 10 * usual < 9 * cables.size() || 10 * static_cast<std::size_t>(few) >= cables.size() ||
         2 * std::ranges::min(cables) < most;
}

bool misses_uplinks(const Topology& topology) {
  const auto ranking = ranking_of_tree(topology, {});
  if (!ranking) return false;
  const auto whole = find_tree_template(topology, *ranking);
  if (is_whole(topology, whole) || is_dealt_out(topology, *ranking, whole)) return false;
  return std::ranges::any_of(
      whole.groups, [&](const SwitchGroup& group) { return misses_uplinks(topology, *ranking, group); });
}

}  // namespace smd::routing::inline chain
