// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/base/rate.h"
#include "routing/cabling/health.h"
#include "routing/statistics.h"

namespace smd::routing::inline cabling {
namespace {

/// Cables that should have the same rate: between two ranks, or to end ports of one kind.
struct Kind {
  std::int32_t rank = 0, far_rank = 0;
  int end_kind = -1;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

struct Cable {
  SwitchIndex sw = 0;
  PortNum port;
  PortRate rate;
};

using ByKind = std::map<Kind, std::vector<Cable>>;

ByKind cables(const HealthInput& in, const SwitchRanking& ranking) {
  ByKind all;
  const auto& topology = in.topology;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.end == kNoEnd && (peer.sw == kNoSwitch || !ranking.up(s, peer.sw))) continue;
      Kind kind{ranking.rank[s], 0, -1};
      if (peer.end != kNoEnd) kind.end_kind = static_cast<int>(topology.end_ports()[peer.end].kind);
      if (peer.sw != kNoSwitch) kind.far_rank = ranking.rank[peer.sw];
      all[kind].push_back({s, port, in.rate({topology.guid(s), port})});
    }
  }
  return all;
}

/// The value of three quarters of the cables.
template <class Value>
std::optional<Value> usual(const std::vector<Cable>& cables, Value PortRate::* member) {
  std::map<Value, std::size_t> counts;
  for (const auto& cable : cables) ++counts[cable.rate.*member];
  return three_quarter_majority(counts);
}

void describe(const HealthInput& in, const Cable& cable, CablingFault kind, std::string_view is,
              std::string_view usual, Health& health) {
  const auto& topology = in.topology;
  const auto peer = topology.peer(cable.sw, cable.port);
  const bool host = peer.end != kNoEnd;
  const auto far = host ? topology.end_ports()[peer.end].node : topology.guid(peer.sw);
  Finding finding{kind, {{topology.guid(cable.sw), cable.port}}, {}};
  finding.ports.push_back({far, host ? PortNum{} : peer.port});  // of end ports the number is not known here
  finding.text = fmt::format("the cable between {} port {} and {}{} runs at {}, others like it at {}",
                             in.name(topology.guid(cable.sw)), cable.port, in.name(far),
                             host ? "" : fmt::format(" port {}", peer.port), is, usual);
  health.findings.push_back(std::move(finding));
}

/// A value of a cable that is worse than the usual one, and the texts of both.
struct Deviation {
  const Cable* cable = nullptr;
  std::string_view is, usual;
};

/// The switches at the ends of a cable that other cables of the same kind share.
std::vector<SwitchIndex> switches_of(const Topology& topology, const Cable& cable) {
  const auto peer = topology.peer(cable.sw, cable.port).sw;
  return peer == kNoSwitch ? std::vector{cable.sw} : std::vector{cable.sw, peer};
}

/// Deviations of one kind of cables by what they are.
class Deviations {
 public:
  Deviations(const HealthInput& in, const std::vector<Cable>& same) : in_(in), same_(same) {
    for (const auto& cable : same) {
      for (const auto s : switches_of(in.topology, cable)) ++all_[s];
    }
  }

  void add(const Deviation& deviation) {
    found_.push_back(deviation);
    for (const auto s : switches_of(in_.topology, *deviation.cable)) ++at_[{s, deviation.is}];
  }

