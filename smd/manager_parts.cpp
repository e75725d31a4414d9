// SPDX-License-Identifier: Apache-2.0
// Parts that are asked for between two sweeps: groups, alias GUIDs, clients that have to register again.
#include <utility>

#include "smd/manager.h"

namespace smd::sm {

void SubnetManager::set_groups(Groups groups) {
  loop_.set_groups(std::move(groups));
  agenda_.add(PartSet{Part::multicast});
}

void SubnetManager::reregister(const std::vector<Guid>& ports) {
  if (options_.once) return;  // it ends before it could answer what clients then ask
  loop_.reregister({ports.begin(), ports.end()});
  agenda_.add(PartSet{Part::clients});
}

void SubnetManager::set_guids(const std::vector<GuidBlock>& blocks) {
  loop_.set_guids(blocks);
  agenda_.add(PartSet{Part::guids});
}

void SubnetManager::read_vl_tables_first(Guid node) { vl_tables_.read_first(node); }

/// False when cancelled.
asio::awaitable<bool> SubnetManager::read_some_vl_tables() {
  const auto read = co_await vl_tables_.read_some();
  if (read.cancelled) co_return false;
  if (read.altered && !mastership_.contested() && !unsettled_) judge_again();
  if (read.to_publish && published()->subnet != loop_.subnet()) publish_between_sweeps();
  co_return true;
}

/// These parts, and what earlier runs of such parts have left. False when cancelled.
asio::awaitable<bool> SubnetManager::reconcile(PartSet parts) {
  if (!loop_.subnet() || !loop_.decided().routes || mastership_.state() != wire::SmState::master) {
    loop_.reregister({});
    co_return true;
  }
  parts.insert(loop_.unfinished());
  const auto ran = co_await loop_.run(
      {.parts = parts, .keep_unknown_groups_until = mastership_.master_since() + config_->adopt.grace});
  if (!ran.reregistered.empty()) {
    parts_.log.info("sa.reregister")
        .kv("ports", ran.reregistered.size())
        .kv("not_asked", ran.not_reregistered)
        .kv("reason", "what their clients had registered is not known");
    events_.publish(events::ClientsReregistered{ran.reregistered});
  }
  if (ran.cancelled) co_return false;
  if (ran.changed) publish_between_sweeps();
  co_return true;
}

}  // namespace smd::sm
