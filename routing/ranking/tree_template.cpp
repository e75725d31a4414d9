// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/tree_template.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace smd::routing {
namespace {

/// Sets that are joined step by step; each known by its first member.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::uint32_t{0}); }
  std::uint32_t first(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = first(a);
    b = first(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

bool above(const Order& order, SwitchIndex s, SwitchIndex peer) { return order.rank[peer] < order.rank[s]; }

/// Cables to one switch above.
struct Cables {
  SwitchIndex peer = 0;
  std::size_t count = 0;
  friend auto operator<=>(const Cables&, const Cables&) = default;
};

/// Switches with the very same cables upwards: one of them speaks for all.
struct Alike {
  std::vector<std::vector<Cables>> above;          ///< what each set of switches has above it, ascending
  std::vector<std::vector<SwitchIndex>> switches;  ///< which they are
};

std::size_t total(std::span<const Cables> above) {
  std::size_t all = 0;
  for (const auto& cables : above) all += cables.count;
  return all;
}

Alike group_by_above(const Topology& topology, const Order& order) {
  Alike alike;
  std::map<std::pair<std::int32_t, std::vector<Cables>>, std::size_t> known;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::vector<Cables> up;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (above(order, s, group.peer)) up.push_back({group.peer, group.ports.size()});
    }
    // Without anything above a switch is a family of its own rank and none of the others.
    auto key = std::pair(order.rank[s], up);
    const auto [at, fresh] = known.try_emplace(std::move(key), alike.above.size());
    if (fresh) {
      alike.above.push_back(std::move(up));
      alike.switches.emplace_back();
    }
    alike.switches[at->second].push_back(s);
  }
  return alike;
}

/// Joins sets of one rank that share more than half of what the smaller has above it, unless that is by half
/// of the cables only: of two switches whose cables changed places each has something of both families.
void join_similar(const Topology& topology, const Order& order, const Alike& alike, Sets& sets) {
  struct Below {
    std::uint32_t set;
    std::size_t cables;
  };
  struct Shared {
    std::size_t peers = 0, cables = 0;
  };
  std::vector<std::vector<Below>> below(topology.switches());  // sets by what is above them
  for (std::uint32_t i = 0; i < alike.above.size(); ++i) {
    for (const auto& [upper, cables] : alike.above[i]) below[upper].push_back({i, cables});
  }
  std::vector<Shared> shared(alike.above.size());
  std::vector<std::uint32_t> touched;
  for (std::uint32_t i = 0; i < alike.above.size(); ++i) {
    touched.clear();
    for (const auto& [upper, own] : alike.above[i]) {
      for (const auto& [other, cables] : below[upper]) {
        if (other <= i) continue;
        if (shared[other].peers++ == 0) touched.push_back(other);
        shared[other].cables += std::min(own, cables);
      }
    }
    for (const auto other : touched) {
      const auto smaller = std::min(alike.above[i].size(), alike.above[other].size());
      const auto cables = std::min(total(alike.above[i]), total(alike.above[other]));
      const auto [peers, both] = std::exchange(shared[other], {});
      const bool same_rank =
          order.rank[alike.switches[i].front()] == order.rank[alike.switches[other].front()];
      if (same_rank && peers * 2 > smaller && (peers == smaller || both * 2 > cables)) sets.join(i, other);
    }
  }
}

/// What a family of two has at one of them only is missing at the other, or too much.
enum class Doubt : std::uint8_t { missing, extra };

/// The most usual number; of equally usual ones the largest, or the smallest.
std::uint32_t usual(std::vector<std::uint32_t>& numbers, Doubt doubt) {
  std::ranges::sort(numbers);
  std::uint32_t best = 1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    if (end - i > most || (end - i == most && doubt == Doubt::missing)) best = numbers[i];
    most = std::max(most, end - i);
    i = end;
  }
  return best;
}

std::vector<UpSlot> find_slots(const Topology& topology, const Order& order, const Family& family,
                               Doubt doubt) {
  std::map<SwitchIndex, std::vector<std::uint32_t>> cables;
  for (const auto s : family.members) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (!above(order, s, group.peer)) continue;
      cables[group.peer].push_back(static_cast<std::uint32_t>(group.ports.size()));
    }
  }
  std::vector<UpSlot> slots;
  for (auto& [peer, counts] : cables) {
    const auto twice = counts.size() * 2 + (doubt == Doubt::missing ? 1 : 0);
    if (twice > family.members.size()) slots.push_back({peer, usual(counts, doubt)});
  }
  return slots;
}

