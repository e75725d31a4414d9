// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos.h"

#include <algorithm>
#include <string>

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kPendingLines = 10;

/// A line for each that is pending in `now` and not in `before` (null: nothing was); `describe` fills it in.
template <class Part, class Describe>
void log_pending(const log::Log& log, const Part* before, const Part& now, Describe describe) {
  std::size_t lines = 0;
  for (const auto& one : now.pending) {
    if (before != nullptr && std::ranges::find(before->pending, one) != before->pending.end()) continue;
    if (++lines <= kPendingLines) describe(log.warn("qos.pending"), one);
  }
  if (lines > kPendingLines)
    log.warn("qos.pending").kv("items", lines).kv("not_named", lines - kPendingLines);
}

}  // namespace

void log_qos(const log::Log& log, const Decided& before, const Decided& now) {
  if (now.qos_tables && before.qos_tables != now.qos_tables)
    log_pending(log, before.qos_tables.get(), *now.qos_tables,
                [](log::Event&& line, const std::string& one) { line.kv("item", one); });
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
  log_pending(log, before.qos_policy.get(), *now.qos_policy, [&](log::Event&& line, const QosPending& one) {
    line.kv("where", config::place_of(one.source, policy)).kv("item", one.item).kv("reason", one.reason);
  });
}

}  // namespace smd::sm::inline reports
