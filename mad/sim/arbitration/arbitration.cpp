// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/arbitration.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "mad/base/rate.h"
#include "mad/sim/state/tables.h"

namespace smd::sim {
namespace {

double part_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void append_entries(std::vector<wire::VlWeight>& entries, const wire::VlArbitration& block,
                    std::size_t capacity) {
  for (const auto& entry : block.entries) {
    if (entries.size() < capacity) entries.push_back(entry);
  }
}

/// The network of the links that the flows use.
class NetworkOf {
 public:
  NetworkOf(const State& state, std::span<const DataFlow> flows, std::span<const BlockedReceiver> blocked)
      : state_(state) {
    for (const auto& flow : flows) add(flow);
    for (const auto& receiver : blocked) block(receiver);
  }

  Network network;
  std::vector<PortIndex> outs;                    ///< by channel
  std::vector<FlowShare> shares;                  ///< by flow as given
  std::vector<std::optional<std::size_t>> taken;  ///< index in `network`, by flow as given

 private:
  void add(const DataFlow& flow) {
    FlowShare share{.way = walk(state_, flow.from, flow.to, flow.sl, flow.pkey)};
    Flow simulated{.way = {}, .payload = flow.payload, .offered_mbps = flow.offered_mbps};
    for (const auto& hop : share.way.hops) {
      if (!share.way.delivered() || hop.out == PortNum{0} || !hop.vl) break;
      const auto out = state_.index(state_.nodes[hop.node], hop.out.value());
      simulated.way.push_back({.channel = channel_of(out), .vl = *hop.vl});
      const auto mtu = network.channels[simulated.way.back().channel].mtu;
      if (simulated.payload == 0 || simulated.payload > mtu) simulated.payload = mtu;
    }
    share.simulated = !simulated.way.empty();
    taken.push_back(share.simulated ? std::optional(network.flows.size()) : std::nullopt);
    if (share.simulated) network.flows.push_back(std::move(simulated));
    shares.push_back(std::move(share));
  }

  std::uint32_t channel_of(PortIndex out) {
    const auto next = static_cast<std::uint32_t>(network.channels.size());
    const auto [at, fresh] = known_.try_emplace(out, next);
    if (!fresh) return at->second;
    const auto& port = state_.ports[out];
    network.channels.push_back({.mbps = std::max(data_mbps(port), 1U),
                                .vls = data_vls(port.vls),
                                .tables = arbitration_tables(port),
                                .mtu = bytes(port.info.neighbor_mtu)});
    outs.push_back(out);
    return next;
  }

  /// Of a switch's port 0 all links that lead into the switch would be: only a flow's last link is.
  void block(const BlockedReceiver& receiver) {
    for (std::size_t flow = 0; flow < taken.size(); ++flow) {
      const auto index = taken[flow];
      if (!index || end_port_of(state_, shares[flow].way.end) != receiver.port) continue;
      const auto& last = network.flows[*index].way.back();
      if (receiver.vl && *receiver.vl != last.vl) continue;
      auto& set = network.channels[last.channel].blocked;
      set = static_cast<VlSet>(set | vl_bit(last.vl));
    }
  }

