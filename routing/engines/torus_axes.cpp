// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/torus_axes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "routing/engines/coordinates.h"
#include "routing/engines/lattice.h"

namespace smd::routing::inline engines {
namespace {

using Cause = RouteError::Cause;
constexpr std::uint32_t kNoPosition = ~std::uint32_t{0};

std::unexpected<RouteError> refused(Cause cause) { return std::unexpected(RouteError{cause, {}}); }

/// The coordinates of one dimension of a lattice in the order of the cables between them.
struct CoordinateOrder {
  std::vector<std::uint32_t> values;
  bool ring = false;
};

/// By coordinate the coordinates beside it; nothing if some has more than two.
std::optional<std::vector<std::vector<std::uint32_t>>> beside(const Topology& topology,
                                                              const Lattice& lattice, std::size_t d) {
  std::vector<std::vector<std::uint32_t>> found;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto value = lattice.of(s)[d];
    if (value >= found.size()) found.resize(value + std::size_t{1});
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (only_difference(lattice, s, peer) != d) continue;
      const auto other = lattice.of(peer)[d];
      if (std::ranges::find(found[value], other) == found[value].end()) found[value].push_back(other);
      if (found[value].size() > 2) return std::nullopt;
    }
  }
  for (auto& values : found) std::ranges::sort(values);
  return found;
}

/// Nothing unless they are one path or one ring. Coordinates without a cable are left out. A path begins at
/// the lower end, a ring at the lowest coordinate, towards the lower one beside it.
std::optional<CoordinateOrder> order_of(const Topology& topology, const Lattice& lattice, std::size_t d) {
  const auto next = beside(topology, lattice, d);
  if (!next) return std::nullopt;
  const auto cabled = static_cast<std::size_t>(
      std::ranges::count_if(*next, [](const auto& values) { return !values.empty(); }));
  const auto end = std::ranges::find_if(*next, [](const auto& values) { return values.size() == 1; });
  CoordinateOrder order{.values = {}, .ring = end == next->end()};
  const auto start = order.ring ? std::ranges::find_if(*next, [](const auto& v) { return !v.empty(); }) : end;
  if (start == next->end()) return std::nullopt;
  std::vector<bool> taken(next->size());
  for (auto at = static_cast<std::uint32_t>(start - next->begin()); at != kNoPosition;) {
    order.values.push_back(at);
    taken[at] = true;
    const auto& onward = (*next)[at];
    const auto to = std::ranges::find_if(onward, [&](auto value) { return !taken[value]; });
    at = to != onward.end() ? *to : kNoPosition;
  }
  if (order.values.size() != cabled) return std::nullopt;
  return order;
}

/// One dimension of the torus: one of the lattice, or two of two switches each that are a ring of four.
struct TorusAxis {
  std::vector<std::size_t> parts;
  std::vector<std::vector<std::uint32_t>> position;  ///< by part and coordinate; of two parts: 0 or 1
  std::uint32_t size = 1;
  bool ring = false;
  std::uint32_t shift = 0;  ///< to be added

  /// kNoPosition: none.
  std::uint32_t at(std::span<const std::uint32_t> coordinates) const {
    std::array<std::uint32_t, 2> found{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto value = coordinates[parts[i]];
      if (value >= position[i].size() || position[i][value] == kNoPosition) return kNoPosition;
      found[i] = position[i][value];
    }
    // Round a square: 00, 10, 11, 01.
    const auto along = parts.size() == 1 ? found[0] : found[1] == 0 ? found[0] : 3 - found[0];
    return (along + shift) % size;
  }
};

/// By coordinate its position when `values` is rotated so that it begins with `first`.
std::vector<std::uint32_t> positions(std::span<const std::uint32_t> values, std::uint32_t first) {
  std::vector<std::uint32_t> found(*std::ranges::max_element(values) + std::size_t{1}, kNoPosition);
  const auto n = static_cast<std::uint32_t>(values.size());
  const auto origin = static_cast<std::uint32_t>(std::ranges::find(values, first) - values.begin());
  for (std::uint32_t i = 0; i < n; ++i) found[values[i]] = (i + n - origin) % n;
  return found;
}

