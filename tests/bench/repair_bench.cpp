// SPDX-License-Identifier: Apache-2.0
// A leaf uplink is cut in a large embedded fabric: how long until the last forwarding entry is mended, and
// who is without a path meanwhile. repair_bench [SPEC…], or ./dev bench repair
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/real_clock.h"
#include "mad/sim/drivers/live.h"
#include "smd/events/subscriber.h"
#include "smd/manager.h"
#include "tests/integration/scenarios/watch.h"

namespace smd::bench {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr unsigned kCuts = 5;

double ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// When the last forwarding block was written, and how many; counted in the nodes' thread.
struct Writes {
  std::atomic<Clock::rep> last{0};
  std::atomic<std::uint64_t> blocks{0};
};

struct Cable {
  std::string leaf, up;
  sim::Place at;
};

/// Uplinks of leaves far from the manager's: the last port of the last leaves.
std::vector<Cable> uplinks(const base::Fabric& fabric) {
  std::vector<Cable> found;
  const auto is_switch = [&](std::size_t node) { return fabric.nodes[node].type == NodeType::switch_; };
  for (std::size_t i = fabric.nodes.size(); i-- > 0 && found.size() <= kCuts;) {
    const auto& node = fabric.nodes[i];
    if (!is_switch(i)) continue;
    const bool has_hosts = std::ranges::any_of(
        node.ports, [&](const auto& port) { return port.peer && !is_switch(port.peer->node); });
    for (std::size_t p = node.ports.size(); has_hosts && p-- > 1;) {
      const auto& peer = node.ports[p].peer;
      if (!peer || !is_switch(peer->node)) continue;
      found.push_back(
          {node.name, fabric.nodes[peer->node].name, {node.name, PortNum{static_cast<std::uint8_t>(p)}}});
      break;
    }
  }
  return found;
}

/// Of all pairs of hosts, by what the switches forward by now.
std::uint64_t host_pairs_without_path(const sim::State& state) {
  std::vector<std::pair<sim::NodeIndex, std::uint32_t>> leaves;  // with the number of their hosts
  for (sim::NodeIndex n = 0; n < state.nodes.size(); ++n) {
    const auto& node = state.nodes[n];
    std::uint32_t hosts = 0;
    for (unsigned p = 1; node.is_switch() && p <= node.ports; ++p) {
      const auto peer = state.port(node, p).peer;
      hosts += peer != sim::kNowhere && !state.node_of(peer).is_switch() ? 1U : 0U;
    }
    if (hosts != 0) leaves.emplace_back(n, hosts);
  }
  std::uint64_t lost = 0;
  for (const auto& port : state.ports) {
    if (state.nodes[port.node].is_switch() || !port.link_up()) continue;
    const auto lid = port.info.lid.value();
    const auto home = state.ports[port.peer].node;
    for (const auto& [leaf, hosts] : leaves) {
      auto at = leaf;
      bool arrives = false;
      for (unsigned hops = 0; hops < 16; ++hops) {
        const auto& node = state.nodes[at];
        if (lid >= node.sw->lft.size() || lid > node.sw->info.linear_fdb_top) break;
        const auto out = node.sw->lft[lid];
        if (out == 0 || out > node.ports) break;
        const auto& by = state.port(node, out);
        if (!by.link_up() || by.info.port_state != PortState::active || by.peer == sim::kNowhere) break;
        if (!state.node_of(by.peer).is_switch()) {
          arrives = state.ports[by.peer].info.lid == port.info.lid;
          break;
        }
        at = state.ports[by.peer].node;
      }
      if (!arrives) lost += hosts - (leaf == home ? 1U : 0U);
    }
  }
  return lost;
}

/// A manager of an embedded fabric in real time, as `smd run --sim` has it.
class Bench {
 public:
  explicit Bench(const base::Fabric& fabric)
      : clock_(io_),
        live_(io_.get_executor(), fabric),
        transport_(live_.transport()),
        manager_(parts(), "bench", {}, {}),
        subscriber_(
            io_.get_executor(), ring_, {.kinds = events::kinds_of<events::SweepEnded, events::SubnetSettled>},
            {.event = [this](const events::Event&) { sweeps_.push_back(manager_.published()->summary); }}),
        tasks_(io_.get_executor()) {
    tasks_.spawn(manager_.run());
  }
  ~Bench() { end(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// False: it did not come up in time.
  bool up() {
    for (const auto give_up = Clock::now() + std::chrono::minutes(5); Clock::now() < give_up;) {
      io_.run_for(milliseconds(50));
      if (!sweeps_.empty() && sweeps_.back().state == sm::SweepState::up) return true;
    }
    return false;
  }

  /// Until a sweep has ended and for so long no block was written and no other sweep has ended.
  void settle(Clock::duration quiet) {
    auto still_since = Clock::now();
    const auto give_up = still_since + std::chrono::minutes(1);
    for (std::uint64_t seen = 0; sweeps_.empty() || Clock::now() - still_since < quiet;) {
      io_.run_for(milliseconds(20));
      const auto now = writes_.blocks + sweeps_.size();
      if (std::exchange(seen, now) != now) still_since = Clock::now();
      if (Clock::now() > give_up) return;
    }
  }

  /// One cable pulled. Nothing where nothing was written afterwards.
  std::optional<double> cut(const Cable& cable) {
    live_.with([this](sim::Fabric& fabric) {
      fabric.watch_sets([this](const sim::DoneSet& set) {
        if (set.attribute != wire::LinearForwardingTable::kAttribute) return;
        writes_.last = Clock::now().time_since_epoch().count();
        ++writes_.blocks;
      });
    });
    sweeps_.clear();
    writes_.blocks = 0;
    const auto began = live_.with([&](sim::Fabric& fabric) {
      const auto now = Clock::now();
      fabric.faults().link_down(cable.at);
      return now;
    });
    settle(milliseconds(1500));
    if (writes_.blocks == 0) return std::nullopt;
    const auto took = ms(Clock::time_point(Clock::duration(writes_.last)) - began);
    fmt::print("  {} port {} to {}: {:.0f} ms to the last of {} LFT Sets\n", cable.leaf, cable.at.port,
               cable.up, took, writes_.blocks.load());
    for (const auto& sweep : sweeps_)
      fmt::print(
          "    {} discover {:.0f} decide {:.0f} (route {:.0f} verify {:.0f}) apply {:.0f} ms, {} Gets, {} "
          "Sets, "
          "{} entries\n",
          sweep.reason, sweep.discover_ms, sweep.decide_ms, sweep.route_ms, sweep.verify_ms, sweep.apply_ms,
          sweep.smps_get, sweep.smps_set, sweep.lft_entries_changed);
    return took;
  }

  /// The same, looked at after every Set: not for the time.
  void watched_cut(const Cable& cable) {
    std::optional<test::Watch> watch;
    std::uint64_t lost = 0;
    sweeps_.clear();
    live_.with([&](sim::Fabric& fabric) {
      watch.emplace(fabric);
      fabric.faults().link_down(cable.at);
      watch->look_again();
      lost = host_pairs_without_path(fabric.state());
    });
    settle(milliseconds(1500));
    live_.with([&](sim::Fabric& fabric) {
      fmt::print(
          "  pairs of hosts without a path: {} at the cut, {} in the end; {} entries written, {} took away a "
          "path "
          "that had not died{}\n",
          lost, host_pairs_without_path(fabric.state()), watch->entries_checked(), watch->lost_paths().size(),
          watch->broken().empty() ? "" : "; BROKEN: " + watch->broken().front());
      for (const auto& pair : watch->lost_paths()) fmt::print("    {}\n", pair);
      watch.reset();
    });
  }

 private:
  sm::ManagerParts parts() {
    return {.executor = io_.get_executor(),
            .clock = clock_,
            .smi = *transport_,
            .compute = compute_,
            .log = {},
            .claim_sm = [this]() -> std::expected<void, std::string> {
              if (transport_->claim_sm()) return {};
              return std::unexpected("taken");
            },
            .events = &ring_};
  }
  void end() {
    live_.with([](sim::Fabric& fabric) { fabric.watch_sets(nullptr); });
    bool ended = false;
    asio::co_spawn(io_, tasks_.stop(), [&](const std::exception_ptr&) { ended = true; });
    while (!ended) io_.run_for(milliseconds(10));
  }

  asio::io_context io_{1};
  mad::RealClock clock_;
  sm::PoolCompute compute_{0};
  sim::Live live_;
  std::unique_ptr<sim::Transport> transport_;
  Writes writes_;
  std::vector<sm::SweepSummary> sweeps_;
  events::EventRing ring_{log::real_times()};
  sm::SubnetManager manager_;
  events::Subscriber subscriber_;
  mad::TaskGroup tasks_;
};

bool measure(const std::string& spec) {
  const auto fabric = base::make_fabric(spec);
  if (!fabric) {
    fmt::print(stderr, "{}: not a fabric\n", spec);
    return false;
  }
  fmt::print("repair/{}\n", spec);
  const auto cables = uplinks(*fabric);
  Bench bench(*fabric);
  if (cables.size() <= kCuts || !bench.up()) {
    fmt::print(stderr, "{}: did not come up, or has no leaves\n", spec);
    return false;
  }
  bench.settle(milliseconds(500));
  std::vector<double> times;
  for (unsigned i = 0; i < kCuts; ++i) {
    if (const auto took = bench.cut(cables[i])) times.push_back(*took);
  }
  std::ranges::sort(times);
  if (!times.empty())
    fmt::print(
        "  event to last LFT Set, verification included: median {:.0f} ms, min {:.0f}, max {:.0f} ({} "
        "cuts)\n",
        times[times.size() / 2], times.front(), times.back(), times.size());
  bench.watched_cut(cables[kCuts]);
  return times.size() == kCuts;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  std::vector<std::string> specs(argv + 1, argv + argc);
  if (specs.empty()) specs = {"ft3:36", "ft3:56"};
  bool good = true;
  for (const auto& spec : specs) good = smd::bench::measure(spec) && good;
  return good ? 0 : 1;
}
