// SPDX-License-Identifier: Apache-2.0
// Groups change far more often than the fabric: their trees are decided and written without a sweep.
#include <algorithm>
#include <utility>

#include "routing/multicast/table.h"
#include "smd/apply/advance.h"
#include "smd/apply/apply.h"
#include "smd/decide/multicast.h"
#include "smd/manager.h"
#include "smd/plan/mft_rounds.h"
#include "smd/plan/top_round.h"
#include "smd/report/trouble.h"

namespace smd::sm {

void SubnetManager::set_groups(Groups groups) {
  groups_ = std::move(groups);
  agenda_.add(Work::multicast, "groups");
}

/// Who was a member before we were master may not have joined again yet.
bool SubnetManager::keeps_unknown_groups() const {
  return parts_.clock.now() < mastership_.master_since() + config_->adopt.grace;
}

/// Of multicast tables, those that groups take which were stored or are decided on.
std::size_t SubnetManager::multicast_entries() const {
  auto entries = decided_.multicast ? decided_.multicast->top : std::size_t{0};
  if (parts_.store == nullptr) return entries;
  for (const auto& [mlid, users] : parts_.store->registry()->mlids())
    entries = std::max(entries, routing::mlid_index(mlid) + 1);
  return entries;
}

/// False when cancelled. What fails is planned again, by the next sweep at the latest.
asio::awaitable<bool> SubnetManager::regroup() {
  constexpr unsigned kAttempts = 3;
  if (!subnet_ || !decided_.routes || mastership_.state() != wire::SmState::master) co_return true;
  const auto before = tx_.counters();
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    DecideInput input{.subnet = *subnet_,
                      .config = *config_,
                      .stored = *stored_,
                      .keep_unknown_groups = keeps_unknown_groups(),
                      .previous = &decided_,
                      .parallel = parts_.compute.parallel()};
    auto next = decided_;
    Plan plan;
    const auto groups = groups_;  // which may be another one while this is computed
    const bool planned = co_await parts_.compute.execute([&] {
      input.multicast = groups ? groups() : nullptr;
      next.multicast = decide_multicast(input, *decided_.routes);
      const PlanInput to_plan{*subnet_, next};
      if (auto tops = top_round(to_plan); tops.sets() != 0) plan.rounds.push_back(std::move(tops));
      for (auto& round : mft_rounds(to_plan)) plan.rounds.push_back(std::move(round));
    });
    if (!planned) co_return false;
    const bool same = next.multicast == decided_.multicast && plan.empty();
    if (same && attempt == 1) co_return true;
    decided_ = std::move(next);
    if (plan.empty()) break;
    ApplyInput to_write{subnet_, decided_, std::move(plan)};
    const auto applied = co_await apply(&tx_, &parts_.clock, std::move(to_write));
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
    auto written = advance(*subnet_, decided_, applied);
    log_not_kept(parts_.log, *subnet_, written);
    subnet_ = std::make_shared<const Subnet>(std::move(written));
    log_failed(parts_.log, *subnet_, applied);
  }
  const auto sent = tx_.counters() - before;
  parts_.log.debug("multicast")
      .kv("groups", decided_.multicast ? decided_.multicast->groups->size() : 0)
      .kv("smps_set", sent.total(&mad::AttributeCounters::sent, wire::Method::set));
  publish_between_sweeps();
  co_return true;
}

}  // namespace smd::sm
