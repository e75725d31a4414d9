// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/path_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "mad/wire/capability.h"
#include "routing/engines/engine.h"
#include "routing/repair/guid_layers.h"
#include "routing/verify/verify.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/routed_pairs.h"

namespace smd::sm::inline decisions {
namespace {

using LayersPtr = std::shared_ptr<const routing::GuidLayers>;

/// Of a routing::VlMap: all layers are on one VL.
constexpr unsigned kOneVl = 1;

routing::Layers of_pairs(routing::PairLayers layers, routing::VlMap vls = {}) {
  const auto count = layers.highest() + 1;
  return {.count = count, .by_lid = {}, .by_pair = std::move(layers), .vls = std::move(vls)};
}

struct MovedCounts {
  std::uint64_t all = 0, of_hosts = 0;
};

/// Pairs that have a route and another layer than at first; none of those that had no route then.
MovedCounts moved_pairs(const RoutePart& part, const Stored& stored) {
  const auto* adopted = part.adopted_layers.get();
  MovedCounts moved;
  if (part.layers.by_pair.empty() || part.new_layers || (!stored.layers_home && adopted == nullptr))
    return moved;
  const auto home = stored.layers_home ? routing::layers_for(*part.topology, *stored.layers_home) : *adopted;
  const RoutedPairs routed(part);
  for (routing::SwitchIndex a = 0; a < part.topology->switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      const auto first = home.at(a, b), now = part.layers.by_pair.at(a, b);
      if (first == now || first == routing::kNoLayer || now == routing::kNoLayer || !routed(a, b)) continue;
      ++moved.all;
      moved.of_hosts += routed.has_hosts(a, b) ? 1U : 0U;
    }
  }
  return moved;
}

/// The part with these layers on these VLs, if that is proven.
bool take_layers(routing::PairLayers layers, routing::VlMap vls, const routing::RoutingContext& in,
                 RoutePart& part) {
  constexpr unsigned kMostByPort = 8;  // a bit for each of three dimensions
  routing::Routes routes{.rows = {}, .layers = of_pairs(std::move(layers), std::move(vls))};
  if (routes.layers == part.layers) return true;
  if (routes.layers.vl_indexes() > part.vls) return false;
  if (layers_are_bits(routes.layers) && routes.layers.count > kMostByPort) return false;
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  auto found = routing::verify_routes(in, routes);
  if (!found.clean()) return false;
  part.layers = std::move(routes.layers);
  part.verification = std::move(found);
  return true;
}

/// `layers` by other numbers: those that most of their pairs have in `first`.
routing::PairLayers renumbered(std::size_t switches, routing::PairLayers layers,
                               const routing::PairLayers& first) {
  constexpr std::size_t kMost = 16;
  const auto count = layers.highest() + 1;
  std::array<std::array<std::size_t, kMost>, kMost> common{};
  const auto for_each_pair = [&](const auto& fn) {
    for (std::size_t a = 0; a < switches; ++a) {
      for (std::size_t b = 0; b < a; ++b) fn(a, b);
    }
  };
  for_each_pair([&](std::size_t a, std::size_t b) {
    const auto was = first.at(a, b);
    if (was < count) ++common[layers.at(a, b)][was];
  });
  std::vector<std::tuple<std::size_t, unsigned, unsigned>> by_pairs;
  for (unsigned layer = 0; layer < count; ++layer) {
    for (unsigned number = 0; number < count; ++number)
      by_pairs.emplace_back(common[layer][number], layer, number);
  }
  // Of equal ones those that keep their number.
  std::ranges::sort(by_pairs, {}, [](const auto& row) {
    const auto& [pairs, layer, number] = row;
    return std::tuple(~pairs, layer != number, layer, number);
  });
  std::array<unsigned, kMost> number_of{};
  number_of.fill(routing::kNoLayer);
  std::array<bool, kMost> taken{};
  for (const auto& [pairs, layer, number] : by_pairs) {
    if (number_of[layer] != routing::kNoLayer || taken[number]) continue;
    number_of[layer] = number;
    taken[number] = true;
  }
  for_each_pair([&](std::size_t a, std::size_t b) { layers.set(a, b, number_of[layers.at(a, b)]); });
  return layers;
}

/// The tables before were ours and had one layer, which is the first one of their pairs then.
bool had_one_layer(const RoutePart& part, const RoutePart* before, const Stored& stored) {
  return before != nullptr && before->topology && before->layers.count == 1 && !before->adopted_sls &&
         !stored.layers_home && !part.new_layers && !part.layers.by_pair.empty();
}

/// Layer 0 for all pairs that the tables before route; the part's own for the others.
std::shared_ptr<const routing::PairLayers> layer_of_all(const RoutePart& part, const RoutePart& before) {
  const auto& topology = *before.topology;
  const auto of_routed = without_unrouted(before, routing::PairLayers(topology.switches(), 0), nullptr);
  const auto one = routing::merge({}, topology, of_routed, routing::KeptLayer::now);
  return std::make_shared<const routing::PairLayers>(
      routing::layers_for(*part.topology, one, part.layers.by_pair));
}

/// A port of a link between switches, and the data VLs by which it can keep layers apart.
struct PortLimit {
  enum class Of : std::uint8_t { vls, operational_vls, arbitration, tables };
  unsigned vls = 15;
  const Node* node = nullptr;
  PortNum port{};
  Of of = Of::vls;
};

/// `link_vls`: OperationalVLs' code as decided; 0: as it is.
PortLimit port_limit_of(const Node& node, PortNum number, const Node& peer, std::uint8_t link_vls,
                        bool both_lists) {
  using enum PortLimit::Of;
  const auto& port = node.ports[number.value()];
  const auto& info = port.info;
  if (!wire::has(node.ports[0].info, wire::kCapSlMapping)) return {1, &node, number, tables};
  const auto code = link_vls != 0 ? link_vls : info.operational_vls;
  PortLimit limit{vls_of_code(code), &node, number, code < info.vl_cap ? operational_vls : vls};
  // Of the two ends the one that has no more is to be named.
  const auto* far = peer.port(port.peer->port);
  if (far != nullptr && far->info.vl_cap <= code && code < info.vl_cap)
    limit = {limit.vls, &peer, port.peer->port, vls};
  unsigned entries = info.vl_arb_low_cap;
  if (both_lists && info.vl_arb_high_cap != 0) entries = std::min(entries, unsigned{info.vl_arb_high_cap});
  if (std::max(1U, entries) < limit.vls) return {std::max(1U, entries), &node, number, arbitration};
  return limit;
}

std::string limit_text(const PortLimit& limit) {
  if (limit.node == nullptr) return {};
  const auto at = port_text(*limit.node, limit.port);
  const auto* s = limit.vls == 1 ? "" : "s";
  switch (limit.of) {
    case PortLimit::Of::vls:
      return fmt::format("{} has {} data VL{}", at, limit.vls, s);
    case PortLimit::Of::operational_vls:
      return fmt::format("{} uses {} data VL{} of those that it has", at, limit.vls, s);
    case PortLimit::Of::arbitration:
      return fmt::format("{} has VL arbitration tables for {} VL{}", at, limit.vls, s);
    case PortLimit::Of::tables:
      return fmt::format("{} has no SL to VL table", at);
  }
  return {};
}

LayersPtr reuse_layers(const LayersPtr& before, routing::GuidLayers now) {
  return before && *before == now ? before : std::make_shared<const routing::GuidLayers>(std::move(now));
}

}  // namespace

