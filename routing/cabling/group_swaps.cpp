// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/group_swaps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/cabling/cabled_groups.h"
#include "routing/cabling/swap_trial.h"

namespace smd::routing::inline cabling {
namespace {

/// With more cables that may be swapped, two of them are no explanation.
constexpr std::size_t kMostSuspects = 64;
/// Two swapped cables are missing at two places, and too many at two.
constexpr std::uint64_t kLeastDeviation = 4;

/// A place for cables, of a kind of places that have equally many.
struct CablePlace {
  enum class Kind : std::uint8_t {
    between_leaves,  ///< of a group; `a` and `b` are switches, the smaller one first
    leaf_and_spine,
    between_spines,
    between_groups,  ///< `a` and `b` are groups, the smaller one first
    from_leaf,       ///< `a` is a switch, `b` another group
    from_spine
  };
  Kind kind = Kind::between_groups;
  std::uint32_t a = 0, b = 0;
  friend auto operator<=>(const CablePlace&, const CablePlace&) = default;
};
constexpr std::size_t kPlaceKinds = 6;

struct CableEnds {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
};

/// Nothing if two are equally frequent.
std::optional<std::int64_t> most_frequent(const std::map<std::int64_t, std::size_t>& counts) {
  std::optional<std::int64_t> found;
  std::size_t most = 0;
  for (const auto& [value, often] : counts) {
    if (often == most) found = std::nullopt;
    if (often <= most) continue;
    found = value;
    most = often;
  }
  return found;
}

class GroupCables {
 public:
  GroupCables(const Topology& topology, CabledGroups groups)
      : topology_(topology), groups_(std::move(groups)) {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto [peer, ports] = topology_.group(s, g);
        if (peer < s) continue;
        for (const auto place : places_of(s, peer)) cables_[place] += std::ssize(ports);
      }
    }
    learn();
  }

  /// Swaps after which no place deviates.
  std::vector<CableSwap> find() const {
    if (!regular_) return {};
    const auto all = deviation();
    if (all < kLeastDeviation) return {};
    const auto suspects = find_suspects();
    if (suspects.size() > kMostSuspects) return {};
    std::vector<CableSwap> found;
    for (std::size_t i = 0; i < suspects.size(); ++i) {
      for (std::size_t j = i + 1; j < suspects.size(); ++j) {
        const auto& one = suspects[i];
        const auto [a, a_port, b, b_port] = suspects[j];
        if (settles(one, {a, a_port, b, b_port}, all)) found.push_back({one.a, one.a_port, a, a_port});
        if (settles(one, {b, b_port, a, a_port}, all)) found.push_back({one.a, one.a_port, b, b_port});
      }
    }
    return found;
  }

 private:
  using Kind = CablePlace::Kind;
  using Change = std::map<CablePlace, std::int64_t>;

  /// Those that a cable between these switches counts for.
  std::vector<CablePlace> places_of(SwitchIndex s, SwitchIndex peer) const {
    const auto own = groups_.of[s], other = groups_.of[peer];
    if (own == other) return {within_group(s, peer)};
    return {{Kind::between_groups, std::min(own, other), std::max(own, other)},
            outward(s, other),
            outward(peer, own)};
  }
  CablePlace within_group(SwitchIndex s, SwitchIndex peer) const {
    const auto leaves = (topology_.leaf(s) ? 1 : 0) + (topology_.leaf(peer) ? 1 : 0);
    const auto kind = leaves == 2   ? Kind::between_leaves
                      : leaves == 1 ? Kind::leaf_and_spine
                                    : Kind::between_spines;
    return {kind, std::min(s, peer), std::max(s, peer)};
  }
  CablePlace outward(SwitchIndex s, std::uint32_t group) const {
    return {topology_.leaf(s) ? Kind::from_leaf : Kind::from_spine, s, group};
  }

  template <class Fn>
  void for_each_place(const Fn& fn) const {
    const auto all = static_cast<std::uint32_t>(groups_.members.size());
    for (std::uint32_t group = 0; group < all; ++group) {
      const auto& members = groups_.members[group];
      for (std::size_t i = 0; i < members.size(); ++i) {
        for (std::size_t j = i + 1; j < members.size(); ++j) fn(within_group(members[i], members[j]));
        for (std::uint32_t other = 0; other < all; ++other) {
          if (other != group) fn(outward(members[i], other));
        }
      }
      for (auto other = group + 1; other < all; ++other) fn(CablePlace{Kind::between_groups, group, other});
    }
  }

