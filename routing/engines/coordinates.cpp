// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/coordinates.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline engines {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// Numbers the sets by their first switch.
Numbers dense(DisjointSets& sets, std::size_t count) {
  Numbers number(count);
  std::uint32_t next = 0;
  for (std::uint32_t s = 0; s < count; ++s) number[s] = sets.first(s) == s ? next++ : number[sets.first(s)];
  return number;
}

/// A part of the fabric in which one coordinate is the same.
struct Part {
  Numbers lines;       ///< through it in that dimension, ascending
  Numbers neighbours;  ///< parts next to it in that dimension, ascending
};

std::size_t common(const Numbers& a, const Numbers& b) {
  Numbers both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both.size();
}

void sort_once(Numbers& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
}

/// Joins the parts of one dimension.
class PartJoin {
 public:
  PartJoin(const SwitchLinks& links, const Dimensions& dimensions, const Lattice& lattice, std::size_t d)
      : links_(links), dimensions_(dimensions), lattice_(lattice), d_(d) {}

  /// Joins `sets` (of switches) where most neighbours are the same, or where there is no other choice;
  /// whether anything was joined.
  bool run(DisjointSets& sets) {
    make_parts();
    auto pairs = candidates();
    std::vector<std::uint32_t> choices(parts_.size());
    for (const auto& pair : pairs) {
      ++choices[pair.a];
      ++choices[pair.b];
    }
    std::erase_if(pairs, [&](const Pair& pair) {
      return 2 * pair.common <= pair.all && (choices[pair.a] != 1 || choices[pair.b] != 1);
    });
    std::ranges::sort(pairs, [](const Pair& x, const Pair& y) {
      return std::tuple(y.common * x.all, y.common, x.a, x.b) <
             std::tuple(x.common * y.all, x.common, y.a, y.b);
    });
    std::vector<bool> taken(parts_.size());
    for (const auto& pair : pairs) {
      if (taken[pair.a] || taken[pair.b]) continue;
      taken[pair.a] = taken[pair.b] = true;
      sets.join(first_[pair.a], first_[pair.b]);
    }
    return !pairs.empty();
  }

 private:
  struct Pair {
    std::size_t common = 0, all = 0;  ///< neighbours
    std::uint32_t a = 0, b = 0;
  };

  /// Parts that may be one.
  std::vector<Pair> candidates() const {
    std::vector<Pair> pairs;
    for (std::uint32_t a = 0; a < parts_.size(); ++a) {
      if (parts_[a].lines.size() == lines_) continue;  // it is there in full
      for (std::uint32_t b = a + 1; b < parts_.size(); ++b) {
        const auto shared = common(parts_[a].neighbours, parts_[b].neighbours);
        if (shared == 0 || parts_[b].lines.size() == lines_ || !separate(a, b)) continue;
        pairs.push_back({shared, parts_[a].neighbours.size() + parts_[b].neighbours.size() - shared, a, b});
      }
    }
    return pairs;
  }

  /// They may be one part: not next to each other, and no line goes through both.
  bool separate(std::uint32_t a, std::uint32_t b) const {
    return !std::ranges::binary_search(parts_[a].neighbours, b) &&
           common(parts_[a].lines, parts_[b].lines) == 0;
  }

  void make_parts() {
    const auto lines = lines_of(lattice_, d_);
    lines_ = static_cast<std::uint32_t>(lines.size());
    for (std::uint32_t line = 0; line < lines_; ++line) {
      for (const auto s : lines.line(line)) {
        const auto part = lattice_.of(s)[d_];
        if (part >= parts_.size()) {
          parts_.resize(part + 1);
          first_.resize(part + 1);
        }
        parts_[part].lines.push_back(line);
        first_[part] = s;
      }
    }
    for (LinkIndex link = 0; link < links_.size(); ++link) {
      if (dimensions_.of[link] != d_) continue;
      const auto [a, b] = links_.ends(link);
      const auto one = lattice_.of(a)[d_], other = lattice_.of(b)[d_];
      parts_[one].neighbours.push_back(other);
      parts_[other].neighbours.push_back(one);
    }
    for (auto& part : parts_) {
      sort_once(part.lines);
      sort_once(part.neighbours);
    }
  }

  const SwitchLinks& links_;
  const Dimensions& dimensions_;
  const Lattice& lattice_;
  std::size_t d_;
  std::uint32_t lines_ = 0;
  std::vector<Part> parts_;
  std::vector<SwitchIndex> first_;  ///< by part one of its switches
};

