// SPDX-License-Identifier: Apache-2.0
#include "smd/report/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "smd/decide/granted_keys.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline reports {
namespace {

/// By the partitions that the port is a member of.
std::optional<std::vector<PKey>> keys_of_member(const Decided& decided, const PeerPort& at) {
  if (!decided.partitions || !decided.partitions->managed) return std::nullopt;
  std::vector<PKey> keys;
  for (const auto& partition : decided.partitions->partitions) {
    const auto member = std::ranges::find(partition.members, at, &PartitionPart::Member::at);
    if (member == partition.members.end()) continue;
    const bool full = member->membership != config::Membership::limited;
    keys.push_back(full ? partition.pkey.full() : PKey{partition.pkey.partition()});
  }
  return keys;
}

std::optional<std::vector<PKey>> keys_of_port(const Decided& decided, const Node& node, PortNum port) {
  const PeerPort at{node.guid(), port};
  const auto& held = node.ports[port.value()].held<wire::PKeyTable>();
  if (!held || held->known.empty()) return keys_of_member(decided, at);
  auto keys = keys_of(*held);
  if (const auto blocks = decided_blocks(decided, at); !blocks.empty()) {
    for (auto& key : keys) key = granted_key(key, blocks);
  }
  return keys;
}

}  // namespace

std::string shared_keys(const Decided& decided, const Node& a, PortNum port_of_a, const Node& b,
                        PortNum port_of_b) {
  const auto ours = keys_of_port(decided, a, port_of_a), theirs = keys_of_port(decided, b, port_of_b);
  if (!ours || !theirs) return "unknown";
  std::string text;
  std::vector<PKey> named;
  for (const auto key : *ours) {
    const bool both =
        key != PKey{} && std::ranges::any_of(*theirs, [&](PKey other) { return key.matches(other); });
    if (!both || std::ranges::find(named, key.full()) != named.end()) continue;
    named.push_back(key.full());
    text += fmt::format("{}{}", text.empty() ? "" : ",", key.full());
  }
  return text.empty() ? "none" : text;
}

}  // namespace smd::sm::inline reports
