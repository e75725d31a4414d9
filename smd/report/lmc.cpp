// SPDX-License-Identifier: Apache-2.0
#include "smd/report/lmc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <vector>

namespace smd::sm::inline reports {
namespace {

/// Ports of CAs and routers in service, by LMC, the highest first.
using PortsByLmc = std::map<std::uint8_t, std::size_t, std::greater<>>;

PortsByLmc ports_by_lmc(const Subnet& subnet) {
  PortsByLmc ports;
  for (const auto& node : subnet.nodes) {
    if (node->is_switch()) continue;
    for (const auto& port : node->ports | std::views::drop(1)) {
      if (port.known && port.info.lid.unicast() && port.info.port_state >= PortState::armed)
        ++ports[port.info.lmc];
    }
  }
  return ports;
}

std::string counts(const PortsByLmc& ports) {
  std::vector<std::string> words;
  for (const auto& [lmc, count] : ports) words.push_back(fmt::format("{} with {}", count, lmc));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

void log_lmc(const log::Log& log, const Subnet& subnet, const LidPart& lids, bool given) {
  const auto ports = ports_by_lmc(subnet);
  if (ports.empty()) return;
  if (!given) {
    if (ports.begin()->first == 0) return;
    auto&& event = ports.size() > 1 ? log.warn("lid.lmc_adopted") : log.info("lid.lmc_adopted");
    event.kv("lmc", lids.lmc).kv("ports", counts(ports));
    event.kv("action", "the LMC stays; lids.lmc in the configuration sets another");
    return;
  }
  std::size_t losing = 0, lost = 0;
  for (const auto& [lmc, count] : ports) {
    if (lmc <= lids.lmc) continue;
    losing += count;
    lost += count * ((std::size_t{1} << lmc) - (std::size_t{1} << lids.lmc));
  }
  if (losing == 0) return;
  log.warn("lid.lmc_lowered")
      .kv("lmc", lids.lmc)
      .kv("ports", losing)
      .kv("lids_lost", lost)
      .kv("held", counts(ports));
}

}  // namespace smd::sm::inline reports
