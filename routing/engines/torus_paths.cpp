// SPDX-License-Identifier: Apache-2.0
// The link that is crossed is the dateline of Dally and Seitz, "Deadlock-Free Message Routing in
// Multiprocessor Interconnection Networks", 1987. There packets change their channel at it; here a pair has
// one layer all along its path and the path back.
#include "routing/engines/torus_paths.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "routing/engines/lattice.h"

namespace smd::routing::inline engines {
namespace {

/// Below, greedy layers are fewer, and found fast.
constexpr std::size_t kFewSwitches = 300;
constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

/// One dimension: how its switches are cabled, the same in all its lines.
struct Axis {
  enum class Kind : std::uint8_t { path, ring, complete };
  Kind kind = Kind::path;
  std::uint32_t size = 0;
  std::vector<std::uint32_t> place;  ///< by coordinate: the position along the path or ring
};

/// The positions along the first line; nothing where it is none of the three.
std::optional<Axis> axis_of(const Topology& topology, const Lattice& lattice, std::size_t d,
                            std::span<const SwitchIndex> line) {
  const auto coordinate = [&](SwitchIndex s) { return lattice.of(s)[d]; };
  const auto n = static_cast<std::uint32_t>(line.size());
  std::vector<std::vector<SwitchIndex>> beside(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::size_t g = 0; g < topology.groups(line[i]); ++g) {
      const auto peer = topology.group(line[i], g).peer;
      if (std::ranges::find(line, peer) != line.end()) beside[i].push_back(peer);
    }
  }
  Axis axis{.size = n, .place = std::vector<std::uint32_t>(coordinate(line.back()) + 1, kNoPlace)};
  if (std::ranges::all_of(beside, [&](const auto& b) { return b.size() + 1 == n; })) {
    axis.kind = Axis::Kind::complete;
    for (std::uint32_t i = 0; i < n; ++i) axis.place[coordinate(line[i])] = i;
    return axis;
  }
  const auto ends = std::ranges::count_if(beside, [](const auto& b) { return b.size() == 1; });
  if (std::ranges::any_of(beside, [](const auto& b) { return b.empty() || b.size() > 2; }))
    return std::nullopt;
  axis.kind = ends == 0 ? Axis::Kind::ring : Axis::Kind::path;
  const auto index = [&](SwitchIndex s) {
    return static_cast<std::size_t>(std::ranges::find(line, s) - line.begin());
  };
  auto at = line[ends == 0 ? 0 : index(*std::ranges::find_if(line, [&](auto s) {
    return beside[index(s)].size() == 1;
  }))];
  for (std::uint32_t place = 0; place < n; ++place) {
    axis.place[coordinate(at)] = place;
    const auto next = std::ranges::find_if(
        beside[index(at)], [&](SwitchIndex s) { return axis.place[coordinate(s)] == kNoPlace; });
    if (next == beside[index(at)].end()) return place + 1 == n ? std::optional(axis) : std::nullopt;
    at = *next;
  }
  return std::nullopt;
}

/// A whole lattice with rings: positions instead of coordinates, and who is where.
class Torus {
 public:
  static std::optional<Torus> find(const Topology& topology, const ChannelNet& net) {
    const auto lattice = find_lattice(topology);
    if (!lattice) return std::nullopt;
    Torus torus(net);
    for (std::size_t d = 0; d < lattice->dimensions; ++d) {
      const auto lines = lines_of(*lattice, d);
      auto axis = axis_of(topology, *lattice, d, lines.line(0));
      if (!axis) return std::nullopt;
      torus.axes_.push_back(*std::move(axis));
    }
    if (torus.rings() == 0 || !torus.place(topology, *lattice)) return std::nullopt;
    return torus;
  }

  unsigned rings() const {
    return static_cast<unsigned>(
        std::ranges::count(axes_, Axis::Kind::ring, [](const Axis& axis) { return axis.kind; }));
  }

  /// The switch after `from` on the way to `to`.
  SwitchIndex next(SwitchIndex from, SwitchIndex to) const {
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const auto a = at(from, d), b = at(to, d);
      if (a == b) continue;
      const auto& axis = axes_[d];
      const auto place = axis.kind == Axis::Kind::complete ? b
                         : (a < b) != crosses(from, to, d) ? (a + 1) % axis.size
                                                           : (a + axis.size - 1) % axis.size;
      return switch_at_[index_[from] + (std::size_t{place} - a) * stride_[d]];
    }
    return to;
  }

  /// There both ways round are equally long for some pairs.
  bool has_even_ring() const {
    return std::ranges::any_of(
        axes_, [](const Axis& axis) { return axis.kind == Axis::Kind::ring && axis.size % 2 == 0; });
  }

