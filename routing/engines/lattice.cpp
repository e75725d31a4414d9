// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/lattice.h"

#include <algorithm>
#include <numeric>

#include "routing/engines/coordinates.h"

namespace smd::routing::inline engines {
namespace {

/// Compares by all coordinates but that of `last`, then by that one.
class InLines {
 public:
  InLines(const Lattice& lattice, std::size_t last) : lattice_(lattice), last_(last) {}
  bool same_line(SwitchIndex a, SwitchIndex b) const { return order_of_lines(a, b) == 0; }
  bool operator()(SwitchIndex a, SwitchIndex b) const {
    const auto order = order_of_lines(a, b);
    return order != 0 ? order < 0 : lattice_.of(a)[last_] < lattice_.of(b)[last_];
  }

 private:
  int order_of_lines(SwitchIndex a, SwitchIndex b) const {
    const auto one = lattice_.of(a), other = lattice_.of(b);
    for (std::size_t d = 0; d < one.size(); ++d) {
      if (d != last_ && one[d] != other[d]) return one[d] < other[d] ? -1 : 1;
    }
    return 0;
  }
  const Lattice& lattice_;
  std::size_t last_;
};

/// Paths and rings, or nearly all cables of complete graphs.
bool known_lines(const SwitchLinks& links, const Lattice& lattice, std::size_t d) {
  const auto lines = lines_of(lattice, d);
  std::uint64_t pairs = 0, cabled = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::uint64_t n = lines.line(i).size();
    pairs += n * (n - 1) / 2;
  }
  std::vector<std::uint32_t> degree(links.topology().switches());
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const auto [a, b] = links.ends(link);
    if (only_difference(lattice, a, b) != d) continue;
    ++cabled;
    ++degree[a];
    ++degree[b];
  }
  return 10 * cabled >= 7 * pairs || std::ranges::all_of(degree, [](auto n) { return n <= 2; });
}

/// No place is taken twice, and nearly all links are between switches of a line.
bool sound(const SwitchLinks& links, const Lattice& lattice) {
  const auto lines = lines_of(lattice, 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = lines.line(i);
    const auto twice = std::ranges::adjacent_find(line, {}, [&](auto s) { return lattice.of(s)[0]; });
    if (twice != line.end()) return false;
  }
  std::size_t strays = 0;
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const auto [a, b] = links.ends(link);
    if (only_difference(lattice, a, b) == kNoDimension) ++strays;
  }
  if (4 * strays > links.size()) return false;
  for (std::size_t d = 0; d < lattice.dimensions; ++d) {
    if (!known_lines(links, lattice, d)) return false;
  }
  return true;
}

}  // namespace

LatticeLines lines_of(const Lattice& lattice, std::size_t d) {
  LatticeLines lines;
  lines.switches.resize(lattice.coordinates.size() / lattice.dimensions);
  std::iota(lines.switches.begin(), lines.switches.end(), SwitchIndex{0});
  const InLines order(lattice, d);
  std::ranges::sort(lines.switches, order);
  for (std::uint32_t i = 0; i < lines.switches.size(); ++i) {
    if (i == 0 || !order.same_line(lines.switches[i - 1], lines.switches[i])) lines.begin.push_back(i);
  }
  lines.begin.push_back(static_cast<std::uint32_t>(lines.switches.size()));
  return lines;
}

std::optional<Lattice> find_lattice(const Topology& topology) {
  const SwitchLinks links(topology);
  const auto dimensions = find_dimensions(links);
  if (dimensions.count == 0) return std::nullopt;
  auto lattice = join_coordinates(links, dimensions);
  place_rest(links, lattice);
  if (!sound(links, lattice)) return std::nullopt;
  return lattice;
}

}  // namespace smd::routing::inline engines