/// Dimensions of the lattice in their order, and axes of them.
class AxisFinder {
 public:
  AxisFinder(const Topology& topology, const Lattice& lattice) : topology_(topology), lattice_(lattice) {}

  /// False unless all dimensions are paths or rings.
  bool find_orders() {
    for (std::size_t d = 0; d < lattice_.dimensions; ++d) {
      auto order = order_of(topology_, lattice_, d);
      if (!order) return false;
      orders_.push_back(*std::move(order));
    }
    return true;
  }

  /// Nothing if there are more than three.
  std::optional<std::vector<TorusAxis>> by_size() const {
    std::vector<TorusAxis> axes;
    std::vector<std::size_t> twos;
    for (std::size_t d = 0; d < orders_.size(); ++d) {
      if (orders_[d].values.size() == 2) {
        twos.push_back(d);
      } else {
        axes.push_back(axis_of(d, orders_[d].ring ? lattice_.of(0)[d] : orders_[d].values.front()));
      }
    }
    for (std::size_t i = 0; i < twos.size(); i += 2) {
      axes.push_back(i + 1 < twos.size() ? square_of(twos[i], twos[i + 1], 0)
                                         : axis_of(twos[i], lattice_.of(0)[twos[i]]));
    }
    if (axes.size() > kTorusDimensions) return std::nullopt;
    std::ranges::sort(axes, {},
                      [](const TorusAxis& axis) { return std::pair(axis.size, axis.parts.front()); });
    return axes;
  }

  /// By dimension of the configuration; those of size 1 have no parts. Nothing if the cabling is another.
  std::optional<std::vector<TorusAxis>> by_seed(const base::TorusConf& conf,
                                                const base::TorusConf::Seed& seed) const {
    std::vector<TorusAxis> axes(kTorusDimensions);
    std::vector<bool> used(orders_.size());
    for (std::size_t d = 0; d < kTorusDimensions; ++d) {
      if (conf.size[d] < 2) continue;
      auto axis = seeded_axis(conf, seed, d);
      if (!axis) return std::nullopt;
      for (const auto part : axis->parts) {
        if (used[part]) return std::nullopt;
        used[part] = true;
      }
      axes[d] = *std::move(axis);
    }
    if (std::ranges::find(used, false) != used.end()) return std::nullopt;
    return axes;
  }

 private:
  TorusAxis axis_of(std::size_t d, std::uint32_t first) const {
    const auto& [values, ring] = orders_[d];
    return {{d}, {positions(values, first)}, static_cast<std::uint32_t>(values.size()), ring, 0};
  }

  /// Of two dimensions of two switches, with `origin` at position 0.
  TorusAxis square_of(std::size_t one, std::size_t other, SwitchIndex origin) const {
    return {{one, other},
            {positions(orders_[one].values, lattice_.of(origin)[one]),
             positions(orders_[other].values, lattice_.of(origin)[other])},
            4,
            true,
            0};
  }

  std::optional<TorusAxis> seeded_axis(const base::TorusConf& conf, const base::TorusConf::Seed& seed,
                                       std::size_t d) const {
    const auto from = topology_.find(seed.from);
    const auto size = conf.size[d];
    const auto shift =
        static_cast<std::uint32_t>((static_cast<int>(size) - seed.dateline[d]) % static_cast<int>(size));
    const auto part_of = [&](const std::optional<Guid>& to) {
      return to ? only_difference(lattice_, from, topology_.find(*to)) : kNoDimension;
    };
    const auto plus = part_of(seed.plus[d]), minus = part_of(seed.minus[d]);
    if ((seed.plus[d] && plus == kNoDimension) || (seed.minus[d] && minus == kNoDimension))
      return std::nullopt;
    if (seed.plus[d] && seed.minus[d] && plus != minus) {
      const bool square = size == 4 && orders_[plus].values.size() == 2 && orders_[minus].values.size() == 2;
      if (!square) return std::nullopt;
      auto axis = square_of(plus, minus, from);
      axis.ring = !conf.mesh[d];
      axis.shift = shift;
      return axis;
    }
    auto axis = axis_of(seed.plus[d] ? plus : minus, lattice_.of(from)[seed.plus[d] ? plus : minus]);
    if (axis.size != size) return std::nullopt;
    if (!turn_to(axis, seed, d)) return std::nullopt;
    axis.shift = shift;
    // Of a ring that the file calls a path the link between the last place and place 0 is not used.
    const bool is_path = !axis.ring;
    axis.ring = !conf.mesh[d];
    if (conf.mesh[d] && is_path && !fits_path(axis)) return std::nullopt;
    return axis;
  }

