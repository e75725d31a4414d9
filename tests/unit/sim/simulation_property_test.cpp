// SPDX-License-Identifier: Apache-2.0
// What is true of every network of data packets.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "mad/base/random.h"
#include "tests/support/data_network.h"

namespace smd::test {
namespace {

using sim::Ending;

std::uint32_t below(base::Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random.below(bound));
}

sim::VlArbitrationTables any_tables(base::Random& random, bool all_served) {
  sim::VlArbitrationTables tables;
  for (auto* table : {&tables.high, &tables.low}) {
    for (auto count = below(random, 6); count > 0; --count)
      table->push_back({.vl = vl(below(random, 5)), .weight = static_cast<std::uint8_t>(random.below(256))});
  }
  for (unsigned lane = 0; all_served && lane < 4; ++lane)
    tables.low.push_back({.vl = vl(lane), .weight = static_cast<std::uint8_t>(1 + random.below(255))});
  tables.high_limit = static_cast<std::uint8_t>(random.chance(1, 2) ? random.below(3) : random.below(256));
  return tables;
}

/// Channels with any tables, rates and buffers, and flows over any of them; without loops the ways ascend.
DataNetwork any_network(base::Random& random, bool loops, bool all_served) {
  DataNetwork network;
  constexpr std::array<std::uint32_t, 4> kRates{8'000, 56'000, 100'000, 400'000};
  const auto channels = 1 + below(random, 10);
  for (std::uint32_t at = 0; at < channels; ++at) {
    network.channel(any_tables(random, all_served), kRates[random.below(kRates.size())], 1024);
    network.channels.back().vls = 4;
    network.channels.back().credits = 17 + below(random, 100);
    if (random.chance(1, 10)) network.channels.back().blocked = static_cast<sim::VlSet>(random.below(16));
  }
  for (auto flows = 1 + random.below(12); flows > 0; --flows) {
    std::vector<std::uint32_t> way(channels);
    for (std::uint32_t at = 0; at < channels; ++at) way[at] = at;
    random.shuffle(way);
    way.resize(1 + random.below(channels));
    if (!loops) std::ranges::sort(way);
    sim::Flow flow{.way = {}, .payload = 1 + below(random, 1024)};
    for (const auto at : way) flow.way.push_back({.channel = at, .vl = vl(below(random, 4))});
    if (random.chance(1, 3)) flow.offered_mbps = 1 + below(random, 50'000);
    network.flows.push_back(std::move(flow));
  }
  return network;
}

constexpr sim::SimulationSettings kShort{.packets = 2000, .warm_up = 100};

RC_GTEST_PROP(AnyNetwork, KeepsItsPacketsAndItsCredits, (std::uint64_t seed)) {
  base::Random random(seed);
  const auto network = any_network(random, true, false);
  const auto outcome = simulate(network, kShort);

  RC_ASSERT(conserves_packets(outcome));
  for (const auto& lane : outcome.lanes) RC_ASSERT(lane.most_used <= lane.credits);
  for (std::size_t flow = 0; flow < network.flows.size(); ++flow) {
    const auto& last = network.flows[flow].way.back();
    if ((network.channels[last.channel].blocked & sim::vl_bit(last.vl)) != 0)
      RC_ASSERT(outcome.flows[flow].all_received == 0U);
  }
  RC_ASSERT(outcome == simulate(network, kShort));
}

RC_GTEST_PROP(AnyNetwork, SaysWhyNothingMoves, (std::uint64_t seed)) {
  base::Random random(seed);
  const auto outcome = simulate(any_network(random, true, false), kShort);

  if (outcome.ending == Ending::nothing_moves) RC_ASSERT(!outcome.held.empty() || !outcome.loops.empty());
  for (const auto& loop : outcome.loops) RC_ASSERT(loop.size() > 1U);
  RC_ASSERT(outcome.behind.empty() || !outcome.loops.empty());
}

RC_GTEST_PROP(AnyNetwork, WithoutCyclesHasNoDeadlock, (std::uint64_t seed)) {
  base::Random random(seed);
  auto network = any_network(random, false, true);
  for (auto& channel : network.channels) channel.blocked = 0;
  const auto outcome = simulate(network, kShort);

  RC_ASSERT(outcome.ending == Ending::counted);
  RC_ASSERT(outcome.loops.empty() && outcome.held.empty() && outcome.behind.empty());
}

RC_GTEST_PROP(ASingleLink, IsNeverIdleWhileAnythingWaits, (std::uint64_t seed)) {
  base::Random random(seed);
  DataNetwork network;
  const auto link = network.channel(any_tables(random, true), 1000 + below(random, 400'000));
  for (auto flows = 1 + random.below(12); flows > 0; --flows)
    network.flow(below(random, 4), {link}, 1 + below(random, 2048));
  const auto outcome = simulate(network, {.packets = 2000, .warm_up = 0});

  std::uint64_t bytes = 0;
  for (const auto& lane : outcome.lanes) bytes += lane.sent.bytes;
  // Each packet's time is rounded up, and the last one is under way for a delay.
  const auto wire = sim::time_on_link(bytes, network.channels[link].mbps);
  RC_ASSERT(outcome.elapsed <= wire + 3000 + 150'000);
}

/// Weights of whole packets: the shares are those of the weights, to a turn of the whole table.
RC_GTEST_PROP(ASingleLink, IsSharedByWeights, (std::uint64_t seed)) {
  base::Random random(seed);
  std::vector<unsigned> packets;
  sim::VlArbitrationTables tables;
  DataNetwork network;
  for (unsigned lane = 0, lanes = 2 + below(random, 6); lane < lanes; ++lane) {
    packets.push_back(1 + below(random, 7));
    tables.low.push_back({.vl = vl(lane), .weight = static_cast<std::uint8_t>(packets.back() * 33)});
  }
  random.shuffle(tables.low);
  const auto link = network.channel(tables);
  for (unsigned lane = 0; lane < packets.size(); ++lane) {
    for (auto flows = 1 + random.below(3); flows > 0; --flows) network.flow(lane, {link});
  }
  const auto outcome = simulate(network, {.packets = 20'000, .warm_up = 0});

  double whole = 0;
  for (const auto count : packets) whole += count;
  for (unsigned lane = 0; lane < packets.size(); ++lane) {
    const double expected = packets[lane] / whole;
    RC_ASSERT(std::abs(share(outcome, link, lane) - expected) <= 0.05 * expected);
  }
}

}  // namespace
}  // namespace smd::test