  const State& state_;
  std::map<PortIndex, std::uint32_t> known_;
};

/// By which the packet comes to its receiver.
Vl last_vl(const Walk& way) {
  Vl last;
  for (const auto& hop : way.hops) last = hop.vl.value_or(last);
  return last;
}

std::vector<ClassShare> class_shares(std::span<const DataFlow> flows, std::vector<FlowShare>& shares) {
  std::map<PortIndex, std::uint64_t> whole;
  std::map<std::tuple<PortIndex, Sl, Vl>, PacketCount> by_class;
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    const auto& share = shares[flow];
    if (!share.simulated) continue;
    auto& sum = by_class[{share.way.end, flows[flow].sl, last_vl(share.way)}];
    sum.packets += share.received.packets;
    sum.bytes += share.received.bytes;
    whole[share.way.end] += share.received.bytes;
  }
  for (auto& share : shares) {
    if (share.simulated) share.share = part_of(share.received.bytes, whole[share.way.end]);
  }
  std::vector<ClassShare> result;
  for (const auto& [key, received] : by_class) {
    const auto& [receiver, sl, vl] = key;
    result.push_back({.receiver = receiver,
                      .sl = sl,
                      .vl = vl,
                      .received = received,
                      .share = part_of(received.bytes, whole[receiver])});
  }
  return result;
}

std::vector<LinkShare> link_shares(const Outcome& outcome, const std::vector<PortIndex>& outs) {
  std::vector<std::uint64_t> whole(outs.size());
  for (const auto& lane : outcome.lanes) whole[lane.channel] += lane.sent.bytes;
  std::vector<LinkShare> links;
  for (const auto& lane : outcome.lanes) {
    links.push_back({.out = outs[lane.channel],
                     .vl = lane.vl,
                     .sent = lane.sent,
                     .share = part_of(lane.sent.bytes, whole[lane.channel]),
                     .load = std::min(1.0, part_of(outcome.busy[lane.channel], outcome.elapsed)),
                     .lane = lane});
  }
  std::ranges::sort(links, {}, [](const LinkShare& link) { return std::pair(link.out, link.vl); });
  return links;
}

}  // namespace

std::optional<DataFlow> flow_between(const State& state, const Place& from, const Place& to, Sl sl,
                                     std::optional<PKey> pkey) {
  const auto start = find_port(state, from), end = find_port(state, to);
  if (!start || !end || !is_end_port(state, *start) || !is_end_port(state, *end)) return std::nullopt;
  return DataFlow{.from = *start, .to = state.ports[*end].info.lid, .sl = sl, .pkey = pkey};
}

double share_of(const Arbitration& result, PortIndex receiver, Sl sl) {
  double share = 0;
  for (const auto& at : result.receivers) {
    if (at.receiver == receiver && at.sl == sl) share += at.share;
  }
  return share;
}

double share_of(const Arbitration& result, LinkVl at) {
  const auto found =
      std::ranges::find(result.links, at, [](const LinkShare& link) { return LinkVl{link.out, link.vl}; });
  return found == result.links.end() ? 0 : found->share;
}

VlArbitrationTables arbitration_tables(const Port& port) {
  VlArbitrationTables tables;
  tables.high_limit = port.info.vl_high_limit;
  if (!port.tables || port.tables->vl_arb.size() < 4) return tables;
  tables.written = true;
  const auto& blocks = port.tables->vl_arb;
  append_entries(tables.low, blocks[0], port.info.vl_arb_low_cap);
  append_entries(tables.low, blocks[1], port.info.vl_arb_low_cap);
  append_entries(tables.high, blocks[2], port.info.vl_arb_high_cap);
  append_entries(tables.high, blocks[3], port.info.vl_arb_high_cap);
  return tables;
}

std::uint32_t data_mbps(const Port& port) {
  const auto mbps = link_mbps(static_cast<LinkWidth>(port.info.link_width_active), port.speed);
  return port.speed <= LinkSpeed::qdr ? mbps / 10 * 8 : mbps;
}

Arbitration arbitrate(const State& state, std::span<const DataFlow> flows, const SimulationSettings& settings,
                      std::span<const BlockedReceiver> blocked) {
  NetworkOf made(state, flows, blocked);
  const auto outcome = simulate(made.network, settings);
  Arbitration result{.ending = outcome.ending, .elapsed = outcome.elapsed, .flows = std::move(made.shares)};
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    const auto index = made.taken[flow];
    if (index) result.flows[flow].received = outcome.flows[*index].received;
  }
  result.receivers = class_shares(flows, result.flows);
  result.links = link_shares(outcome, made.outs);
  const auto named = [&](const std::vector<std::uint32_t>& lanes) {
    std::vector<LinkVl> names;
    for (const auto lane : lanes)
      names.push_back({made.outs[outcome.lanes[lane].channel], outcome.lanes[lane].vl});
    return names;
  };
  result.held = named(outcome.held);
  result.behind = named(outcome.behind);
  for (const auto& loop : outcome.loops) result.loops.push_back(named(loop));
  return result;
}

}  // namespace smd::sim
