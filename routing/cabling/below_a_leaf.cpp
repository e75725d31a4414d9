// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/below_a_leaf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "routing/cabling/free_ports.h"

namespace smd::routing::inline cabling {
namespace {

std::size_t cables_of_switch(const Topology& topology, SwitchIndex s) {
  std::size_t cables = 0;
  for (std::size_t g = 0; g < topology.groups(s); ++g) cables += topology.group(s, g).ports.size();
  return cables;
}

/// Whether all neighbours of a switch with hosts are leaves that have a switch without hosts above them.
bool hangs_below_leaves(const Topology& topology, SwitchIndex s) {
  const auto is_below = [&](SwitchIndex leaf) {
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      if (!topology.leaf(topology.group(leaf, g).peer)) return topology.leaf(leaf);
    }
    return false;
  };
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    if (!is_below(topology.group(s, g).peer)) return false;
  }
  return topology.leaf(s) && topology.groups(s) != 0;
}

class SmallSwitches {
 public:
  SmallSwitches(const HealthInput& in, Health& health) : in_(in), topology_(in.topology), health_(health) {
    std::size_t count = 0;
    for (const auto s : topology_.leaves()) {
      if (!hangs_below_leaves(topology_, s)) continue;
      ++count;
      by_hosts_[topology_.hosts(s)].push_back(s);
    }
    if (count * 2 >= topology_.leaves().size()) by_hosts_.clear();
  }

  void check() {
    for (const auto& [hosts, alike] : by_hosts_) {
      for (const auto s : alike) compare(s, alike);
    }
  }

 private:
  using Switches = std::vector<SwitchIndex>;

  void compare(SwitchIndex s, const Switches& alike) {
    std::map<std::size_t, std::size_t> counts;
    for (const auto other : alike) counts[cables_of_switch(topology_, other)] += other != s ? 1U : 0U;
    const auto usual = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    const auto [wanted, with] = *usual;
    const auto have = cables_of_switch(topology_, s), others = alike.size() - 1;
    if (with < 2 || with * 3 < others * 2 || have >= wanted || (wanted - have) * 2 > wanted) return;
    const bool known = std::ranges::any_of(health_.findings, [&](const Finding& finding) {
      return is_fault(finding) && std::ranges::count(finding.ports, topology_.guid(s), &PortName::node) != 0;
    });
    if (known) return;
    // A switch without its cable to one of several leaves does not show which.
    const bool one_leaf =
        std::ranges::all_of(alike, [&](SwitchIndex other) { return topology_.groups(other) == 1; });
    const auto leaf = one_leaf ? topology_.group(s, 0).peer : kNoSwitch;
    std::vector<PortNum> taken_here, taken_there;
    for (auto i = have; i < wanted; ++i) {
      taken_here.push_back(port_of(s, alike, taken_here, false));
      if (one_leaf) taken_there.push_back(port_of(leaf, alike, taken_there, true));
      report(s, {taken_here.back(), one_leaf ? taken_there.back() : PortNum{}}, leaf,
             fmt::format("{} of {} switches like {} have {} cables to leaves, it has {}", with, others,
                         in_.name(topology_.guid(s)), wanted, have));
    }
  }

  /// The port of `s` without a link that most of these switches use for their cables to leaves, or `above`
  /// these leaves for theirs.
  PortNum port_of(SwitchIndex s, const Switches& alike, const std::vector<PortNum>& taken, bool above) const {
    std::map<PortNum, std::size_t> usual;
    for (const auto other : alike) {
      for (std::size_t g = 0; g < topology_.groups(other); ++g) {
        for (const auto port : topology_.group(other, g).ports)
          ++usual[above ? topology_.peer(other, port).port : port];
      }
    }
    return most_usual_unlinked(topology_, s, usual, taken);
  }

  void report(SwitchIndex s, std::pair<PortNum, PortNum> ports, SwitchIndex leaf, const std::string& why) {
    const auto end = [&](SwitchIndex at, PortNum port) {
      const auto name = in_.name(topology_.guid(at));
      return port == PortNum{} ? name : fmt::format("{} port {}", name, port);
    };
    Finding finding{CablingFault::missing, {{topology_.guid(s), ports.first}}, {}};
    if (leaf == kNoSwitch) {
      finding.text = fmt::format("no cable to a leaf at {}: {}", end(s, ports.first), why);
    } else {
      finding.ports.push_back({topology_.guid(leaf), ports.second});
      finding.text =
          fmt::format("no cable between {} and {}: {}", end(s, ports.first), end(leaf, ports.second), why);
    }
    health_.findings.push_back(std::move(finding));
  }

  const HealthInput& in_;
  const Topology& topology_;
  Health& health_;
  std::map<std::uint32_t, Switches> by_hosts_;  ///< by the number of hosts
};

}  // namespace

std::optional<SwitchIndex> leaf_above(const Topology& topology, SwitchIndex s) {
  if (!topology.leaf(s) || topology.groups(s) != 1) return std::nullopt;
  const auto above = topology.group(s, 0).peer;
  if (!topology.leaf(above) || topology.groups(above) == 1) return std::nullopt;
  return above;
}

void check_small_switches(const HealthInput& in, Health& health) { SmallSwitches(in, health).check(); }

}  // namespace smd::routing::inline cabling
