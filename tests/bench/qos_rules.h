// SPDX-License-Identifier: Apache-2.0
#pragma once
// A QoS policy of many rules for any fabric, the same at each call.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "config/qos_policy.h"
#include "smd/sweep/subnet.h"

namespace smd::bench {

/// Groups of about a tenth of the ports each, by ranges of GUIDs; rules by groups, service IDs, QoS classes
/// and P_Keys.
inline std::shared_ptr<const config::QosPolicy> random_qos_policy(const sm::Subnet& subnet, unsigned rules,
                                                                  unsigned groups) {
  std::vector<std::uint64_t> guids;
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch()) guids.push_back(node->ports.at(1).guid.value());
  }
  std::ranges::sort(guids);
  std::mt19937_64 random(2);
  config::QosPolicy policy{.file = "bench"};
  policy.levels = {{.name = "DEFAULT"}, {.name = "L", .sl = Sl{1}, .mtu_limit = Mtu::m2048}};
  for (unsigned i = 0; i < groups; ++i) {
    config::QosGroup group{.name = fmt::format("g{}", i)};
    for (unsigned part = 0; part < 10; ++part) {
      const auto first = random() % guids.size();
      const auto last = std::min(first + guids.size() / 100, guids.size() - 1);
      group.port_guids.push_back({guids[first], guids[last]});
    }
    policy.groups.push_back(std::move(group));
  }
  for (unsigned i = 0; i < rules; ++i) {
    config::QosRule rule{.level = "L"};
    if (i % 2 == 0) rule.source_groups = {fmt::format("g{}", random() % groups)};
    if (i % 3 != 1) rule.destination_groups = {fmt::format("g{}", random() % groups)};
    if (i % 3 == 1) rule.service_ids = {{0x1060000 + i, 0x1060000 + i}};
    if (i % 5 == 0) rule.qos_classes = {{i % 4096, i % 4096}};
    // One in each group of rules asks for a P_Key that the requests do not have, so that it is looked at.
    if (i % 3 != 1) rule.pkeys = {{0x10, 0x20}};
    policy.rules.push_back(std::move(rule));
  }
  return std::make_shared<const config::QosPolicy>(std::move(policy));
}

}  // namespace smd::bench