LayerLimit layer_limit(const Subnet& subnet, const LinkPart& links, bool both_lists) {
  PortLimit least;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    if (!node.is_switch() || node.ports.empty()) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& port = node.ports[p];
      const auto* peer = port.linked() && port.peer ? subnet.find(port.peer->node) : nullptr;
      const auto& link = links.ports[i][p];
      if (peer == nullptr || !peer->is_switch() || !link) continue;
      const auto found = port_limit_of(node, PortNum{static_cast<std::uint8_t>(p)}, *peer,
                                       link->operational_vls, both_lists);
      if (found.vls < least.vls) least = found;
    }
  }
  return {.vls = least.vls, .by = limit_text(least)};
}

unsigned layer_of(const RoutePart& part, Guid from, Lid to) {
  if (part.layers.count == 1 || !part.topology || !part.lid_map) return 0;
  const auto source = part.topology->find(from);
  const auto destination = part.lid_map->destination(to).sw;
  if (source == routing::kNoSwitch || destination == routing::kNoSwitch) return 0;
  return part.layers.of(source, destination, to);
}

unsigned layer_of(const RoutePart& part, const Node& node, PortNum port, Lid to) {
  if (node.is_switch()) return layer_of(part, node.guid(), to);
  const auto& peer = node.ports[port.value()].peer;
  return layer_of(part, peer ? peer->node : Guid{}, to);
}

Sl path_sl(const Decided& decided, Sl of_class, const Node& node, PortNum port, Lid to) {
  const auto layer = decided.routes ? layer_of(*decided.routes, node, port, to) : 0U;
  return wire_sl(decided.service_levels.get(), of_class, layer);
}

routing::GuidLayers layers_in_force(const RoutePart* before, const Stored& stored) {
  auto layers = stored.layers_now ? *stored.layers_now : routing::GuidLayers{};
  if (before == nullptr || before->layers.by_pair.empty()) return layers;
  return routing::merge(layers, *before->topology, before->layers.by_pair, routing::KeptLayer::now);
}

routing::Layers stored_layers(const Stored& stored, const routing::Topology& topology) {
  if (!stored.layers_now) return {};
  auto layers = routing::layers_for(topology, *stored.layers_now);
  return layers.highest() == routing::kNoLayer ? routing::Layers{} : of_pairs(std::move(layers));
}

bool layers_are_bits(const routing::Layers& layers) {
  return layers.vls.by_port() && layers.vls.indexes() > 1;
}

bool stands_in(const RoutePart& part) {
  const bool adopted = part.origin == RoutePart::Origin::adopted;
  const auto* info = routing::find_engine(adopted ? part.would_be : part.engine);
  const bool carries_all = part.layers.count > 1 && part.verification.fixed_sl_ok;
  return (part.layers.vls.by_port() || carries_all) && info != nullptr && !info->layered;
}