  /// A bit for each ring whose certain link the path crosses.
  unsigned layer(SwitchIndex a, SwitchIndex b) const {
    unsigned bits = 0, ring = 0;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      if (axes_[d].kind != Axis::Kind::ring) continue;
      bits |= (crosses(a, b, d) ? 1U : 0U) << ring++;
    }
    return bits;
  }

 private:
  explicit Torus(const ChannelNet& net) : net_(&net) {}

  std::uint32_t at(SwitchIndex s, std::size_t d) const { return places_[s * axes_.size() + d]; }

  /// Whether the path crosses the certain link of its ring, that between the last and the first place. The
  /// same for both directions: it depends on nothing that a path has changed before it comes to the ring.
  bool crosses(SwitchIndex a, SwitchIndex b, std::size_t d) const {
    if (axes_[d].kind != Axis::Kind::ring) return false;
    const auto one = at(a, d), other = at(b, d);
    const auto apart = 2 * (std::max(one, other) - std::min(one, other));
    if (apart != axes_[d].size) return apart > axes_[d].size;
    auto turn = std::min(one, other);
    for (auto e = d + 1; e < axes_.size(); ++e) turn += at(a, e) + at(b, e);
    return turn % 2 == 1;
  }

  /// False if two switches have one place, some place is empty, or neighbours are not next to each other.
  bool place(const Topology& topology, const Lattice& lattice) {
    std::size_t places = 1;
    for (const auto& axis : axes_) {
      stride_.push_back(places);
      places *= axis.size;
      if (places > topology.switches()) return false;
    }
    if (places != topology.switches()) return false;
    switch_at_.assign(places, kNoSwitch);
    for (SwitchIndex s = 0; s < places; ++s) {
      std::size_t index = 0;
      for (std::size_t d = 0; d < axes_.size(); ++d) {
        const auto coordinate = lattice.of(s)[d];
        if (coordinate >= axes_[d].place.size() || axes_[d].place[coordinate] == kNoPlace) return false;
        places_.push_back(axes_[d].place[coordinate]);
        index += places_.back() * stride_[d];
      }
      if (std::exchange(switch_at_[index], s) != kNoSwitch) return false;
      index_.push_back(index);
    }
    return cabled(topology);
  }

  /// Whether all cables that paths take are there.
  bool cabled(const Topology& topology) const {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t d = 0; d < axes_.size(); ++d) {
        for (std::uint32_t place = 0; place < axes_[d].size; ++place) {
          const auto apart = (place + axes_[d].size - at(s, d)) % axes_[d].size;
          const bool ahead = apart == 1 && (place != 0 || axes_[d].kind == Axis::Kind::ring);
          if (!ahead && (apart == 0 || axes_[d].kind != Axis::Kind::complete)) continue;
          const auto peer = switch_at_[index_[s] + (std::size_t{place} - at(s, d)) * stride_[d]];
          const auto out = net_->by_port(s);
          if (std::ranges::none_of(out, [&](NetChannel c) { return net_->head(c) == peer; })) return false;
        }
      }
    }
    return true;
  }

  const ChannelNet* net_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> stride_;     ///< by dimension
  std::vector<std::uint32_t> places_;   ///< by (switch, dimension)
  std::vector<std::size_t> index_;      ///< by switch: the sum of its places by strides
  std::vector<SwitchIndex> switch_at_;  ///< by that index
};

LayeredTrees paths_on(const Torus& torus, const RoutingContext& in, const ChannelNet& net) {
  const auto n = net.switches();
  LayeredTrees found{{PathTrees(n)}, {.count = 1U << torus.rings(), .by_lid = {}, .by_pair = PairLayers(n)}};
  in.parallel.for_each(n, [&](std::size_t i) {
    const auto from = static_cast<SwitchIndex>(i);
    for (SwitchIndex to = 0; to < n && !in.stop.stop_requested(); ++to) {
      if (to == from) continue;
      const auto peer = torus.next(from, to);
      for (auto c = net.first(from); c < net.first(from + 1); ++c) {
        if (net.head(c) == peer)
          found.planes.front().next(to, from) = static_cast<std::uint8_t>(c - net.first(from));
      }
      if (to < from) found.layers.by_pair.set(from, to, torus.layer(from, to));
    }
  });
  return found;
}

/// Host pairs whose first paths go through the most loaded channel.
std::uint64_t load_of(const RoutingContext& in, const ChannelNet& net, const LayeredTrees& paths) {
  std::vector<std::uint64_t> load;
  for (SwitchIndex from = 0; from < net.switches(); ++from) {
    for (SwitchIndex to = 0; to < net.switches(); ++to) {
      for_each_channel(net, paths.planes.front(), from, to, [&](NetChannel c) {
        load.resize(std::max(load.size(), std::size_t{c} + 1));
        load[c] += std::uint64_t{in.topology.hosts(from)} * in.topology.hosts(to);
      });
    }
  }
  return load.empty() ? 0 : *std::ranges::max_element(load);
}

}  // namespace

std::expected<LayeredTrees, RouteError> paths_in_order(const RoutingContext& in, const ChannelNet& net,
                                                       unsigned most_layers) {
  auto torus = Torus::find(in.topology, net);
  if (torus && (torus->rings() > 6 || (1U << torus->rings()) > most_layers)) torus.reset();
  if (torus && (torus->has_even_ring() || net.switches() > kFewSwitches)) return paths_on(*torus, in, net);
  auto paths = in_layers(in, net, breadth_first_trees(in, net), most_layers);
  if (!paths && torus && paths.error().cause == RouteError::Cause::too_few_vls)
    return paths_on(*torus, in, net);
  if (!paths || !torus || paths->layers.count < (1U << torus->rings())) return paths;
  auto even = paths_on(*torus, in, net);
  if (load_of(in, net, even) < load_of(in, net, *paths)) return even;
  return paths;
}

}  // namespace smd::routing::inline engines
