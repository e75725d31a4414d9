// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks of data packets written by hand: a link, a leaf, a tree, a ring; and what a VL got of a link.

#include <initializer_list>
#include <utility>
#include <vector>

#include "mad/sim/arbitration/simulation.h"

namespace smd::test {

using Weights = std::initializer_list<std::pair<unsigned, unsigned>>;  ///< VL, weight

inline Vl vl(unsigned number) { return Vl{static_cast<std::uint8_t>(number)}; }

inline std::vector<wire::VlWeight> entries(Weights weights) {
  std::vector<wire::VlWeight> table;
  for (const auto& [lane, weight] : weights)
    table.push_back({.vl = vl(lane), .weight = static_cast<std::uint8_t>(weight)});
  return table;
}

inline sim::VlArbitrationTables low_table(Weights low) {
  return {.high = {}, .low = entries(low), .high_limit = 0};
}

/// A network that is put together channel by channel.
struct DataNetwork : sim::Network {
  std::uint32_t channel(const sim::VlArbitrationTables& tables, std::uint32_t mbps = 100'000,
                        std::uint32_t mtu = 2048) {
    channels.push_back({.mbps = mbps, .vls = 8, .tables = tables, .mtu = mtu});
    return static_cast<std::uint32_t>(channels.size() - 1);
  }
  /// One VL all the way.
  std::uint32_t flow(unsigned lane, std::initializer_list<std::uint32_t> way, std::uint32_t payload = 2048,
                     std::uint32_t offered_mbps = 0) {
    sim::Flow flow{.way = {}, .payload = payload, .offered_mbps = offered_mbps};
    for (const auto at : way) flow.way.push_back({.channel = at, .vl = vl(lane)});
    flows.push_back(std::move(flow));
    return static_cast<std::uint32_t>(flows.size() - 1);
  }
};

/// Three senders of each class at one port: VL0, VL1, VL2.
inline DataNetwork one_link(const sim::VlArbitrationTables& tables) {
  DataNetwork network;
  const auto link = network.channel(tables);
  for (unsigned lane = 0; lane < 3; ++lane) {
    for (unsigned sender = 0; sender < 3; ++sender) network.flow(lane, {link});
  }
  return network;
}

/// Three adapters of each class at one switch send to one receiver. Channel 0 leads to the receiver.
inline DataNetwork one_leaf(const sim::VlArbitrationTables& tables, std::uint32_t sender_mbps = 100'000) {
  DataNetwork network;
  const auto down = network.channel(tables);
  for (unsigned lane = 0; lane < 3; ++lane) {
    for (unsigned sender = 0; sender < 3; ++sender)
      network.flow(lane, {network.channel(tables, sender_mbps), down});
  }
  return network;
}

/// Three leaves with a sender of each class, a spine, and a leaf with a receiver for each class (one receiver
/// for all: `together`). Channel 0 leads from the spine to that leaf, 1 and following to the receivers.
inline DataNetwork one_tree(const sim::VlArbitrationTables& tables, bool together) {
  DataNetwork network;
  const auto down = network.channel(tables);
  std::vector<std::uint32_t> receivers;
  for (unsigned lane = 0; lane < 3; ++lane) receivers.push_back(network.channel(tables));
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    const auto up = network.channel(tables);
    for (unsigned lane = 0; lane < 3; ++lane)
      network.flow(lane, {network.channel(tables), up, down, receivers[together ? 0 : lane]});
  }
  return network;
}

/// Switches in a ring, a sender at each; its packets go `hops` links onwards and leave there.
inline DataNetwork one_ring(unsigned switches, unsigned hops, bool second_vl_past_the_end) {
  DataNetwork network;
  const auto tables = low_table({{0, 32}, {1, 32}});
  for (unsigned at = 0; at < switches; ++at) network.channel(tables);  // from `at` to the next
  for (unsigned at = 0; at < switches; ++at) {
    const auto in = network.channel(tables), out = network.channel(tables);
    sim::Flow flow{.way = {{in, vl(0)}}, .payload = 2048};
    for (unsigned hop = 0; hop < hops; ++hop) {
      const bool past = second_vl_past_the_end && at + hop >= switches;
      flow.way.push_back({(at + hop) % switches, vl(past ? 1 : 0)});
    }
    flow.way.push_back({out, vl(0)});
    network.flows.push_back(std::move(flow));
  }
  return network;
}

/// Part of the bytes that the channel carried.
inline double share(const sim::Outcome& outcome, std::uint32_t channel, unsigned lane) {
  double whole = 0, part = 0;
  for (const auto& at : outcome.lanes) {
    if (at.channel != channel) continue;
    whole += static_cast<double>(at.sent.bytes);
    if (at.vl == vl(lane)) part += static_cast<double>(at.sent.bytes);
  }
  return whole == 0 ? 0 : part / whole;
}

/// Packets that have come to receivers by the VL, by time: Mb/s with headers.
inline double received_mbps(const sim::Network& network, const sim::Outcome& outcome, unsigned lane) {
  double bytes = 0;
  for (std::size_t flow = 0; flow < network.flows.size(); ++flow) {
    if (network.flows[flow].way.back().vl == vl(lane))
      bytes += static_cast<double>(outcome.flows[flow].received.bytes);
  }
  return bytes * 8e6 / static_cast<double>(outcome.elapsed);
}

/// Every packet that was sent has arrived, or is somewhere.
inline bool conserves_packets(const sim::Outcome& outcome) {
  std::uint64_t sent = 0, received = 0;
  for (const auto& flow : outcome.flows) {
    sent += flow.all_sent;
    received += flow.all_received;
  }
  return sent == received + outcome.in_buffers + outcome.on_links;
}

}  // namespace smd::test
