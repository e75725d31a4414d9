// SPDX-License-Identifier: Apache-2.0
#include "config/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/describe.h"
#include "config/describe_blocks.h"
#include "config/refused_policy.h"
#include "config/schema.h"

namespace smd::config {
namespace {

std::vector<std::string> of_settings(const Settings& before, const Settings& after,
                                     const Schema& schema = product_schema()) {
  std::vector<std::string> found;
  for (const auto& key : schema.keys) {
    const auto was = key.show(before);
    const auto is = key.show(after);
    if (was == is) continue;
    if (key.is_array()) {
      for (auto& line : block_differences(key, before, after)) found.push_back(std::move(line));
    } else {
      found.push_back(fmt::format("{} {} -> {}", key.path(), shortened(was), shortened(is)));
    }
  }
  return found;
}

/// Of a configuration whose policy was refused: what was in force instead is not known here.
std::vector<std::string> without_refused(SubnetConfig before, SubnetConfig after, const Schema& schema) {
  const bool partitions = !before.partitions.refused.empty();
  forget_qos_policy(before.qos, {});
  forget_qos_policy(after.qos, {});
  if (partitions) forget_partitions(before, {});
  if (partitions) forget_partitions(after, {});
  auto found = before == after ? std::vector<std::string>{} : differences(before, after, schema);
  found.emplace_back(partitions
                         ? "partitions, groups and QoS policy of the files instead of those accepted last"
                         : "the QoS policy of the files instead of the one accepted last");
  return found;
}

}  // namespace

std::vector<std::string> differences(const LogConfig& before, const LogConfig& after) {
  return of_settings({.log = before}, {.log = after});
}

std::vector<std::string> differences(const ApiConfig& before, const ApiConfig& after) {
  return of_settings({.api = before}, {.api = after});
}

std::vector<std::string> differences(const StoreConfig& before, const StoreConfig& after) {
  return of_settings({.store = before}, {.store = after});
}

std::vector<std::string> differences(const SubnetConfig& before, const SubnetConfig& after,
                                     const Schema& schema) {
  const bool refused = !before.partitions.refused.empty() || !before.qos.refused.empty();
  if (refused && after.partitions.refused.empty() && after.qos.refused.empty())
    return without_refused(before, after, schema);
  if (before == after) return {};  // thousands of members are not shown to see it
  auto found = of_settings({.subnet = before}, {.subnet = after}, schema);
  const bool same_key_file =
      before.sm.key_file == after.sm.key_file && before.keys.sm_key_file == after.keys.sm_key_file;
  if (same_key_file && before.sm.sm_key != after.sm.sm_key) found.emplace_back("what is in keys.sm_key_file");
  const bool same_sa_key_file = before.keys.sa_key_file == after.keys.sa_key_file;
  if (same_sa_key_file && before.keys.sa_key != after.keys.sa_key)
    found.emplace_back("what is in keys.sa_key_file");
  const bool same_m_key_file = before.keys.m_key_file == after.keys.m_key_file;
  if (same_m_key_file && before.keys.m_key != after.keys.m_key)
    found.emplace_back("what is in keys.m_key_file");
  const bool same_psk_file = before.ha.psk_file == after.ha.psk_file;
  if (same_psk_file && before.ha.psk != after.ha.psk) found.emplace_back("what is in ha.psk_file");
  const bool same_map = before.names.map == after.names.map;
  if (same_map && before.names.nodes != after.names.nodes) found.emplace_back("what is in names.map");
  if (found.empty() && before != after) found.emplace_back("what is in a file that it names");
  return found;
}

std::vector<std::string> united(const std::vector<SubnetDifferences>& subnets) {
  std::vector<std::string> all;
  for (const auto& [subnet, items] : subnets) {
    for (const auto& item : items) {
      const bool of_all = std::ranges::all_of(subnets, [&](const SubnetDifferences& other) {
        return std::ranges::find(other.items, item) != other.items.end();
      });
      auto text = of_all ? item : fmt::format("{}: {}", subnet, item);
      if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
    }
  }
  return all;
}

SubnetConfig reloadable(const SubnetConfig& now, SubnetConfig next) {
  next.routing.threads = now.routing.threads;
  auto ha = now.ha;
  ha.profile = next.ha.profile;
  ha.poll = next.ha.poll;
  ha.losses = next.ha.losses;
  ha.quiet = next.ha.quiet;
  ha.policy = next.ha.policy;
  next.ha = std::move(ha);
  return next;
}

}  // namespace smd::config
