// SPDX-License-Identifier: Apache-2.0
#include "smd/report/adaptive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kNamedSwitches = 8;

/// "switches=12 guids=0x…,… names=…,…", the first of many.
void add_switches(log::Event& event, const std::vector<const Node*>& switches) {
  std::vector<std::string> guids, names;
  for (std::size_t i = 0; i < std::min(kNamedSwitches, switches.size()); ++i) {
    guids.push_back(fmt::format("{}", switches[i]->guid()));
    names.push_back(switches[i]->description);
  }
  const auto* more = switches.size() > kNamedSwitches ? ",..." : "";
  event.kv("switches", switches.size())
      .kv("guids", fmt::format("{}{}", fmt::join(guids, ","), more))
      .kv("names", fmt::format("{}{}", fmt::join(names, ","), more));
}

std::string_view action_of(config::AdoptAdaptive does, bool dry_run) {
  if (does == config::AdoptAdaptive::disable)
    return dry_run ? "smd run switches it off" : "it is switched off";
  return "switch it off by [adopt] adaptive_routing = \"disable\", or with the SM that has set it";
}

}  // namespace

void log_adaptive(const log::Log& log, const Subnet& subnet, config::AdoptAdaptive does, bool dry_run) {
  std::vector<const Node*> switches;
  for (const auto& node : subnet.nodes) {
    if (node->routes_adaptively()) switches.push_back(node.get());
  }
  if (switches.empty()) return;
  auto&& event = log.warn("routing.adaptive");
  add_switches(event, switches);
  event
      .kv("reason",
          "another SM has left adaptive routing on: packets leave by its groups of ports, past "
          "the forwarding tables")
      .kv("action", action_of(does, dry_run))
      .always();
}

void log_adaptive_ended(const log::Log& log, const Subnet& before, const Subnet& after) {
  std::vector<const Node*> switches;
  for (std::size_t i = 0; i < after.nodes.size(); ++i) {
    if (before.nodes[i]->routes_adaptively() && !after.nodes[i]->routes_adaptively())
      switches.push_back(after.nodes[i].get());
  }
  if (switches.empty()) return;
  auto&& event = log.info("routing.adaptive_disabled");
  add_switches(event, switches);
  event.kv("action", "packets go by the forwarding tables").always();
}

std::vector<std::size_t> perhaps_ended(const Subnet& subnet, const Applied& applied) {
  std::vector<std::size_t> found;
  for (const auto& answer : applied.lfts) {
    if (subnet.nodes[answer.node]->routes_adaptively()) found.push_back(answer.node);
  }
  std::ranges::sort(found);
  const auto [again, end] = std::ranges::unique(found);
  found.erase(again, end);
  return found;
}

}  // namespace smd::sm::inline reports