  /// Faults one by one; what is a design in a sentence for each value.
  void report(CablingFault fault, Health& health) const {
    std::map<std::string_view, std::vector<const Deviation*>> designs;
    std::map<std::string_view, std::vector<const Deviation*>> stray;
    for (const auto& deviation : found_)
      (of_a_switch(deviation) ? designs : stray)[deviation.is].push_back(&deviation);
    for (const auto& [value, cables] : stray) {
      if (cables.size() > kFewCables && cables.size() * 20 > same_.size()) {
        designs[value].insert(designs[value].end(), cables.begin(), cables.end());
        continue;
      }
      for (const auto* const one : cables) describe(in_, *one->cable, fault, one->is, one->usual, health);
    }
    for (const auto& [value, cables] : designs) {
      if (cables.empty()) continue;
      Finding finding{CablingFault::differs, {}, {}};
      for (const auto* const one : cables)
        finding.ports.push_back({in_.topology.guid(one->cable->sw), one->cable->port});
      finding.text =
          fmt::format("{} of {} cables of a kind run at {} where {} is usual: the first is at {} port {}",
                      cables.size(), same_.size(), value, cables.front()->usual,
                      in_.name(in_.topology.guid(cables.front()->cable->sw)), cables.front()->cable->port);
      health.findings.push_back(std::move(finding));
    }
  }

 private:
  /// As many deviating cables, or one of twenty of their kind, may be faults.
  static constexpr std::size_t kFewCables = 3;

  /// Whether three quarters of the cables of a switch at an end (and three or more) have this value: it is
  /// the switch that is of another generation, or its hosts.
  bool of_a_switch(const Deviation& deviation) const {
    return std::ranges::any_of(switches_of(in_.topology, *deviation.cable), [&](SwitchIndex s) {
      const auto alike = at_.at({s, deviation.is});
      return alike >= 3 && alike * 4 >= all_.at(s) * 3;
    });
  }

  const HealthInput& in_;
  const std::vector<Cable>& same_;
  std::vector<Deviation> found_;
  std::map<SwitchIndex, std::size_t> all_;
  std::map<std::pair<SwitchIndex, std::string_view>, std::size_t> at_;
};

/// What a cable of one kind should have: the value of three quarters of the kind, else that of three quarters
/// of the cables (four or more) at one of its switches; of two the lower one.
template <class Value>
class Usual {
 public:
  Usual(const Topology& topology, const std::vector<Cable>& same, Value PortRate::* member)
      : topology_(topology), of_all_(usual(same, member)) {
    if (of_all_) return;
    std::map<SwitchIndex, std::vector<Cable>> by_switch;
    for (const auto& cable : same) {
      for (const auto s : switches_of(topology, cable)) by_switch[s].push_back(cable);
    }
    for (const auto& [s, cables] : by_switch) {
      if (cables.size() < kFewest) continue;
      if (const auto value = usual(cables, member)) of_switch_[s] = *value;
    }
  }

  std::optional<Value> of(const Cable& cable) const {
    if (of_all_) return of_all_;
    std::optional<Value> lower;
    for (const auto s : switches_of(topology_, cable)) {
      const auto at = of_switch_.find(s);
      if (at != of_switch_.end() && (!lower || at->second < *lower)) lower = at->second;
    }
    return lower;
  }

 private:
  static constexpr std::size_t kFewest = 4;
  const Topology& topology_;
  std::optional<Value> of_all_;
  std::map<SwitchIndex, Value> of_switch_;
};

}  // namespace

void check_rates(const HealthInput& in, const SwitchRanking& ranking, Health& health) {
  for (const auto& [kind, same] : cables(in, ranking)) {
    const Usual speeds(in.topology, same, &PortRate::speed);
    const auto width = usual(same, &PortRate::width);
    Deviations slow(in, same), narrow(in, same);
    for (const auto& cable : same) {
      const auto speed = speeds.of(cable);
      if (speed && cable.rate.speed != LinkSpeed::unknown && cable.rate.speed < *speed)
        slow.add({&cable, to_string(cable.rate.speed), to_string(*speed)});
      if (width && cable.rate.width != LinkWidth::unknown && lanes(cable.rate.width) < lanes(*width))
        narrow.add({&cable, to_string(cable.rate.width), to_string(*width)});
    }
    slow.report(CablingFault::slow, health);
    narrow.report(CablingFault::width, health);
  }
}

}  // namespace smd::routing::inline cabling
