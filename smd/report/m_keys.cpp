// SPDX-License-Identifier: Apache-2.0
#include "smd/report/m_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline reports {
namespace {

/// Nodes that have a line each; of more the first are named in one.
constexpr std::size_t kMostNodes = 8;
constexpr auto kAction =
    "[keys] m_key_file or import_guid2mkey names a file with its M_Key; else clear it with the SM that set "
    "it, or restart the node; a lease that runs out frees it";

std::string lease_text(std::uint16_t seconds) {
  return seconds == 0 ? "for ever" : fmt::format("{}s", seconds);
}

}  // namespace

std::vector<UnknownMKey> unknown_m_keys(const Subnet& subnet, const std::set<Guid>& trapped) {
  std::vector<UnknownMKey> found;
  const auto add = [&](Guid guid, std::string_view evidence) {
    const auto* node = subnet.find(guid);
    for (std::size_t p = 0; node != nullptr && p < node->ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto& info = node->ports[p].info;
      if (!is_end_port(*node, port) || info.m_key_protect == 0 || info.m_key != 0) continue;
      found.push_back({{guid, port}, info.m_key_protect, info.m_key_lease_period, evidence});
    }
  };
  for (const auto guid : subnet.unanswered) add(guid, "Sets are not answered");
  for (const auto guid : trapped) {
    if (!subnet.unanswered.contains(guid)) add(guid, "trap 256");
  }
  std::ranges::sort(found, {}, [](const UnknownMKey& key) { return std::pair(key.at.node, key.at.port); });
  return found;
}

MKeyCounts count_m_keys(const Subnet& subnet, const MKeySettings& settings) {
  MKeyCounts counts;
  if (!settings.secret) return counts;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto& info = node->ports[p].info;
      if (!is_end_port(*node, port) || !node->ports[p].known) continue;
      ++counts.ports;
      const bool none = *settings.secret == 0;
      const bool level = info.m_key_protect == (none ? 0 : settings.level);
      const bool lease = info.m_key_lease_period == (none ? 0 : settings.lease);
      if (info.m_key == *settings.key_of(port_guid(*node, port)) && level && lease) ++counts.done;
    }
  }
  return counts;
}

void log_m_keys(const log::Log& log, const Subnet& subnet, const std::vector<UnknownMKey>& keys) {
  if (keys.size() > kMostNodes) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kMostNodes; ++i) names.push_back(subnet.find(keys[i].at.node)->description);
    log.warn("node.m_key_unknown")
        .kv("nodes", keys.size())
        .kv("names", fmt::format("{}, ...", fmt::join(names, ", ")))
        .kv("protect_bits", keys.front().protect)
        .kv("lease", lease_text(keys.front().lease))
        .kv("reason", keys.front().evidence)
        .kv("action", kAction)
        .subject("many");
    return;
  }
  for (const auto& key : keys) {
    log.warn("node.m_key_unknown")
        .port(key.at.node, subnet.find(key.at.node)->description, key.at.port)
        .kv("protect_bits", key.protect)
        .kv("lease", lease_text(key.lease))
        .kv("reason", key.evidence)
        .kv("action", kAction);
  }
}

std::string_view silence_hint(const Unresponsive& lost) {
  return lost.node != Guid{} ? ""
                             : "; its link is up, so it hangs, or has an M_Key with protection level 2 or 3";
}

}  // namespace smd::sm::inline reports
