// SPDX-License-Identifier: Apache-2.0
// In a lattice many links have equally many triangles and squares. Two swapped cables disturb that all
// around: the exchange that restores it most is tried first.
#include "routing/cabling/lattice_swaps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/cabling/swap_trial.h"
#include "routing/chain/shape.h"

namespace smd::routing::inline cabling {
namespace {

/// Smaller fabrics may be an exchange from a lattice by chance: by how many pairs of switches the exchange
/// has left with two cables, which it must take apart.
constexpr std::array<std::size_t, 3> kFewestOfLattice{16, 12, 9};
constexpr std::size_t kFewestOfFullMesh = 5;
constexpr std::size_t kMostLinks = 8192;
/// Links that few others are like.
constexpr std::size_t kMostStrays = 96;
/// Of exchanges so many are compared, with no more than so many steps, and so many tried.
constexpr std::size_t kMostCompared = 512, kMostSteps = std::size_t{1} << 28U, kMostTried = 64;

struct LatticeCable {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
  LatticeCable turned() const { return {b, b_port, a, a_port}; }
};

/// Two cables whose ends `b` are exchanged.
struct EndsExchange {
  LatticeCable one, other;
  std::uint64_t gain = 0;
  unsigned off_ports = 0;  ///< see off_ports()
};

class LatticeLinks {
 public:
  explicit LatticeLinks(const Topology& topology)
      : topology_(topology), neighbours_(topology.switches()), beside_(topology.switches()) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto [peer, ports] = topology.group(s, g);
        neighbours_[s].insert(neighbours_[s].end(), ports.size(), peer);
        if (ports.size() > 2) single_ = false;
        if (peer < s) continue;
        if (ports.size() == 2) doubled_.emplace_back(s, peer);
        for (const auto port : ports) cables_.push_back({s, port, peer, topology.peer(s, port).port});
      }
      most_ = std::max(most_, neighbours_[s].size());
    }
    if (cables_.size() > kMostLinks || doubled_.size() >= kFewestOfLattice.size()) single_ = false;
  }

  /// Pairs of switches with two cables.
  std::size_t doubled() const { return doubled_.size(); }

  /// Those that make links more alike, the best first.
  std::vector<CableSwap> find() {
    if (!single_) return {};
    for (const auto& cable : cables_) ++usual_[signature(cable.a, cable.b)];
    auto found = exchanges_of_strays();
    const auto now = alike({}, {});
    for (auto& exchange : found) {
      swap_ends(exchange.one, exchange.other);
      exchange.gain = alike(exchange.one, exchange.other);
      put_back(exchange.one, exchange.other);
      const auto &one = exchange.one, &other = exchange.other;
      exchange.off_ports = off_ports(topology_, {one.a, one.a_port, other.a, other.a_port});
    }
    std::erase_if(found, [&](const EndsExchange& exchange) { return exchange.gain <= now; });
    keep_best(found, kMostTried);
    std::vector<CableSwap> swaps;
    for (const auto& [one, other, gain, off] : found)
      swaps.push_back({one.a, one.a_port, other.a, other.a_port});
    return swaps;
  }

 private:
  using Signature = std::pair<std::size_t, std::size_t>;  ///< triangles, and squares

  Signature signature(SwitchIndex a, SwitchIndex b) {
    for (const auto peer : neighbours_[b]) beside_[peer] = true;
    beside_[a] = false;
    Signature found;
    for (const auto peer : neighbours_[a]) {
      if (peer == b) continue;
      found.first += beside_[peer] ? 1U : 0U;
      for (const auto next : neighbours_[peer]) found.second += beside_[next] ? 1U : 0U;
    }
    for (const auto peer : neighbours_[b]) beside_[peer] = false;
    return found;
  }

  std::size_t usual(SwitchIndex a, SwitchIndex b) {
    const auto at = usual_.find(signature(a, b));
    return at != usual_.end() ? at->second : 0;
  }

  void replace(SwitchIndex s, SwitchIndex from, SwitchIndex to) {
    *std::ranges::find(neighbours_[s], from) = to;
  }
  void swap_ends(const LatticeCable& one, const LatticeCable& other) {
    replace(one.a, one.b, other.b);
    replace(other.b, other.a, one.a);
    replace(other.a, other.b, one.b);
    replace(one.b, one.a, other.a);
  }
  void put_back(const LatticeCable& one, const LatticeCable& other) {
    swap_ends({one.a, one.a_port, other.b, other.b_port}, {other.a, other.a_port, one.b, one.b_port});
  }

  static void keep_best(std::vector<EndsExchange>& exchanges, std::size_t most) {
    std::ranges::sort(exchanges, {}, [](const EndsExchange& exchange) {
      const auto& [one, other, gain, off] = exchange;
      return std::tuple(~gain, off, one.a, one.a_port, other.a, other.a_port);
    });
    if (exchanges.size() > most) exchanges.resize(most);
  }

  /// Of links that few are like: those after which both are like most others.
  std::vector<EndsExchange> exchanges_of_strays() {
    auto strays = cables_;
    std::ranges::sort(strays, {}, [&](const LatticeCable& cable) {
      return std::tuple(!is_doubled(cable), usual(cable.a, cable.b), cable.a, cable.a_port);
    });
    if (strays.size() > kMostStrays) strays.resize(kMostStrays);
    std::vector<EndsExchange> found;
    for (std::size_t i = 0; i < strays.size(); ++i) {
      for (auto j = i + 1; j < strays.size(); ++j) {
        add(strays[i], strays[j], found);
        add(strays[i], strays[j].turned(), found);
      }
    }
    const auto steps = std::max<std::size_t>(cables_.size() * most_ * most_, 1);
    keep_best(found, std::min(kMostCompared, kMostSteps / steps));
    return found;
  }

  void add(const LatticeCable& one, const LatticeCable& other, std::vector<EndsExchange>& found) {
    const bool apart = one.a != other.a && one.a != other.b && one.b != other.a && one.b != other.b;
    if (!apart || !parts_doubled(one, other)) return;
    if (joined(one.a, other.b) || joined(other.a, one.b)) return;
    swap_ends(one, other);
    found.push_back({one, other, std::min(usual(one.a, other.b), usual(other.a, one.b))});
    put_back(one, other);
  }
  bool joined(SwitchIndex a, SwitchIndex b) const { return std::ranges::count(neighbours_[a], b) != 0; }

  static bool joins(const LatticeCable& cable, const std::pair<SwitchIndex, SwitchIndex>& ends) {
    return std::pair(std::min(cable.a, cable.b), std::max(cable.a, cable.b)) == ends;
  }
  bool is_doubled(const LatticeCable& cable) const {
    return std::ranges::any_of(doubled_, [&](const auto& ends) { return joins(cable, ends); });
  }
  bool parts_doubled(const LatticeCable& one, const LatticeCable& other) const {
    return std::ranges::all_of(doubled_,
                               [&](const auto& ends) { return joins(one, ends) || joins(other, ends); });
  }

  /// How alike links are: the sum over all of how many are like it. `one` and `other` have exchanged ends.
  std::uint64_t alike(const LatticeCable& one, const LatticeCable& other) {
    std::map<Signature, std::uint64_t> counts;
    const auto is = [](const LatticeCable& a, const LatticeCable& b) {
      return (a.a == b.a && a.a_port == b.a_port) || (a.a == b.b && a.a_port == b.b_port);
    };
    for (const auto& cable : cables_) {
      if (!is(cable, one) && !is(cable, other)) ++counts[signature(cable.a, cable.b)];
    }
    if (one.a != one.b) {
      ++counts[signature(one.a, other.b)];
      ++counts[signature(other.a, one.b)];
    }
    std::uint64_t sum = 0;
    for (const auto& [kind, count] : counts) sum += count * count;
    return sum;
  }

  const Topology& topology_;
  std::vector<std::vector<SwitchIndex>> neighbours_;  ///< one element per cable
  std::vector<bool> beside_;
  std::vector<LatticeCable> cables_;
  std::map<Signature, std::size_t> usual_;
  std::vector<std::pair<SwitchIndex, SwitchIndex>> doubled_;  ///< switches with two cables, ascending
  std::size_t most_ = 0;                                      ///< cables of a switch
  bool single_ = true;  ///< no parallel cables but what an exchange leaves, and not too many
};