/// Finds free places.
class Placement {
 public:
  Placement(const SwitchLinks& links, Lattice& lattice)
      : topology_(links.topology()),
        lattice_(lattice),
        sizes_(lattice.dimensions),
        placed_(topology_.switches()) {
    for (std::size_t d = 0; d < lattice.dimensions; ++d) count_sizes(d);
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      placed_[s] = usual(s);
      if (placed_[s]) occupied_.push_back(key(s));
    }
    std::ranges::sort(occupied_);
    for (LinkIndex link = 0; link < links.size(); ++link) note_step(links.ends(link));
    std::ranges::sort(steps_);
  }

  void run() {
    if (std::ranges::all_of(placed_, [](bool there) { return there; })) return;
    for (bool more = true; more;) {
      more = false;
      for (SwitchIndex s = 0; s < topology_.switches(); ++s) more = (!placed_[s] && place(s)) || more;
    }
  }

 private:
  using Place = Numbers;

  void count_sizes(std::size_t d) {
    auto& sizes = sizes_[d];
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto value = lattice_.of(s)[d];
      if (value >= sizes.size()) sizes.resize(value + 1);
      ++sizes[value];
    }
    const auto most = *std::ranges::max_element(sizes);
    for (auto& size : sizes) size = 4 * size >= most ? size : 0;
  }

  /// All its coordinates are those of many others.
  bool usual(SwitchIndex s) const {
    for (std::size_t d = 0; d < lattice_.dimensions; ++d) {
      if (sizes_[d][lattice_.of(s)[d]] == 0) return false;
    }
    return true;
  }

  Place key(SwitchIndex s) const { return {lattice_.of(s).begin(), lattice_.of(s).end()}; }

  static std::tuple<std::uint8_t, std::uint32_t, std::uint32_t> step(std::uint8_t d, std::uint32_t a,
                                                                     std::uint32_t b) {
    return {d, std::min(a, b), std::max(a, b)};
  }

  /// Coordinates that a link joins.
  void note_step(std::pair<SwitchIndex, SwitchIndex> ends) {
    if (!placed_[ends.first] || !placed_[ends.second]) return;
    const auto d = only_difference(lattice_, ends.first, ends.second);
    if (d != kNoDimension) steps_.push_back(step(d, lattice_.of(ends.first)[d], lattice_.of(ends.second)[d]));
  }

  bool place(SwitchIndex s) {
    std::vector<Place> candidates;
    bool any = false;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (!placed_[peer]) continue;
      auto here = free_places_next_to(peer);
      if (any)
        std::erase_if(candidates, [&](const Place& p) { return !std::ranges::binary_search(here, p); });
      if (!std::exchange(any, true)) candidates = std::move(here);
    }
    if (candidates.size() != 1) return false;
    std::ranges::copy(candidates.front(),
                      lattice_.coordinates.begin() + static_cast<std::ptrdiff_t>(s * lattice_.dimensions));
    placed_[s] = true;
    occupied_.insert(std::ranges::lower_bound(occupied_, candidates.front()), candidates.front());
    return true;
  }

  std::vector<Place> free_places_next_to(SwitchIndex peer) const {
    std::vector<Place> places;
    auto at = key(peer);
    for (std::size_t d = 0; d < lattice_.dimensions; ++d) {
      const auto own = at[d];
      for (std::uint32_t value = 0; value < sizes_[d].size(); ++value) {
        if (value == own || sizes_[d][value] == 0 ||
            !std::ranges::binary_search(steps_, step(static_cast<std::uint8_t>(d), own, value)))
          continue;
        at[d] = value;
        if (!std::ranges::binary_search(occupied_, at)) places.push_back(at);
      }
      at[d] = own;
    }
    std::ranges::sort(places);
    return places;
  }

  const Topology& topology_;
  Lattice& lattice_;
  std::vector<Numbers> sizes_;  ///< by dimension and coordinate its switches; 0: too few
  std::vector<bool> placed_;
  std::vector<Place> occupied_;
  std::vector<std::tuple<std::uint8_t, std::uint32_t, std::uint32_t>> steps_;
};

}  // namespace

std::uint8_t only_difference(const Lattice& lattice, SwitchIndex a, SwitchIndex b) {
  auto found = kNoDimension;
  for (std::size_t d = 0; d < lattice.dimensions; ++d) {
    if (lattice.of(a)[d] == lattice.of(b)[d]) continue;
    if (found != kNoDimension) return kNoDimension;
    found = static_cast<std::uint8_t>(d);
  }
  return found;
}

Lattice join_coordinates(const SwitchLinks& links, const Dimensions& dimensions) {
  const auto switches = links.topology().switches();
  std::vector<DisjointSets> same(dimensions.count, DisjointSets(switches));
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const auto [a, b] = links.ends(link);
    for (std::size_t d = 0; d < dimensions.count; ++d) {
      if (dimensions.of[link] != kNoDimension && dimensions.of[link] != d) same[d].join(a, b);
    }
  }
  Lattice lattice{dimensions.count, Numbers(switches * dimensions.count)};
  const auto renumber = [&](std::size_t d) {
    const auto numbers = dense(same[d], switches);
    for (SwitchIndex s = 0; s < switches; ++s) lattice.coordinates[s * lattice.dimensions + d] = numbers[s];
  };
  for (std::size_t d = 0; d < lattice.dimensions; ++d) renumber(d);
  if (lattice.dimensions < 2) return lattice;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t d = 0; d < lattice.dimensions; ++d) {
      if (!PartJoin(links, dimensions, lattice, d).run(same[d])) continue;
      renumber(d);
      more = true;
    }
  }
  return lattice;
}

void place_rest(const SwitchLinks& links, Lattice& lattice) { Placement(links, lattice).run(); }

}  // namespace smd::routing::inline engines