std::size_t cables_of(std::span<const UpSlot> slots) {
  std::size_t cables = 0;
  for (const auto& slot : slots) cables += slot.cables;
  return cables;
}

/// The doubt is for missing cables, but where the family would have more than most switches of its rank have.
void find_all_slots(const Topology& topology, const Order& order, std::vector<Family>& families) {
  std::map<std::int32_t, std::map<std::size_t, std::size_t>> wanting;  // switches of a rank by cables
  for (auto& family : families) {
    family.slots = find_slots(topology, order, family, Doubt::missing);
    wanting[order.rank[family.members.front()]][cables_of(family.slots)] += family.members.size();
  }
  for (auto& family : families) {
    const auto& numbers = wanting[order.rank[family.members.front()]];
    const auto usual = std::ranges::max_element(numbers, {}, [](const auto& entry) { return entry.second; });
    if (cables_of(family.slots) <= usual->first) continue;
    auto slots = find_slots(topology, order, family, Doubt::extra);
    if (cables_of(slots) >= usual->first) family.slots = std::move(slots);
  }
}

/// Families of which switches above are gone altogether are told by the others of their rank, if those agree:
/// what is missing stands where the others have the kin of it, else at the end. A family that has less than
/// half of what is usual was built so.
class Gone {
 public:
  Gone(const Order& order, Shape& shape) : order_(order), shape_(shape) {}

  void find() {
    std::map<std::int32_t, std::vector<std::uint32_t>> ranks;
    for (std::uint32_t f = 0; f < shape_.families.size(); ++f) {
      if (!shape_.families[f].slots.empty())
        ranks[order_.rank[shape_.families[f].members.front()]].push_back(f);
    }
    for (const auto& [rank, families] : ranks) compare(families);
  }

 private:
  /// The families of the switches above.
  std::vector<std::uint32_t> above(const Family& family) const {
    std::vector<std::uint32_t> kin;
    for (const auto& slot : family.slots) kin.push_back(shape_.family[slot.peer]);
    return kin;
  }

  void compare(std::span<const std::uint32_t> families) {
    std::map<std::size_t, std::size_t> members;
    std::size_t all = 0;
    for (const auto f : families) {
      members[shape_.families[f].slots.size()] += shape_.families[f].members.size();
      all += shape_.families[f].members.size();
    }
    const auto usual = std::ranges::max_element(members, {}, [](const auto& entry) { return entry.second; });
    if (usual->second * 2 <= all) return;
    const auto whole = std::ranges::find_if(
        families, [&](auto f) { return shape_.families[f].slots.size() == usual->first; });
    const auto model = above(shape_.families[*whole]);
    for (const auto f : families) {
      auto& family = shape_.families[f];
      const auto have = family.slots.size();
      if (have < usual->first && have * 2 >= usual->first) fill(model, family);
    }
  }

  void fill(const std::vector<std::uint32_t>& model, Family& family) const {
    const auto own = above(family);
    std::size_t at = 0;
    for (const auto kin : model) {
      if (at < own.size() && own[at] == kin) {
        ++at;
      } else {
        family.gone.push_back(static_cast<std::uint32_t>(at));
      }
    }
    if (at == own.size() && own.size() + family.gone.size() == model.size()) return;
    family.gone.assign(model.size() - own.size(), static_cast<std::uint32_t>(own.size()));
  }

  const Order& order_;
  Shape& shape_;
};

}  // namespace

std::size_t Family::place(std::size_t slot) const {
  return slot + static_cast<std::size_t>(std::ranges::upper_bound(gone, slot) - gone.begin());
}

Shape find_shape(const Topology& topology, const Order& order) {
  const auto alike = group_by_above(topology, order);
  Sets sets(alike.above.size());
  join_similar(topology, order, alike, sets);
  std::vector<std::uint32_t> set_of(topology.switches());
  for (std::uint32_t i = 0; i < alike.switches.size(); ++i) {
    for (const auto s : alike.switches[i]) set_of[s] = sets.first(i);
  }
  Shape shape;
  shape.family.resize(topology.switches());
  shape.place.resize(topology.switches());
  constexpr auto kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(alike.above.size(), kNone);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& family = number[set_of[s]];
    if (family == kNone) {
      family = static_cast<std::uint32_t>(shape.families.size());
      shape.families.emplace_back();
    }
    auto& members = shape.families[family].members;
    shape.family[s] = family;
    shape.place[s] = static_cast<std::uint32_t>(members.size());
    members.push_back(s);
  }
  find_all_slots(topology, order, shape.families);
  Gone(order, shape).find();
  return shape;
}

}  // namespace smd::routing
