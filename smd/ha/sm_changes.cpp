// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_changes.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::sm::inline availability {
namespace {

const OtherSm* find(const std::vector<OtherSm>& all, Guid guid) {
  const auto at = std::ranges::find(all, guid, [](const OtherSm& other) { return other.info.guid; });
  return at != all.end() ? &*at : nullptr;
}

}  // namespace

SmChanges sm_changes(const std::vector<OtherSm>& before, const std::vector<OtherSm>& now) {
  SmChanges changes;
  for (const auto& other : now) {
    const auto* was = find(before, other.info.guid);
    if (!other.answered) {
      if (was == nullptr || was->answered) changes.gone.push_back(other);
      continue;
    }
    const bool same = was != nullptr && was->answered && was->info.state == other.info.state &&
                      was->info.priority == other.info.priority;
    if (!same) changes.seen.push_back(other);
  }
  for (const auto& other : before) {
    if (other.answered && find(now, other.info.guid) == nullptr) changes.gone.push_back(other);
  }
  return changes;
}

void log_sms(const log::Log& log, const SmChanges& changes) {
  const auto write = [](log::Event& event, const OtherSm& other) {
    event.port(other.at.node, other.node_description, other.at.port)
        .kv("sm_guid", other.info.guid)
        .kv("lid", other.lid)
        .kv("priority", other.info.priority)
        .kv("state", other.info.state);
    // Each change is a line; how many there may be in a minute is the same for all of them.
    event.subject(fmt::format("{} {} {}", other.info.guid, other.info.priority, to_string(other.info.state)));
  };
  for (const auto& other : changes.gone) {
    auto&& event = log.warn("sm.gone");
    write(event, other);
    event.kv("reason", other.answered ? "its port is no SM any more, or is gone" : "no response to SMInfo");
  }
  for (const auto& other : changes.seen) {
    auto&& event = log.info("sm.seen");
    write(event, other);
  }
}

}  // namespace smd::sm::inline availability
