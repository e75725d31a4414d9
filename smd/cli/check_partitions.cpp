// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_partitions.h"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>

#include "mad/base/escaped.h"
#include "mad/base/rate.h"
#include "smd/policy/policies.h"

namespace smd::cli {
namespace {

/// Codes of the wire beside what they mean.
std::string group_words(const config::PolicyGroup& group) {
  const auto mtu = group.mtu == Mtu::none
                       ? std::string("as the ports have it")
                       : fmt::format("{} bytes (code {})", bytes(group.mtu), std::to_underlying(group.mtu));
  const auto rate =
      group.rate == 0
          ? std::string("as the ports have it")
          : fmt::format("{:g} Gb/s (code {})", static_cast<double>(rate_mbps(group.rate)) / 1000, group.rate);
  auto words = fmt::format("MTU {}, rate {}, SL {}, Q_Key 0x{:08x}", mtu, rate, group.sl, group.qkey);
  if (group.tclass != 0) words += fmt::format(", TClass {}", group.tclass);
  if (group.flow_label != 0) words += fmt::format(", FlowLabel 0x{:05x}", group.flow_label);
  return words;
}

void print_policy(std::ostream& out, const std::string& prefix, const config::PartitionPolicy& policy) {
  for (const auto& partition : policy.partitions) {
    out << fmt::format("{}partition {} {}{}", prefix, partition.pkey, base::escaped(partition.name),
                       partition.automatic ? " (P_Key chosen)" : "");
    std::string sources;
    for (const auto& source : partition.sources) {
      if (source.origin != config::PolicyOrigin::built_in)
        sources += (sources.empty() ? "" : ", ") + to_string(source, policy);
    }
    out << fmt::format(", {}\n", sources.empty() ? "built in" : sources);
    for (const auto& rule : partition.members)
      out << fmt::format("{}  {}{}: {}\n", prefix, to_string(rule.membership), rule.index0 ? ", index 0" : "",
                         base::escaped(to_string(rule.ports)));
    for (const auto& group : partition.groups)
      out << fmt::format("{}  group {}: {}\n", prefix, to_string(group.mgid), group_words(group));
  }
}

}  // namespace

void print_configured_partitions(std::ostream& out, const config::Config& config) {
  for (const auto& subnet : config.subnets) {
    const auto policy = policy::merged_policy(subnet, {});
    if (!policy || !policy->configured) continue;
    print_policy(out, config.subnets.size() > 1 ? subnet.name + ": " : "", *policy);
  }
}

}  // namespace smd::cli
