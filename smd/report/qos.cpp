// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos.h"

#include <algorithm>

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kPendingLines = 10;

void log_pending(const log::Log& log, const QosPolicyPart* before, const QosPolicyPart& now) {
  std::size_t lines = 0;
  for (const auto& one : now.pending) {
    if (before != nullptr && std::ranges::find(before->pending, one) != before->pending.end()) continue;
    if (++lines > kPendingLines) continue;
    log.warn("qos.pending")
        .kv("where", config::place_of(one.source, *now.policy))
        .kv("item", one.item)
        .kv("reason", one.reason);
  }
  if (lines > kPendingLines)
    log.warn("qos.pending").kv("items", lines).kv("not_named", lines - kPendingLines);
}

void log_qos_ports(const log::Log& log, const QosPart* before, const QosPart& now) {
  std::size_t lines = 0;
  for (const auto& one : now.pending) {
    if (before != nullptr && std::ranges::find(before->pending, one) != before->pending.end()) continue;
    if (++lines <= kPendingLines) log.warn("qos.pending").kv("item", one);
  }
  if (lines > kPendingLines)
    log.warn("qos.pending").kv("items", lines).kv("not_named", lines - kPendingLines);
}

}  // namespace

void log_qos(const log::Log& log, const Decided& before, const Decided& now) {
  if (now.qos_tables && before.qos_tables != now.qos_tables)
    log_qos_ports(log, before.qos_tables.get(), *now.qos_tables);
  if (before.qos_policy == now.qos_policy) return;
  if (!now.qos_policy) {
    log.info("qos.off").always();
    return;
  }
  const auto& policy = *now.qos_policy->policy;
  if (!before.qos_policy || !(*before.qos_policy->policy == policy))
    log.info("qos.policy")
        .kv("file", policy.file)
        .kv("levels", policy.levels.size())
        .kv("rules", policy.rules.size())
        .kv("protocols", policy.ulps.size())
        .kv("groups", policy.groups.size())
        .always();
  log_pending(log, before.qos_policy.get(), *now.qos_policy);
}

}  // namespace smd::sm::inline reports
