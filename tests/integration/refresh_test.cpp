// SPDX-License-Identifier: Apache-2.0
// Looking again at the part that an event touched finds what looking at the whole fabric finds.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>

#include "mad/base/random.h"
#include "mad/transactions/ask.h"
#include "smd/sweep/heavy_sweep.h"
#include "smd/sweep/incremental_sweep.h"
#include "smd/sweep/paths.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using test::Managed;

base::Fabric random_fabric(base::Random& random) {
  const auto switches = 3 + random() % 10, degree = 2 + random() % 3, hosts = 1 + random() % 3;
  return test::spec(
      fmt::format("random:{}:{}:{}:{}", switches, std::min(degree, switches - 1), hosts, random() % 1000));
}

/// Links and nodes but our own go away or come back.
void change(sim::Fabric& fabric, const base::Fabric& description, base::Random& random,
            std::vector<sim::Place>& cut, std::vector<std::string>& removed) {
  if (!cut.empty() && random() % 4 == 0) {
    fabric.faults().link_up(cut.back());
    cut.pop_back();
    return;
  }
  if (!removed.empty() && random() % 4 == 0) {
    fabric.faults().restore(removed.back());
    removed.pop_back();
    return;
  }
  const auto own = fabric.state().nodes[fabric.state().ports[*fabric.default_port()].node].name;
  const auto& node = description.nodes[random() % description.nodes.size()];
  if (node.name == own) return;
  const bool next_to_us = std::ranges::any_of(node.ports, [&](const base::FabricPort& port) {
    return port.peer && description.nodes[port.peer->node].name == own;
  });
  if (random() % 3 == 0 && !next_to_us) {
    fabric.faults().remove(node.name);
    removed.push_back(node.name);
    return;
  }
  const PortNum port{static_cast<std::uint8_t>(1 + random() % (node.ports.size() - 1))};
  const auto& peer = node.ports[port.value()].peer;
  if (!peer || description.nodes[peer->node].name == own) return;
  if (fabric.faults().link_down({node.name, port})) cut.push_back({node.name, port});
}

void same(const sm::Subnet& part, const sm::Subnet& whole) {
  RC_ASSERT(part.nodes.size() == whole.nodes.size());
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    const auto& a = *part.nodes[i];
    const auto& b = *whole.nodes[i];
    RC_ASSERT(a.guid() == b.guid());
    RC_ASSERT(a.switch_info == b.switch_info);
    RC_ASSERT(a.description == b.description);
    for (std::size_t p = 0; p < a.ports.size(); ++p) {
      RC_ASSERT(a.ports[p].peer == b.ports[p].peer);
      if (!a.ports[p].known || !b.ports[p].known) continue;
      auto info = a.ports[p].info;
      info.local_port = b.ports[p].info.local_port;  // where the question came in
      const auto fields = wire::differences(info, b.ports[p].info);
      if (!fields.empty())
        RC_FAIL(
            fmt::format("{}: {}", sm::port_text(a, PortNum{static_cast<std::uint8_t>(p)}), fields.front()));
    }
  }
  RC_ASSERT(part.unresponsive.size() == whole.unresponsive.size());
}

asio::awaitable<void> compare(mad::Transactions* tx, mad::Clock* clock,
                              std::shared_ptr<const sm::Subnet> part) {
  const auto whole = co_await sm::heavy_sweep(tx, clock, part.get(), {});
  same(*part, *whole);
}

RC_GTEST_PROP(Refresh, PartsAddUpToWhatTheWholeFabricShows, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  base::Random random(seed);
  const auto description = random_fabric(random);
  sim::World world(description);
  std::vector<sim::Place> cut;
  std::vector<std::string> removed;
  for (auto n = random() % 3; n > 0; --n) change(world.fabric(), description, random, cut, removed);
  std::size_t parts = 0;
  Managed manager(world);
  manager.on_sweep([&](const sm::Snapshot& snapshot) {
    parts += snapshot.summary.sweep == sm::SweepKind::incremental ? 1U : 0U;
  });
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(std::chrono::seconds(3));
  for (auto n = 1 + random() % 4; n > 0; --n) {
    change(world.fabric(), description, random, cut, removed);
    world.run_for(std::chrono::milliseconds(random() % 3000));
  }
  world.run_for(std::chrono::seconds(60));
  const auto part = manager.last().subnet;
  world.run(group.stop());
  const auto transport = world.transport();
  mad::Transactions tx(world.io().get_executor(), world.clock(), *transport, {}, 3);

  world.run(compare(&tx, &world.clock(), part));
  RC_CLASSIFY(parts != 0, "by parts");
}

}  // namespace
}  // namespace smd
