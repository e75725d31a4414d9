// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/moved_sls.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "smd/decide/path_layers.h"
#include "smd/sa/policy.h"

namespace smd::sa {
namespace {

constexpr std::size_t kSlValues = 16;

/// Of a path before and now.
using SlPair = std::pair<Sl, Sl>;
/// Of pairs of layers, before and now.
using LayerPairs = std::bitset<kSlValues * kSlValues>;
using PortClasses = std::pair<sm::QosPortClass, sm::QosPortClass>;
using PartitionNumber = std::uint16_t;

/// The SL of each class of traffic in each layer.
class WireTable {
 public:
  explicit WireTable(const sm::SlPart* part) {
    for (std::size_t one = 0; one < kSlValues; ++one) {
      for (unsigned layer = 0; layer < kSlValues; ++layer)
        sls_[one][layer] = sm::wire_sl(part, Sl{static_cast<std::uint8_t>(one)}, layer);
    }
  }
  Sl at(Sl of_class, unsigned layer) const { return sls_[of_class.value() % kSlValues][layer % kSlValues]; }

 private:
  std::array<std::array<Sl, kSlValues>, kSlValues> sls_{};
};

/// Whether no path can have another SL.
bool has_same_sls(const sm::Decided& before, const sm::Decided& now) {
  if (!before.routes || !now.routes) return true;
  const bool none = !before.qos_policy && !now.qos_policy && !before.service_levels && !now.service_levels;
  const bool layered = before.routes->layers.count > 1 || now.routes->layers.count > 1;
  return none || (before.qos_policy == now.qos_policy && before.partitions == now.partitions &&
                  before.service_levels == now.service_levels && (!layered || before.routes == now.routes));
}

/// Ascending. A table that is not known is that of a port after its reset.
std::set<PartitionNumber> partitions_of(const HeldPKeys* held) {
  if (held == nullptr) return {kDefaultPKey.partition()};
  std::set<PartitionNumber> found;
  for (const auto& block : held->row) {
    for (const auto key : block.keys) {
      if (key.partition() != 0) found.insert(key.partition());
    }
  }
  return found;
}

Guid switch_of(const EndPort& port) {
  const auto& peer = port.info().peer;
  return peer ? peer->node : Guid{};
}

/// Ports that are alike but for their switch.
struct Kind {
  PortClasses classes{};
  std::uint32_t keys = 0;  ///< index of a set of partitions
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// A switch in forwarding tables, and the LID of a port there.
struct Place {
  routing::SwitchIndex at = routing::kNoSwitch;
  Lid lid{};
};

/// Of LayerPairs.
std::size_t place_of(unsigned before, unsigned now) {
  return before % kSlValues * kSlValues + now % kSlValues;
}

unsigned layer_between(const sm::RoutePart& part, const Place& from, const Place& to) {
  if (part.layers.count == 1 || from.at == routing::kNoSwitch || to.at == routing::kNoSwitch) return 0;
  return part.layers.of(from.at, to.at, to.lid);
}

class MovedSls {
 public:
  MovedSls(const Directory& before, const Directory& now)
      : before_(before),
        now_(now),
        sls_before_(decided_before().service_levels.get()),
        sls_now_(decided_now().service_levels.get()) {
    for (const auto& port : now.end_ports()) take(port);
    for (const auto& [partition, members] : members_) take_classes(partition, members);
    for (auto& [guid, there] : switches_) {
      if (const auto& topology = decided_before().routes->topology) there.before.at = topology->find(guid);
      if (const auto& topology = decided_now().routes->topology) there.now.at = topology->find(guid);
    }
  }

  std::vector<Guid> ports() const {
    const auto moved = layered() ? moved_by_layer() : moved_by_class();
    std::vector<Guid> found;
    for (const auto& [guid, at] : ports_) {
      if (moved.contains(at)) found.push_back(guid);
    }
    return found;
  }

 private:
  struct Switch {
    Place before{}, now{};
    std::map<PartitionNumber, std::size_t> members;  ///< ports there
    std::set<Kind> kinds;
  };
  using At = std::pair<Guid, Kind>;  ///< switch and kind

  const sm::Decided& decided_before() const { return before_.snapshot().decided; }
  const sm::Decided& decided_now() const { return now_.snapshot().decided; }
  bool layered() const {
    return decided_before().routes->layers.count > 1 || decided_now().routes->layers.count > 1;
  }

  void take(const EndPort& port) {
    const auto* had = port.node->is_switch() ? nullptr : before_.by_guid(port.guid);
    if (had == nullptr || had->node->is_switch() || switch_of(*had) != switch_of(port)) return;
    const Kind kind{.classes = {had->qos, port.qos}, .keys = keys_of(*had, port)};
    ports_.emplace_back(port.guid, At{switch_of(port), kind});
    auto& there = switches_[switch_of(port)];
    there.before.lid = had->lid;
    there.now.lid = port.lid;
    there.kinds.insert(kind);
    for (const auto partition : key_sets_[kind.keys]) {
      ++there.members[partition];
      ++members_[partition][kind.classes];
    }
  }