  /// Lets positions rise in the seed's positive direction; false if its neighbours are none.
  bool turn_to(TorusAxis& axis, const base::TorusConf::Seed& seed, std::size_t d) const {
    const auto part = axis.parts.front();
    auto& position = axis.position.front();
    const auto is_at = [&](const std::optional<Guid>& guid, std::uint32_t place) {
      return guid && position[lattice_.of(topology_.find(*guid))[part]] == place;
    };
    const auto last = axis.size - 1;
    const bool back = seed.plus[d] ? !is_at(seed.plus[d], 1) : !is_at(seed.minus[d], last);
    if (back) {
      for (auto& value : position) value = value == kNoPosition ? value : (axis.size - value) % axis.size;
    }
    return (!seed.plus[d] || is_at(seed.plus[d], 1)) && (!seed.minus[d] || is_at(seed.minus[d], last));
  }

  /// Whether the ends of the path are the first and the last position.
  bool fits_path(const TorusAxis& axis) const {
    const auto& values = orders_[axis.parts.front()].values;
    const auto at = [&](std::uint32_t value) {
      return (axis.position.front()[value] + axis.shift) % axis.size;
    };
    const auto one = at(values.front()), other = at(values.back());
    return std::min(one, other) == 0 && std::max(one, other) == axis.size - 1;
  }

  const Topology& topology_;
  const Lattice& lattice_;
  std::vector<CoordinateOrder> orders_;  ///< by dimension of the lattice
};

bool is_whole(const Topology& topology, const base::TorusConf& conf, const base::TorusConf::Seed& seed) {
  const auto there = [&](const std::optional<Guid>& guid) {
    return !guid || topology.find(*guid) != kNoSwitch;
  };
  for (std::size_t d = 0; d < kTorusDimensions; ++d) {
    if (conf.size[d] > 1 && !(there(seed.plus[d]) && there(seed.minus[d]))) return false;
  }
  return topology.find(seed.from) != kNoSwitch;
}

TorusPlaces places_by(const Topology& topology, const Lattice& lattice, const std::vector<TorusAxis>& axes) {
  TorusPlaces places{.of_switch = std::vector<std::optional<TorusPlace>>(topology.switches())};
  for (std::size_t d = 0; d < axes.size(); ++d) {
    places.size[d] = axes[d].size;
    places.ring[d] = axes[d].ring;
  }
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    TorusPlace place{};
    bool placed = true;
    for (std::size_t d = 0; d < axes.size() && placed; ++d) {
      place[d] = axes[d].at(lattice.of(s));
      placed = place[d] != kNoPosition;
    }
    if (placed) places.of_switch[s] = place;
  }
  return places;
}

}  // namespace

std::expected<TorusPlaces, RouteError> find_torus_places(const Topology& topology,
                                                         const base::TorusConf* conf) {
  const auto cause = conf != nullptr ? Cause::other_torus : Cause::not_a_torus;
  const base::TorusConf::Seed* seed = nullptr;
  if (conf != nullptr) {
    const auto whole =
        std::ranges::find_if(conf->seeds, [&](const auto& one) { return is_whole(topology, *conf, one); });
    if (whole == conf->seeds.end()) return refused(Cause::no_seed);
    seed = &*whole;
  }
  const auto lattice = find_lattice(topology);
  if (!lattice) return refused(cause);
  AxisFinder finder(topology, *lattice);
  if (!finder.find_orders()) return refused(cause);
  const auto axes = seed != nullptr ? finder.by_seed(*conf, *seed) : finder.by_size();
  if (!axes) return refused(cause);
  return places_by(topology, *lattice, *axes);
}

}  // namespace smd::routing::inline engines
