// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "routing/verify/report.h"

namespace smd::routing::inline verify {
namespace {

/// Longer paths end with dots.
constexpr std::size_t kHopsShown = 12;

std::string egress(const std::vector<Hop>& hops, const Topology& topology, bool with_lids) {
  std::string text;
  for (std::size_t i = 0; i < hops.size() && i < kHopsShown; ++i) {
    const auto& hop = hops[i];
    if (i != 0) text += " -> ";
    text += hop.out == kNoPort ? fmt::format("{} no route", topology.guid(hop.sw))
                               : fmt::format("{} port {}", topology.guid(hop.sw), hop.out);
    if (with_lids && hop.lid != Lid{}) text += fmt::format(" (LID {})", hop.lid);
  }
  return hops.size() > kHopsShown ? text + " -> ..." : text;
}

/// "0x… name", of an aggregation node with its switch, as all of them have much the same name.
std::string end_port(Guid guid, const Topology& topology, const std::function<std::string(Guid)>& name) {
  const auto end = std::ranges::find(topology.end_ports(), guid, &EndPort::guid);
  if (end == topology.end_ports().end()) return fmt::format("{}", guid);
  auto text = fmt::format("{} {}", guid, name(end->node));
  if (end->kind == EndKind::aggregation && end->sw != kNoSwitch)
    text += fmt::format(" of {}", name(topology.guid(end->sw)));
  return text;
}

}  // namespace

std::string describe(const Verification& found, const Topology& topology) {
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what, const std::vector<Hop>& example,
                       bool with_lids) {
    if (count == 0) return;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", count, what);
    if (example.empty()) return;
    if (!with_lids) text += fmt::format(", for example LID {}", example.front().lid);
    text += ": " + egress(example, topology, with_lids);
  };
  add(found.host_pairs_unreachable, "host pairs without a route", found.unreachable_example, false);
  add(found.loops, "(switch, LID) pairs in loops", found.loop_example, false);
  add(found.dead_ends, "(switch, LID) pairs that end nowhere", found.dead_end_example, false);
  add(found.credit_loops, "credit loops", found.credit_loop_example, true);
  add(found.management_credit_loops, "credit loops of traffic to and from switches",
      found.credit_loop_example, true);
  return text.empty() ? "ok" : text;
}

std::string describe_left_out(const Verification& found, const Topology& topology,
                              const std::function<std::string(Guid)>& name) {
  if (found.aggregation_pairs_unreachable == 0) return {};
  const auto& [from, to] = found.aggregation_pair;
  return fmt::format("{} pairs of a host and an aggregation node have no legal path, as from {} to {}",
                     found.aggregation_pairs_unreachable, end_port(from, topology, name),
                     end_port(to, topology, name));
}

}  // namespace smd::routing::inline verify
