// SPDX-License-Identifier: Apache-2.0
// Plays a scenario with a whole manager in virtual time, and judges it.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "mad/sim/console/control.h"
#include "tests/integration/scenarios/scenario.h"
#include "tests/integration/scenarios/watch.h"
#include "tests/support/managed_world.h"

namespace smd::test {
namespace {

using std::chrono::seconds;

/// All faults are over by then, but for those that last.
constexpr auto kFaultsEnd = seconds(26);
/// In which the daemon finds by itself what it can find.
constexpr auto kQuiet = seconds(60);

class Judge {
 public:
  Judge(const Scenario& scenario, sim::World& world) : scenario_(scenario), state_(world.fabric().state()) {
    visible_.resize(state_.nodes.size());
    const auto start = world.fabric().default_port();
    if (start) look_from(state_.ports[*start].node);
  }

  /// Faults that the daemon has to speak of, and those that it may.
  bool must_be_degraded() const {
    return any([](const Lasting& l) { return l.certain; });
  }
  bool may_be_degraded() const {
    return any([](const Lasting&) { return true; });
  }
  bool lasting(sim::NodeIndex node) const {
    return std::ranges::any_of(scenario_.lasting,
                               [&](const Lasting& l) { return find_node(state_, l.node) == node; });
  }
  bool visible(sim::NodeIndex node) const { return visible_[node]; }

  /// Pairs of sound hosts that do not reach each other, as text.
  std::vector<std::string> unreached() const {
    std::vector<sim::PortIndex> ends;
    for (sim::NodeIndex node = 0; node < state_.nodes.size(); ++node) {
      if (state_.nodes[node].is_switch() || !visible_[node] || lasting(node)) continue;
      for (unsigned number = 1; number <= state_.nodes[node].ports; ++number) {
        const auto port = state_.index(state_.nodes[node], number);
        if (state_.ports[port].link_up()) ends.push_back(port);
      }
    }
    std::vector<std::string> found;
    for (const auto from : ends) {
      for (const auto to : ends) {
        const auto way = sim::walk(state_, from, state_.ports[to].info.lid);
        if (way.delivered() && way.end == to) continue;
        found.push_back(fmt::format("{} to {}: {}", sim::port_text(state_, from), sim::port_text(state_, to),
                                    to_string(state_, way)));
        if (found.size() == 3) return found;
      }
    }
    return found;
  }
  std::vector<std::string> not_active() const {
    std::vector<std::string> found;
    for (sim::PortIndex index = 0; index < state_.ports.size(); ++index) {
      const auto& port = state_.ports[index];
      if (!port.link_up() || port.peer == sim::kNowhere || port.info.port_state == PortState::active)
        continue;
      const auto other = state_.ports[port.peer].node;
      if (!visible_[port.node] || !visible_[other] || lasting(port.node) || lasting(other)) continue;
      found.push_back(
          fmt::format("{} is {}", sim::port_text(state_, index), to_string(port.info.port_state)));
    }
    return found;
  }

  /// Lasting faults that can be seen and that no line of trouble names.
  std::vector<std::string> unnamed(const std::vector<std::string>& lines) const {
    std::vector<std::string> missing;
    for (const auto& fault : scenario_.lasting) {
      const auto node = find_node(state_, fault.node);
      if (!fault.certain || !node || !shows(fault)) continue;
      if (!named(*node, lines)) missing.push_back(fault.node);
    }
    return missing;
  }