  std::int64_t cables(const CablePlace& place) const {
    const auto at = cables_.find(place);
    return at != cables_.end() ? at->second : 0;
  }

  /// By kind of place the number of cables that most have. Switches of a dragonfly lead to some
  /// groups only.
  void learn() {
    std::array<std::map<std::int64_t, std::size_t>, kPlaceKinds> counts;
    for_each_place(
        [&](const CablePlace& place) { ++counts[static_cast<std::size_t>(place.kind)][cables(place)]; });
    for (std::size_t kind = 0; kind < kPlaceKinds; ++kind) {
      usual_[kind] = most_frequent(counts[kind]);
      const bool within = static_cast<Kind>(kind) < Kind::between_groups;
      regular_ = regular_ && (!within || counts[kind].empty() || usual_[kind]);
    }
    regular_ = regular_ && usual(Kind::between_groups).value_or(0) != 0;
    if (topology_.leaves().size() == topology_.switches()) usual(Kind::from_leaf) = std::nullopt;
    if (usual(Kind::from_spine) == 0) usual(Kind::from_spine) = std::nullopt;
  }

  std::optional<std::int64_t>& usual(Kind kind) { return usual_[static_cast<std::size_t>(kind)]; }
  const std::optional<std::int64_t>& usual(Kind kind) const { return usual_[static_cast<std::size_t>(kind)]; }

  /// By how many cables a place with so many deviates.
  std::uint64_t deviation(const CablePlace& place, std::int64_t count) const {
    const auto wanted = usual(place.kind).value_or(count);
    return static_cast<std::uint64_t>(std::max(count, wanted) - std::min(count, wanted));
  }
  std::uint64_t deviation() const {
    std::uint64_t sum = 0;
    for_each_place([&](const CablePlace& place) { sum += deviation(place, cables(place)); });
    return sum;
  }

  /// Cables at places that have too many.
  std::vector<CableEnds> find_suspects() const {
    std::vector<CableEnds> suspects;
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto [peer, ports] = topology_.group(s, g);
        if (peer < s) continue;
        const bool many = std::ranges::any_of(places_of(s, peer), [&](const CablePlace& place) {
          return cables(place) > usual(place.kind).value_or(cables(place));
        });
        for (const auto port : ports) {
          if (many) suspects.push_back({s, port, peer, topology_.peer(s, port).port});
        }
      }
    }
    return suspects;
  }

  /// Whether nothing deviates with the second ends of both cables exchanged. `all`: what deviates now.
  bool settles(const CableEnds& one, const CableEnds& other, std::uint64_t all) const {
    if (one.a == other.b || other.a == one.b) return false;
    Change change;
    for (const auto& place : places_of(one.a, one.b)) --change[place];
    for (const auto& place : places_of(other.a, other.b)) --change[place];
    for (const auto& place : places_of(one.a, other.b)) ++change[place];
    for (const auto& place : places_of(other.a, one.b)) ++change[place];
    std::uint64_t before = 0, after = 0;
    for (const auto& [place, more] : change) {
      before += deviation(place, cables(place));
      after += deviation(place, cables(place) + more);
    }
    return after == 0 && before == all;
  }

  const Topology& topology_;
  CabledGroups groups_;
  std::map<CablePlace, std::int64_t> cables_;  ///< of places that have some
  std::array<std::optional<std::int64_t>, kPlaceKinds> usual_{};
  bool regular_ = true;  ///< groups are cabled alike inside, and with each other
};

}  // namespace

std::optional<Topology> check_group_swaps(const HealthInput& in, Health& health) {
  std::vector<CableSwap> found;
  for (auto& groups : find_cabled_groups(in.topology)) {
    const auto swaps = GroupCables(in.topology, std::move(groups)).find();
    found.insert(found.end(), swaps.begin(), swaps.end());
  }
  if (found.empty()) return std::nullopt;
  std::ranges::sort(found, {}, [&](const CableSwap& swap) {
    return std::tuple(off_ports(in.topology, swap), swap.a, swap.a_port, swap.b, swap.b_port);
  });
  health.findings.push_back(describe_all(in, found));
  return with_swap(in.topology, found.front());
}

}  // namespace smd::routing::inline cabling
