// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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
  if (!host) finding.ports.push_back({far, peer.port});
  finding.text = fmt::format("the cable between {} port {} and {}{} runs at {}, others like it at {}",
                             in.name(topology.guid(cable.sw)), cable.port, in.name(far),
                             host ? "" : fmt::format(" port {}", peer.port), is, usual);
  health.findings.push_back(std::move(finding));
}

}  // namespace

void check_rates(const HealthInput& in, const SwitchRanking& ranking, Health& health) {
  for (const auto& [kind, same] : cables(in, ranking)) {
    const auto speed = usual(same, &PortRate::speed);
    const auto width = usual(same, &PortRate::width);
    for (const auto& cable : same) {
      if (speed && cable.rate.speed != LinkSpeed::unknown && cable.rate.speed < *speed) {
        describe(in, cable, CablingFault::slow, to_string(cable.rate.speed), to_string(*speed), health);
      }
      if (width && cable.rate.width != LinkWidth::unknown && lanes(cable.rate.width) < lanes(*width)) {
        describe(in, cable, CablingFault::width, to_string(cable.rate.width), to_string(*width), health);
      }
    }
  }
}

}  // namespace smd::routing::inline cabling
