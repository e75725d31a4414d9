// SPDX-License-Identifier: Apache-2.0
// What a change of one member costs to decide on a large fabric, and its steps. SMD_PARTITIONS="ft3:24 100
// 100" takes another fabric, number of partitions and members of each; or ./dev bench partition_decision.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "config/partitions.h"
#include "mad/base/fabric_spec.h"
#include "routing/parallel.h"
#include "smd/decide/decide.h"
#include "smd/decide/partitions.h"
#include "smd/decide/port_views.h"
#include "smd/inventory/update.h"
#include "smd/offline/offline.h"
#include "smd/policy/policies.h"
#include "smd/sweep/end_ports.h"

namespace smd::bench {
namespace {

/// A fabric in service, of which each partition has so many hosts.
struct PartitionedFabric {
  PartitionedFabric() {
    std::string spec = "ft3:24";
    std::size_t partitions = 100, members = 100;
    if (const char* given = std::getenv("SMD_PARTITIONS"); given != nullptr)
      std::istringstream(given) >> spec >> partitions >> members;
    const auto before = sm::offline_subnet(*base::make_fabric(spec));
    std::vector<std::string> hosts;
    for (const auto& node : before.nodes) {
      if (!node->is_switch()) hosts.push_back(node->description);
    }
    std::mt19937 chance(1);
    for (std::size_t i = 0; i < partitions; ++i) {
      auto& one = config.partition.emplace_back();
      one.name = "p" + std::to_string(i);
      one.pkey = static_cast<std::uint16_t>(0x100 + i);
      std::ranges::shuffle(hosts, chance);
      for (std::size_t k = 0; k < members; ++k) one.full.push_back(*config::parse_port_term(hosts[k]));
    }
    policy = policy::merged_policy(config, {});
    const routing::Serial serial;
    auto decision = *sm::decide(
        {.subnet = before, .config = config, .stored = {}, .partitions = policy, .parallel = serial});
    subnet = sm::settled(before, decision.decided);
    subnet.index();
    auto first = std::make_shared<sm::Stored>();
    first->inventory = std::make_shared<const sm::Inventory>(
        sm::update_inventory({.known = {}, .now = subnet, .restarts = {}, .time = 1}).after);
    stored = sm::remember_pkeys(first, decision.decided.partitions.get());
  }

  config::SubnetConfig config;
  policy::MergedPtr policy;
  sm::Subnet subnet;
  sm::StoredPtr stored;
};

const PartitionedFabric& fabric() {
  static const PartitionedFabric made;
  return made;
}

void port_views(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(sm::port_views(fabric().subnet, fabric().stored.get()));
}

void port_index(benchmark::State& state) {
  const auto ports = sm::port_views(fabric().subnet, fabric().stored.get());
  for (auto _ : state) benchmark::DoNotOptimize(config::PortIndex(ports.views));
}

void resolve(benchmark::State& state) {
  const auto ports = sm::port_views(fabric().subnet, fabric().stored.get());
  const config::PortIndex index(ports.views);
  const auto self = sm::own_port_guid(fabric().subnet);
  for (auto _ : state)
    benchmark::DoNotOptimize(config::resolve_partitions(*fabric().policy, index, self, {}));
}

void decide(benchmark::State& state) {
  const auto& f = fabric();
  for (auto _ : state) {
    const auto made = sm::decide_partitions(
        {.subnet = f.subnet, .config = f.config, .policy = f.policy, .stored = *f.stored});
    benchmark::DoNotOptimize(made.part.placed.size());
  }
}

BENCHMARK(port_views)->Unit(benchmark::kMillisecond);
BENCHMARK(port_index)->Unit(benchmark::kMillisecond);
BENCHMARK(resolve)->Unit(benchmark::kMillisecond);
BENCHMARK(decide)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smd::bench

BENCHMARK_MAIN();