 private:
  /// A silent node is named by the port in front of it.
  bool named(sim::NodeIndex index, const std::vector<std::string>& lines) const {
    const auto& node = state_.nodes[index];
    const auto names = [&](const std::string& line) {
      if (line.starts_with("sweep ") || line.starts_with("trap ")) return false;
      if (line.find(node.name) != std::string::npos) return true;
      if (line.find(fmt::format("{}", node.guid)) != std::string::npos) return true;
      for (unsigned number = 1; number <= node.ports; ++number) {
        const auto peer = state_.port(node, number).peer;
        if (peer != sim::kNowhere && line.find(state_.node_of(peer).name) != std::string::npos) return true;
      }
      return false;
    };
    return std::ranges::any_of(lines, names);
  }
  /// Something in front of it can be asked.
  bool seen(sim::NodeIndex index) const {
    const auto& node = state_.nodes[index];
    if (node.gone) return false;
    for (unsigned number = 1; number <= node.ports; ++number) {
      const auto& port = state_.port(node, number);
      if (port.link_up() && visible_[state_.ports[port.peer].node] && passes(state_.ports[port.peer].node))
        return true;
    }
    return false;
  }
  bool shows(const Lasting& fault) const {
    const auto node = find_node(state_, fault.node), twin = find_node(state_, fault.twin);
    return node && seen(*node) && (fault.twin.empty() || (twin && seen(*twin)));
  }
  bool any(auto which) const {
    return std::ranges::any_of(scenario_.lasting, [&](const Lasting& l) { return which(l) && shows(l); });
  }
  /// What lies behind can be discovered.
  bool passes(sim::NodeIndex index) const { return state_.nodes[index].is_switch() && !lasting(index); }

  void look_from(sim::NodeIndex start) {
    std::deque<sim::NodeIndex> next{start};
    visible_[start] = true;
    while (!next.empty()) {
      const auto at = next.front();
      next.pop_front();
      if (at != start && !passes(at)) continue;
      for (unsigned number = 1; number <= state_.nodes[at].ports; ++number) {
        const auto& port = state_.port(state_.nodes[at], number);
        if (!port.link_up()) continue;
        const auto node = state_.ports[port.peer].node;
        if (visible_[node]) continue;
        visible_[node] = true;
        next.push_back(node);
      }
    }
  }

  const Scenario& scenario_;
  const sim::State& state_;
  std::vector<bool> visible_;  ///< by node
};

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : "; ") + item;
  return text;
}

void judge(const Scenario& scenario, sim::World& world, const Managed& manager, Verdict& verdict) {
  const Judge judge(scenario, world);
  const auto complain = [&](std::string what, const std::vector<std::string>& items) {
    if (!items.empty()) verdict.wrong.push_back(fmt::format("{}: {}", what, joined(items)));
  };
  const auto& summary = manager.last().summary;
  const bool degraded = !sm::is_working(summary.state);
  // A switch with bad tables may stand in the way of others: what it costs them is not settled here.
  const bool bad_switch = std::ranges::any_of(scenario.lasting, [&](const Lasting& l) {
    const auto node = find_node(world.fabric().state(), l.node);
    return node && world.fabric().state().nodes[*node].is_switch();
  });
  if (!bad_switch) {
    complain("not reached", judge.unreached());
    complain("not Active", judge.not_active());
  }
  if (summary.state == sm::SweepState::failed) verdict.wrong.emplace_back("the last sweep has failed");
  if (degraded && !judge.may_be_degraded()) verdict.wrong.emplace_back("degraded without a reason");
  if (!degraded && judge.must_be_degraded()) verdict.wrong.emplace_back("up in spite of a fault that lasts");
  complain("no line names", judge.unnamed(manager.lines().all));
}

}  // namespace

Verdict play(const Scenario& scenario) {
  Verdict verdict;
  sim::World world(scenario.fabric, scenario.options);
  Watch watch(world.fabric());
  for (const auto& fault : scenario.faults) {
    world.at(sim::TimePoint{} + fault.at, [&](sim::Fabric& fabric) {
      for (const auto& name : fault.touches) {
        if (const auto node = find_node(fabric.state(), name)) watch.excuse(*node);
      }
      if (const auto done = sim::control(fabric, fault.command); !done)
        verdict.wrong.push_back(fmt::format("{}: {}", fault.command, done.error()));
      watch.look_again();
    });
  }
  Managed manager(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(kFaultsEnd + kQuiet);
  // What no trap and no light sweep shows is found by a heavy one.
  manager->requests().resweep(sm::Resweep::heavy, "scenario");
  world.run_for(kQuiet);
  world.run(group.stop());

  judge(scenario, world, manager, verdict);
  for (const auto& broken : watch.broken()) verdict.wrong.push_back(broken);
  verdict.lost_paths = watch.lost_paths();
  verdict.log = manager.lines().all;
  verdict.sets = watch.sets();
  verdict.entries = watch.entries_checked();
  return verdict;
}

}  // namespace smd::test
