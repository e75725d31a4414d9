// SPDX-License-Identifier: Apache-2.0
// OpenSM's qos-policy.conf from foreign bytes: a policy or errors, never a crash. What is read makes sense.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/import/qos_policy_conf.h"

namespace {

using namespace smd::config;

void require(bool good) {
  if (!good) std::abort();
}

void check_notes(const std::vector<ConfigError>& notes) {
  for (const auto& note : notes) {
    const auto line = to_string(note);
    require(line.starts_with("x") && line.find('\n') == std::string::npos &&
            line.find('\0') == std::string::npos);
  }
}

void check_ranges(const QosRanges& ranges, std::uint64_t most) {
  for (const auto& range : ranges) require(range.first <= range.last && range.last <= most);
}

void check_level(const QosLevel& level) {
  require(!level.name.empty() && level.sl.value() <= 15 && level.packet_life.value_or(0) <= 63);
  check_ranges(level.pkeys, 0x7fff);
}

void check_rule(const QosPolicy& policy, const QosRule& rule) {
  require(policy.find_level(rule.level) != nullptr);
  for (const auto& name : rule.source_groups) require(policy.find_group(name) != nullptr);
  for (const auto& name : rule.destination_groups) require(policy.find_group(name) != nullptr);
  check_ranges(rule.qos_classes, kMostQosClass);
  check_ranges(rule.pkeys, 0x7fff);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto conf = read_qos_policy_conf(text, "x");
  if (!conf) {
    require(!conf.error().empty());
    check_notes(conf.error());
    return 0;
  }
  check_notes(conf->warnings);
  const auto& policy = conf->policy;
  require(policy.find_level(kDefaultQosLevel) != nullptr || policy.default_ulp);
  for (const auto& level : policy.levels) check_level(level);
  for (const auto& rule : policy.rules) check_rule(policy, rule);
  for (const auto& ulp : policy.ulps) require(ulp.sl.value() <= 15 && !ulp.ranges.empty());
  require(read_qos_policy_conf(text, "x") == *conf);
  return 0;
}
