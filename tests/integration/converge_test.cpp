// SPDX-License-Identifier: Apache-2.0
// After apply and advance nothing is left to plan, without a re-read; and a re-read agrees.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "mad/base/random.h"
#include "mad/wire/smp.h"
#include "smd/apply/advance.h"
#include "smd/apply/apply.h"
#include "smd/sweep/heavy_sweep.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

/// Loses every second Set on its way out.
class Lossy final : public mad::Transport {
 public:
  Lossy(std::unique_ptr<mad::Transport> inner, bool lossy) : inner_(std::move(inner)), lossy_(lossy) {}
  void on_receive(Sink sink) override { inner_->on_receive(std::move(sink)); }
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds give_up) override {
    const auto smp = wire::Smp::from_bytes(mad);
    if (lossy_ && smp && smp->method() == wire::Method::set && ++sets_ % 2 == 0) return {};
    return inner_->send(mad, route, give_up);
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return inner_->local(); }

 private:
  std::unique_ptr<mad::Transport> inner_;
  bool lossy_;
  std::uint64_t sets_ = 0;
};

/// A connected fabric with some of its links cut, LIDs here and there, and now and then a plug to itself.
base::Fabric damaged(std::uint64_t seed) {
  base::Random random(seed);
  const auto switches = 2 + random() % 12, degree = 2 + random() % 3, hosts = 1 + random() % 3;
  auto fabric = test::spec(
      fmt::format("random:{}:{}:{}:{}", switches, std::min(degree, switches - 1), hosts, seed % 1000));
  for (auto& node : fabric.nodes) {
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      auto& port = node.ports[p];
      if (node.type == NodeType::ca && random() % 4 == 0)
        port.lid = Lid{static_cast<std::uint16_t>(random() % 300)};
      if (node.type != NodeType::switch_ || !port.peer || random() % 12 != 0) continue;
      auto& peer = fabric.nodes[port.peer->node];
      if (peer.type != NodeType::switch_) continue;
      peer.ports[port.peer->port.value()].peer.reset();
      port.peer.reset();
    }
  }
  return fabric;
}

struct Step {
  std::shared_ptr<const sm::Subnet> subnet;
  sm::Decided decided;
  std::shared_ptr<const config::SubnetConfig> config;
  std::size_t left = 0, rounds = 0;
};

asio::awaitable<Step> once(mad::Transactions* tx, mad::Clock* clock, config::SubnetConfig config) {
  Step step;
  const routing::Serial serial;
  step.config = std::make_shared<const config::SubnetConfig>(std::move(config));
  auto found = co_await sm::heavy_sweep(tx, clock, nullptr, {});
  step.subnet = std::make_shared<const sm::Subnet>(std::move(*found));
  const sm::Stored stored;
  const sm::DecideInput input{
      .subnet = *step.subnet, .config = *step.config, .stored = stored, .parallel = serial};
  step.decided = sm::decide(input)->decided;
  // What failed for good (each try of it may be among the lost) is planned again.
  for (step.rounds = 0; step.rounds < 10; ++step.rounds) {
    const sm::PlanInput plan_input{*step.subnet, step.decided};
    sm::ApplyInput write{step.subnet, step.decided, sm::plan(plan_input, serial)};
    if (write.plan.empty()) break;
    const auto applied = co_await sm::apply(tx, clock, std::move(write));
    step.subnet = std::make_shared<const sm::Subnet>(sm::advance(*step.subnet, step.decided, applied));
  }
  step.left = sm::plan({*step.subnet, step.decided}, serial).sets();
  co_return step;
}

asio::awaitable<sm::Subnet> read_again(mad::Transactions* tx, mad::Clock* clock) {
  auto found = co_await sm::heavy_sweep(tx, clock, nullptr, {});
  co_return std::move(*found);
}

void converges(std::uint64_t seed, std::uint8_t lmc, bool lossy) {
  const auto fabric = damaged(seed);
  sim::World world(fabric);
  Lossy transport(world.transport(), lossy);
  mad::Transactions tx(world.io().get_executor(), world.clock(), transport, {}, 3);
  config::SubnetConfig config;
  config.lids.lmc = lmc;

  const auto step = world.run(once(&tx, &world.clock(), config));

  if (!lossy) RC_ASSERT(step.rounds <= 1U);
  RC_ASSERT(step.left == 0U);
  const auto now = world.run(read_again(&tx, &world.clock()));
  RC_ASSERT(now.nodes.size() == step.subnet->nodes.size());
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const auto& is = *now.nodes[i];
    const auto& advanced = *step.subnet->nodes[i];
    RC_ASSERT(is.switch_info == advanced.switch_info);
    for (std::size_t p = 0; p < is.ports.size(); ++p) {
      if (is.ports[p].known) RC_ASSERT(wire::differences(is.ports[p].info, advanced.ports[p].info).empty());
    }
    if (is.is_switch()) RC_ASSERT(*is.lft.row == *advanced.lft.row);
  }
}

RC_GTEST_PROP(Converge, APlanThatWasAppliedLeavesNothingToPlan, ()) {
  converges(*rc::gen::inRange<std::uint64_t>(1, 1'000'000), *rc::gen::inRange<std::uint8_t>(0, 3), false);
}

RC_GTEST_PROP(Converge, AlsoWithEverySecondSetLost, ()) {
  converges(*rc::gen::inRange<std::uint64_t>(1, 1'000'000), *rc::gen::inRange<std::uint8_t>(0, 3), true);
}

/// The order of a file is nobody's business: LIDs and tables depend on GUIDs and links.
RC_GTEST_PROP(Converge, TheOrderOfTheDescriptionDoesNotMatter, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  auto fabric = damaged(seed);
  for (auto& node : fabric.nodes) {
    for (auto& port : node.ports) port.lid = Lid{};
  }
  std::vector<base::NodeIndex> order(fabric.nodes.size());
  for (base::NodeIndex i = 0; i < order.size(); ++i) order[i] = i;
  base::Random random(seed);
  // Our own port stays the same node: the first CA.
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  std::vector<base::NodeIndex> place(order.size());
  base::Fabric shuffled;
  for (base::NodeIndex i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (const auto old : order) shuffled.nodes.push_back(fabric.nodes[old]);
  for (auto& node : shuffled.nodes) {
    for (auto& port : node.ports) {
      if (port.peer) port.peer->node = place[port.peer->node];
    }
  }
  std::vector<sm::Decided> decided;
  for (const auto* each : {&fabric, &shuffled}) {
    sim::World world(*each);
    auto transport = world.transport(sim::Place(fabric.nodes.back().id));
    mad::Transactions tx(world.io().get_executor(), world.clock(), *transport, {}, 3);
    decided.push_back(world.run(once(&tx, &world.clock(), {})).decided);
  }
  RC_ASSERT(*decided[0].lids == *decided[1].lids);
  RC_ASSERT(decided[0].routes->rows.size() == decided[1].routes->rows.size());
  for (std::size_t i = 0; i < decided[0].routes->rows.size(); ++i) {
    RC_ASSERT(*decided[0].routes->rows[i].row == *decided[1].routes->rows[i].row);
  }
}

}  // namespace
}  // namespace smd
