// SPDX-License-Identifier: Apache-2.0
#pragma once
// The faults of same_output: commands of the simulated fabric (docs/simulator.md) at times, drawn from a
// seed.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/house/same_output/fabric.h"

namespace smd::test::same_output {

struct TimedFault {
  std::chrono::milliseconds at{0};
  std::string command;
};

class Faults {
 public:
  Faults(const base::Fabric& fabric, std::uint64_t seed, bool loss)
      : fabric_(fabric), random_(seed), loss_(loss) {
    const auto hosts = joined_hosts(fabric);
    if (hosts.empty()) return;
    const auto& own = fabric.nodes[hosts[0].node].ports[hosts[0].port].peer;
    for (const auto& cable : switch_cables(fabric)) cables_.push_back(cable);
    for (const auto n : switches(fabric)) {
      if (!own || n != own->node) switches_.push_back(n);  // not the one that leads to everything else
    }
    for (std::size_t i = 1; i < hosts.size(); ++i) hosts_.push_back(hosts[i].node);
    random_.shuffle(cables_);
    random_.shuffle(switches_);
    random_.shuffle(hosts_);
  }

  /// In no order; all of them are over at kEnd.
  static constexpr auto kEnd = std::chrono::milliseconds(17'000);
  std::vector<TimedFault> all() {
    cut(0, 0, 1'500);
    cut(1, 40, 17'000);
    of(switches_, 0, 2'000, "node reboot {} 0.5");
    of(switches_, 1, 3'500, "node silent {}");
    cut(2, 3'600, 5'000);
    of(switches_, 1, 6'000, "node restore {}");
    of(hosts_, 0, 7'000, "node remove {}");
    of(hosts_, 0, 8'000, "node restore {}");
    if (const auto* cable = pick(cables_, 3)) say(8'500, fmt::format("link flap {}", text(*cable)));
    of(hosts_, 1, 9'000, "node reboot {}");
    if (loss_) say(9'500, "loss 5");
    cut(4, 9'700, 11'000);
    if (loss_) say(10'500, "loss 0");
    of(hosts_, 2, 11'500, "node name {} renamed");
    of(hosts_, 3, 12'000, "lid {} 1 3");
    of(switches_, 2, 13'000, "node refuses {} LinearForwardingTable 28");
    cut(5, 13'100, 14'500);
    of(switches_, 2, 16'000, "node restore {}");
    of(hosts_, 4, 16'500, "mkey {} 1 0x1234 0");
    return faults_;
  }

 private:
  template <class T>
  const T* pick(const std::vector<T>& items, std::size_t index) const {
    return index < items.size() ? &items[index] : nullptr;
  }
  std::string text(base::NodeIndex node) const {
    return fmt::format("{:#018x}", fabric_.nodes[node].guid.value());
  }
  std::string text(End end) const { return fmt::format("{} {}", text(end.node), end.port); }
  void say(int at, std::string command) {
    faults_.push_back({std::chrono::milliseconds(at), std::move(command)});
  }
  void cut(std::size_t index, int at, int mended) {
    const auto* cable = pick(cables_, index);
    if (cable == nullptr) return;
    say(at, "link down " + text(*cable));
    say(mended, "link up " + text(*cable));
  }
  void of(const std::vector<base::NodeIndex>& nodes, std::size_t index, int at, const char* form) {
    if (const auto* node = pick(nodes, index)) say(at, fmt::format(fmt::runtime(form), text(*node)));
  }

  const base::Fabric& fabric_;
  Random random_;
  bool loss_ = false;
  std::vector<End> cables_;
  std::vector<base::NodeIndex> switches_, hosts_;
  std::vector<TimedFault> faults_;
};

}  // namespace smd::test::same_output