  /// Those that it has in both.
  std::uint32_t keys_of(const EndPort& had, const EndPort& has) {
    const auto [known, fresh] = by_tables_.try_emplace({had.pkeys, has.pkeys}, 0);
    if (!fresh) return known->second;
    auto keys = partitions_of(had.pkeys);
    if (had.pkeys != has.pkeys) {
      const auto here = partitions_of(has.pkeys);
      std::erase_if(keys, [&](PartitionNumber one) { return !here.contains(one); });
    }
    const auto next = static_cast<std::uint32_t>(key_sets_.size());
    const auto [set, added] = by_keys_.try_emplace(keys, next);
    if (added) key_sets_.push_back(std::move(keys));
    return known->second = set->second;
  }

  /// By the classes of traffic that paths of the partition have, and these by the QoS classes of the port
  /// that they begin at.
  void take_classes(PartitionNumber partition, const std::map<PortClasses, std::size_t>& members) {
    const PKey pkey{partition};
    for (const auto& [from, count] : members) {
      std::set<SlPair> pairs;
      for (const auto& [to, others] : members) {
        if (from == to && others < 2) continue;
        const auto was = Policy::traffic_class(decided_before(), from.first, to.first, pkey);
        const auto is = Policy::traffic_class(decided_now(), from.second, to.second, pkey);
        if (was && is) pairs.emplace(*was, *is);
      }
      any_moves_ |= moves_[{partition, from}] = between_layers(pairs);
    }
  }

  /// Those between which a path of one of the classes gets another SL.
  LayerPairs between_layers(const std::set<SlPair>& classes) const {
    LayerPairs found;
    for (unsigned was = 0; was < kSlValues; ++was) {
      for (unsigned is = 0; is < kSlValues; ++is) {
        found[place_of(was, is)] = std::ranges::any_of(classes, [&](const SlPair& pair) {
          return sls_before_.at(pair.first, was) != sls_now_.at(pair.second, is);
        });
      }
    }
    return found;
  }

  bool moves(const Kind& kind, PartitionNumber partition, std::size_t layers) const {
    const auto found = moves_.find({partition, kind.classes});
    return found != moves_.end() && found->second.test(layers);
  }

  std::set<At> moved_by_class() const {
    std::set<At> moved;
    for (const auto& [guid, here] : switches_) {
      for (const auto& kind : here.kinds) {
        if (std::ranges::any_of(key_sets_[kind.keys],
                                [&](PartitionNumber one) { return moves(kind, one, place_of(0, 0)); }))
          moved.emplace(guid, kind);
      }
    }
    return moved;
  }

  std::set<At> moved_by_layer() const {
    std::set<At> moved;
    for (const auto& [from, here] : switches_) {
      auto left = here.kinds;
      for (const auto& [to, there] : switches_) {
        const auto was = layer_between(*decided_before().routes, here.before, there.before);
        const auto is = layer_between(*decided_now().routes, here.now, there.now);
        const auto layers = place_of(was, is);
        if (!any_moves_.test(layers)) continue;         // so it is between most of many switches
        const std::size_t needed = from == to ? 2 : 1;  // another one than the port itself
        std::erase_if(left, [&](const Kind& kind) {
          const bool other = std::ranges::any_of(key_sets_[kind.keys], [&](PartitionNumber one) {
            const auto members = there.members.find(one);
            return members != there.members.end() && members->second >= needed && moves(kind, one, layers);
          });
          if (other) moved.emplace(from, kind);
          return other;
        });
        if (left.empty()) break;
      }
    }
    return moved;
  }

  const Directory& before_;
  const Directory& now_;
  WireTable sls_before_, sls_now_;
  std::vector<std::pair<Guid, At>> ports_;
  std::map<Guid, Switch> switches_;
  std::vector<std::set<PartitionNumber>> key_sets_;
  std::map<std::set<PartitionNumber>, std::uint32_t> by_keys_;
  std::map<std::pair<const HeldPKeys*, const HeldPKeys*>, std::uint32_t> by_tables_;
  std::map<PartitionNumber, std::map<PortClasses, std::size_t>> members_;
  std::map<std::pair<PartitionNumber, PortClasses>, LayerPairs> moves_;
  LayerPairs any_moves_;
};

}  // namespace

std::vector<Guid> ports_of_moved_sls(const Directory& before, const Directory& now) {
  if (has_same_sls(before.snapshot().decided, now.snapshot().decided)) return {};
  return MovedSls(before, now).ports();
}

}  // namespace smd::sa
