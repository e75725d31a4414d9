// SPDX-License-Identifier: Apache-2.0
// Random scenarios from a seed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "mad/base/random.h"
#include "tests/integration/scenarios/scenario.h"
#include "tests/support/managed_world.h"

namespace smd::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string random_spec(base::Random& random) {
  switch (random() % 8) {
    case 0:
      return "ft2:4";
    case 1:
      return "ft2:6";
    case 2:
      return "ft3:4";
    case 3:
      return fmt::format("mesh:{}x{}:1", 2 + random() % 3, 2 + random() % 2);
    case 4:
      return "torus:3x3:1";
    case 5:
      return "xgft:2;3,3;1,2;1,2";
    default: {
      const auto switches = 2 + random() % 9,
                 degree = std::min<std::uint64_t>(2 + random() % 3, switches - 1);
      return fmt::format("random:{}:{}:{}:{}", switches, std::max<std::uint64_t>(degree, 1), 1 + random() % 3,
                         random() % 1000);
    }
  }
}

/// Draws faults for one fabric and writes down what is left of them at the end.
class Maker {
 public:
  Maker(Scenario& scenario, base::Random& random) : scenario_(scenario), random_(random) {
    for (const auto& node : scenario.fabric.nodes) {
      if (node.type == NodeType::switch_) switches_.push_back(&node);
      if (node.type == NodeType::ca) hosts_.push_back(&node);
    }
    if (!hosts_.empty()) manager_ = hosts_.front();
  }

  void add() {
    using Make = void (Maker::*)();
    static constexpr std::array<Make, 17> kKinds{
        &Maker::cut,    &Maker::cut,          &Maker::flap,    &Maker::removed,   &Maker::silent,
        &Maker::slow,   &Maker::answers,      &Maker::refuses, &Maker::lossy,     &Maker::reboot,
        &Maker::reboot, &Maker::another_guid, &Maker::twins,   &Maker::small_cap, &Maker::stolen_lid,
        &Maker::moved,  &Maker::errors};
    (this->*kKinds[random_() % kKinds.size()])();
  }

 private:
  using Node = const base::FabricNode*;