/// A full mesh is one of one dimension.
bool is_whole_lattice(const Topology& topology) {
  const auto shape = find_shape(topology);
  const bool lattice = shape.kind == Shape::Kind::mesh || shape.kind == Shape::Kind::torus ||
                       shape.kind == Shape::Kind::hypercube || shape.kind == Shape::Kind::hyperx;
  return lattice && !shape.damaged && (shape.sizes.size() >= 2 || shape.kind == Shape::Kind::hyperx);
}

/// Whether such a lattice is no chance.
bool large_enough(const Topology& topology, std::size_t doubled) {
  const auto n = topology.switches();
  return n >= kFewestOfLattice[doubled] ||
         (doubled == 2 && n >= kFewestOfFullMesh && 2 * topology.cables() == n * (n - 1));
}

}  // namespace

std::optional<Topology> check_lattice_swaps(const HealthInput& in, Health& health) {
  if (in.topology.leaves().size() != in.topology.switches() || in.topology.components() != 1)
    return std::nullopt;
  LatticeLinks links(in.topology);
  if (links.doubled() >= kFewestOfLattice.size() || !large_enough(in.topology, links.doubled()) ||
      is_whole_lattice(in.topology))
    return std::nullopt;
  auto swaps = links.find();
  std::erase_if(swaps,
                [&](const CableSwap& swap) { return !is_whole_lattice(with_swap(in.topology, swap)); });
  if (swaps.empty()) return std::nullopt;
  health.findings.push_back(describe_all(in, swaps));
  return with_swap(in.topology, swaps.front());
}

}  // namespace smd::routing::inline cabling
