// SPDX-License-Identifier: Apache-2.0
#pragma once
// A switch with three hosts, whose partitions are decided.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "smd/decide/partitions.h"
#include "smd/policy/policies.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {

inline constexpr std::uint64_t kThird = 0x300;

/// Hosts 0x100 (the SM), 0x200 and 0x300 on ports 1 to 3 of switch 0x10, all with the default key.
class DecidePartitions : public testing::Test {
 protected:
  DecidePartitions() {
    fabric_.add_switch(kSwitch);
    hosts_ = {kHost, kOther, kThird};
    for (unsigned i = 0; i < hosts_.size(); ++i) {
      fabric_.host(hosts_[i], kSwitch, i + 1);
      fabric_.node(hosts_[i]).description = fmt::format("h{}", i);
      fabric_.node(hosts_[i]).info.partition_cap = 32;
      holds(hosts_[i], 1, {kDefaultPKey});
      holds(kSwitch, i + 1, {kDefaultPKey});
    }
    auto& info = *fabric_.node(kSwitch).switch_info;
    info.partition_enforcement_cap = 32;
    info.inbound_enforcement = info.outbound_enforcement = true;
    fabric_.node(kSwitch).info.partition_cap = 32;
    fabric_.node(kSwitch).description = "leaf";
    holds(kSwitch, 0, {kDefaultPKey});
    fabric_.sm(kHost, 1);
  }
  void holds(std::uint64_t node, unsigned port, std::vector<PKey> keys) {
    HeldBlocks<wire::PKeyTable> held;
    held.row.resize(1);
    std::ranges::copy(keys, held.row[0].keys.begin());
    held.known = held.asked = BlockSet::first(1);
    fabric_.port(node, port).held<wire::PKeyTable>() =
        std::make_shared<const HeldBlocks<wire::PKeyTable>>(std::move(held));
  }
  PartitionDecision decide(bool adopting = false) {
    return decide_partitions({.subnet = fabric_.build(),
                              .config = config_,
                              .policy = policy::merged_policy(config_, {}),
                              .stored = stored_,
                              .adopting = adopting});
  }
  /// Keys of a port's table without the free entries at its end; nothing where it is not decided.
  static std::vector<PKey> keys(const PartitionDecision& decision, std::uint64_t node, unsigned port) {
    std::vector<PKey> found;
    for (const auto& block : decision.tables.blocks) {
      if (block.at == test::place(node, port))
        found.insert(found.end(), block.content.keys.begin(), block.content.keys.end());
    }
    while (!found.empty() && found.back() == PKey{}) found.pop_back();
    return found;
  }
  static std::pair<bool, bool> bits(const PartitionDecision& decision, unsigned port) {
    const auto* found = decision.part.find_enforced(test::place(kSwitch, port));
    return found != nullptr ? std::pair(found->in, found->out) : std::pair(false, false);
  }

  /// Another SM on this host, as it answers.
  static OtherSm sm_on(std::uint64_t host, std::uint64_t key) {
    return {.at = test::place(host, 1),
            .node_description = {},
            .lid = {},
            .info = {.guid = test::port_guid(host, 1), .sm_key = key}};
  }
  PartitionDecision decide_with(std::vector<OtherSm> sms, std::vector<OtherSm> former = {}) {
    auto subnet = fabric_.build();
    subnet.other_sms = std::move(sms);
    subnet.former_sms = std::move(former);
    return decide_partitions({.subnet = subnet,
                              .config = config_,
                              .policy = policy::merged_policy(config_, {}),
                              .stored = stored_});
  }

  SubnetBuilder fabric_;
  std::vector<std::uint64_t> hosts_;
  config::SubnetConfig config_;
  Stored stored_;
};

}  // namespace smd::sm