  /// Half of them within the bring-up, the others later.
  sim::Duration when() {
    if (random_() % 2 == 0) return microseconds(random_() % 20'000);
    return milliseconds(random_() % 20'000);
  }
  sim::Duration later(sim::Duration at) { return at + microseconds(1 + random_() % 5'000'000); }
  bool stays() { return random_() % 2 == 0; }
  /// Not the manager's own host: what cuts that off is another question.
  Node host() { return hosts_.size() < 2 ? nullptr : hosts_[1 + random_() % (hosts_.size() - 1)]; }
  /// Not the manager's own leaf, so that something is left to be judged.
  Node a_switch() {
    const auto* node = switches_[random_() % switches_.size()];
    return node == leaf_of(manager_) ? nullptr : node;
  }
  Node any() { return random_() % 3 == 0 ? a_switch() : host(); }
  Node leaf_of(Node host) const {
    if (host == nullptr || host->ports.size() < 2) return nullptr;
    const auto& peer = host->ports[1].peer;
    return peer ? &scenario_.fabric.nodes[peer->node] : nullptr;
  }
  void say(sim::Duration at, std::string command, std::vector<std::string> touches = {}) {
    scenario_.faults.push_back({at, scenario_.faults.size(), std::move(command), std::move(touches)});
  }
  /// The node and, of a switch, the hosts at it: where its agent fails, they are out of service with it.
  std::vector<std::string> with_hosts(Node node) const {
    std::vector<std::string> names{node->name};
    for (const auto& port : node->ports) {
      if (node->type != NodeType::switch_ || !port.peer) continue;
      const auto& peer = scenario_.fabric.nodes[port.peer->node];
      if (peer.type != NodeType::switch_) names.push_back(peer.name);
    }
    return names;
  }
  void lasts(Node node, bool certain) { scenario_.lasting.push_back({node->name, certain}); }
  /// One fault that changes what a node is or shows: no second one for it.
  bool first(Node node) { return node != nullptr && touched_.insert(node).second; }

  /// Some cable that is not the manager's: node and port.
  std::optional<std::pair<Node, unsigned>> cable() {
    const auto* node = random_() % 3 == 0 ? host() : switches_[random_() % switches_.size()];
    if (node == nullptr) return std::nullopt;
    const auto number = 1 + random_() % (node->ports.size() - 1);
    const auto& peer = node->ports[number].peer;
    if (!peer || &scenario_.fabric.nodes[peer->node] == manager_ || node == manager_) return std::nullopt;
    return std::pair{node, static_cast<unsigned>(number)};
  }

  void cut() {
    const auto chosen = cable();
    if (!chosen || moved_) return;
    const auto at = when();
    say(at, fmt::format("link down {} {}", chosen->first->name, chosen->second));
    if (!stays()) say(later(at), fmt::format("link up {} {}", chosen->first->name, chosen->second));
  }
  void flap() {
    const auto chosen = cable();
    if (!chosen || moved_) return;
    auto at = when();
    for (auto times = 1 + random_() % 6; times > 0; --times) {
      say(at, fmt::format("link flap {} {}", chosen->first->name, chosen->second));
      at += microseconds(random_() % 300'000);
    }
  }
  void removed() {
    const auto* node = any();
    if (!first(node)) return;
    const auto at = when();
    say(at, fmt::format("node remove {}", node->name));
    if (!stays()) say(later(at), fmt::format("node restore {}", node->name));
  }
  void reboot() {
    const auto* node = any();
    if (!first(node)) return;
    say(when(), fmt::format("node reboot {} {}", node->name, static_cast<double>(random_() % 3000) / 1000));
  }
  void silent() { misbehaves("node silent {}", true); }
  void slow() { misbehaves("node slow 600 {}", false); }
  void answers() { misbehaves("node answers {} NodeInfo NodeDescription", true); }
  void refuses() {
    constexpr std::array kAttributes{"PortInfo", "SwitchInfo", "LinearForwardingTable"};
    const auto attribute = kAttributes[random_() % kAttributes.size()];
    misbehaves(fmt::format("node refuses {{}} {} {}", attribute, random_() % 2 == 0 ? 7 : 28), false);
  }
  void misbehaves(const std::string& form, bool certain) {
    const auto* node = any();
    if (!first(node)) return;
    const auto at = when();
    say(at, fmt::format(fmt::runtime(form), node->name), with_hosts(node));
    if (stays()) {
      lasts(node, certain);
    } else {
      say(later(at), fmt::format("node restore {}", node->name));
    }
  }
  void lossy() {
    const auto at = when();
    say(at, fmt::format("loss {}", 1 + random_() % 30));
    say(later(at), "loss 0");
  }
  void another_guid() {
    const auto* node = host();
    if (!first(node)) return;
    const auto at = when();
    say(at, fmt::format("node guid {} {:#x}", node->name, 0x7000'0000'0000'0000 + random_() % 1000 * 16),
        {node->name});
    if (random_() % 2 == 0) say(at, fmt::format("node reboot {}", node->name));
  }
  void twins() {
    const auto* node = host();
    const auto* other = host();
    if (node == other || !first(node) || !first(other)) return;
    const auto at = when();
    say(at, fmt::format("node guid {} {}", node->name, other->guid), {node->name, other->name});
    say(at, fmt::format("node reboot {}", node->name));
    if (stays()) {
      scenario_.lasting.push_back({node->name, true, other->name});
      scenario_.lasting.push_back({other->name, true, node->name});
    } else {
      say(later(at), fmt::format("node guid {} {}", node->name, node->guid));
    }
  }
  void small_cap() {
    const auto* node = a_switch();
    if (!first(node)) return;
    say(when(), fmt::format("node fdbcap {} {}", node->name, 1 + random_() % 64));
    lasts(node, false);
  }
  void stolen_lid() {
    const auto* node = host();
    if (!first(node)) return;
    say(when(), fmt::format("lid {} 1 {}", node->name, 1 + random_() % 40), {node->name});
  }
  void moved() {
    const auto* node = host();
    const auto* from = leaf_of(node);
    const auto* to = a_switch();
    if (from == nullptr || to == nullptr || moved_ || !scenario_.faults.empty() || !first(node)) return;
    const auto& end = node->ports[1].peer;
    for (std::size_t free = 1; end && free < to->ports.size(); ++free) {
      if (to->ports[free].peer) continue;
      moved_ = true;
      return say(when(), fmt::format("move {} {} {} {}", from->name, end->port, to->name, free));
    }
  }
  void errors() {
    const auto chosen = cable();
    if (!chosen) return;
    const auto at = when();
    say(at, fmt::format("counter {} {} LocalLinkIntegrityErrors 20/s", chosen->first->name, chosen->second));
    say(later(at),
        fmt::format("counter {} {} LocalLinkIntegrityErrors 0", chosen->first->name, chosen->second));
  }

  Scenario& scenario_;
  base::Random& random_;
  std::vector<Node> switches_, hosts_;
  Node manager_ = nullptr;
  std::set<Node> touched_;
  bool moved_ = false;
};

}  // namespace

Scenario make_scenario(std::uint64_t seed) {
  base::Random random(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.spec = random_spec(random);
  scenario.fabric = spec(scenario.spec);
  scenario.options = sim::World::default_options();
  scenario.options.seed = seed;
  const auto training = sim::Training::always(microseconds(1 + random() % 20'000));
  if (scenario.options.training.longest < seconds(1))
    scenario.options.training = training;  // else SMD_HARDWARE
  Maker maker(scenario, random);
  for (auto faults = 1 + random() % 5; faults > 0; --faults) maker.add();
  // Those of one time stay in their order.
  std::ranges::sort(scenario.faults, {}, [](const TimedFault& f) { return std::pair(f.at, f.order); });
  return scenario;
}

std::string to_text(const Scenario& scenario) {
  std::string text = fmt::format("seed {} fabric {} training {} us\n", scenario.seed, scenario.spec,
                                 scenario.options.training.shortest.count() / 1000);
  for (const auto& fault : scenario.faults) {
    const std::chrono::duration<double> at = fault.at;
    text += fmt::format("{:.6f} {}\n", at.count(), fault.command);
  }
  return text;
}

}  // namespace smd::test