routing::VlMap vls_for(const routing::Topology& topology, const routing::VlMap& vls,
                       const routing::Topology& of) {
  if (!vls.by_port()) return vls;
  std::vector<std::vector<std::uint8_t>> dimensions(topology.switches());
  for (routing::SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto known = of.find(topology.guid(s));
    for (unsigned p = 0; known != routing::kNoSwitch && p <= topology.ports(s); ++p)
      dimensions[s].push_back(vls.dimension(known, PortNum{static_cast<std::uint8_t>(p)}));
  }
  return {vls.indexes(), std::move(dimensions)};
}

void keep_sls_of_clients(const StandIn& in, const routing::RoutingContext& context, RoutePart& part) {
  const auto* home = in.stored.layers_home.get();
  if (home == nullptr || part.layers.count != 1) return;
  const routing::PairLayers one(context.topology.switches(), 0);
  const auto layers = routing::layers_for(context.topology, *home, one);
  if (layers.highest() >= in.most_layers) return;
  const auto take = [&](const routing::VlMap& vls) { return take_layers(layers, vls, context, part); };
  // The VLs that they have need not be written, and none is on its way to another one.
  if (in.before != nullptr && in.before->topology && in.before->layers.vls.by_port() &&
      take(vls_for(context.topology, in.before->layers.vls, *in.before->topology)))
    return;
  if (!take({})) take({kOneVl, {}});
}

void keep_first_layers(const routing::GuidLayers& home, const routing::RoutingContext& in, RoutePart& part) {
  if (part.layers.by_pair.empty()) return;
  const auto& own = part.layers.by_pair;
  auto first = routing::layers_for(in.topology, home, own);
  const RoutedPairs routed(part);
  for (routing::SwitchIndex a = 0; a < in.topology.switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      // A layer that only pairs without routes have is not to be kept.
      if (first.at(a, b) != own.at(a, b) && !routed(a, b)) first.set(a, b, own.at(a, b));
    }
  }
  if (take_layers(first, part.layers.vls, in, part) || part.layers.vls.by_port()) return;
  take_layers(renumbered(in.topology.switches(), own, first), part.layers.vls, in, part);
}

std::shared_ptr<const RoutePart> with_layer_history(const std::shared_ptr<const RoutePart>& part,
                                                    const RoutePart* before, const Stored& stored,
                                                    bool in_use) {
  const bool had_layers = before != nullptr && before->layers.count > 1;
  const bool has_layers = !part->layers.by_pair.empty();
  if (!had_layers && !has_layers) return part;
  auto noted = std::make_shared<RoutePart>(*part);
  if (in_use && had_one_layer(*part, before, stored)) noted->adopted_layers = layer_of_all(*part, *before);
  const auto moved = moved_pairs(*noted, stored);
  noted->pairs_moved = moved.all;
  noted->host_pairs_moved = moved.of_hosts;
  noted->layers_before = nullptr;
  const auto& topology = *part->topology;
  if (before == nullptr && !stored.layers_now) return noted;
  routing::Layers then;
  if ((had_layers || stored.layers_now) && has_layers)
    then = of_pairs(routing::layers_for(topology, layers_in_force(before, stored), part->layers.by_pair),
                    part->layers.vls);
  if (stored.layers_now && !has_layers) then = stored_layers(stored, topology);
  if (then != part->layers) noted->layers_before = std::make_shared<const routing::Layers>(std::move(then));
  return noted;
}

std::shared_ptr<const RoutePart> with_released_layers(const std::shared_ptr<const RoutePart>& part,
                                                      const Stored& stored) {
  if (part->pairs_moved == 0) return part;
  const auto moved = moved_pairs(*part, stored);
  if (moved.all == part->pairs_moved && moved.of_hosts == part->host_pairs_moved) return part;
  auto noted = std::make_shared<RoutePart>(*part);
  noted->pairs_moved = moved.all;
  noted->host_pairs_moved = moved.of_hosts;
  return noted;
}

RememberedLayers remembered_layers(const Stored& stored, const RoutePart& part) {
  using routing::KeptLayer;
  if (part.layers.by_pair.empty() || !part.topology) return {.home = stored.layers_home, .now = nullptr};
  const auto after = [&](const LayersPtr& before, const routing::PairLayers& layers, KeptLayer kept) {
    return reuse_layers(
        before, routing::merge(before ? *before : routing::GuidLayers{}, *part.topology, layers, kept));
  };
  const bool adopted = !stored.layers_home && part.adopted_layers && !part.new_layers;
  // A pair without a route has no SL yet: its first one is that of its first route.
  const auto* known = part.new_layers ? nullptr : stored.layers_home.get();
  const auto first = without_unrouted(part, adopted ? *part.adopted_layers : part.layers.by_pair, known);
  return {.home = after(stored.layers_home, first, part.new_layers ? KeptLayer::now : KeptLayer::before),
          .now = after(stored.layers_now, part.layers.by_pair, KeptLayer::now)};
}

}  // namespace smd::sm::inline decisions
