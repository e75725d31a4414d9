// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_rank.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "smd/sweep/known_sms.h"

namespace smd::sm::inline availability::machine {
namespace {

using wire::SmState;

bool is_ignored(const State& now, Guid port) { return now.policy.force && !now.policy.lists(port); }

/// It was waited for, and a sweep has looked for a master: it was reading the fabric no longer than we were.
bool is_idle(const State& now, Guid port) {
  constexpr std::uint32_t kTimes = 2;
  const auto found = now.idle.find(port);
  return found != now.idle.end() && found->second >= kTimes;
}

/// It answers always the same, as it did when it was found stuck.
bool is_stuck(const State& now, const OtherSm& other) {
  const auto found = now.stuck.find(other.info.guid);
  return found != now.stuck.end() && (!other.answered || found->second == other.info.act_count);
}

bool may_have_fabric(const State& now, const OtherSm& other) {
  return other.answered && is_obeyed(now, other.info) && !is_ignored(now, other.info.guid);
}

}  // namespace

Shown shown(const State& now) {
  const auto guid = now.self.guid;
  if (now.alone) return {SmState::discovering, now.self};
  if (now.sm == SmState::master) return {now.sm, {std::max(now.self.priority, now.master_priority), guid}};
  if (now.deferral == Deferral::none || now.sm == SmState::not_active) return {now.sm, now.self};
  const SmRank least{0, guid};
  const bool outranks = now.followed && *now.followed < least;
  return {outranks ? SmState::not_active : now.sm, least};
}

SmRank competing_rank(const State& now) {
  const auto shows = shown(now);
  const bool hides = shows.state == SmState::not_active && now.sm != SmState::not_active;
  return hides ? SmRank{0, Guid{std::numeric_limits<std::uint64_t>::max()}} : shows.rank;
}

bool has_other_key(const State& now, const wire::SmInfo& info) {
  return is_other_key(now.sm_key, info.sm_key);
}

bool is_obeyed(const State& now, const wire::SmInfo& info) {
  return now.policy.allows(info.guid) && !has_other_key(now, info);
}

std::optional<OtherSm> rival(const State& now, std::vector<OtherSm> others) {
  std::erase_if(others, [&](const OtherSm& other) {
    const auto guid = other.info.guid;
    const bool waits = other.info.state != SmState::master;
    return now.handed_over_by == guid || is_ignored(now, guid) ||
           (!other.answered && now.hung.contains(guid)) || is_stuck(now, other) ||
           (waits && (now.handed_over_by || now.declined.contains(guid) || is_idle(now, guid) ||
                      !is_obeyed(now, other.info)));
  });
  return gives_way_to(competing_rank(now), now.sm == SmState::master && !now.alone, others);
}

std::optional<OtherSm> heir(const State& now, const std::vector<OtherSm>& others) {
  const OtherSm* best = nullptr;
  for (const auto& other : others) {
    const auto& info = other.info;
    if (!may_have_fabric(now, other) || info.state != SmState::standby) continue;
    if (now.declined.contains(info.guid) || !(competing_rank(now) < rank_of(info))) continue;
    if (best == nullptr || rank_of(best->info) < rank_of(info)) best = &other;
  }
  return best != nullptr ? std::optional{*best} : std::nullopt;
}

std::optional<OtherSm> successor(const State& now, const std::vector<OtherSm>& others,
                                 std::optional<Guid> only) {
  const OtherSm* best = nullptr;
  const auto waits = [](const OtherSm& other) { return other.info.state == SmState::standby; };
  for (const auto& other : others) {
    if (only && other.info.guid != *only) continue;
    const bool usable = waits(other) || other.info.state == SmState::not_active;
    if (!may_have_fabric(now, other) || !usable) continue;
    const auto key = [&](const OtherSm& sm) {
      const auto copy = now.copies.find(sm.info.guid);
      const bool copies = copy != now.copies.end();
      return std::tuple(waits(sm), copies && copy->second, copies, rank_of(sm.info));
    };
    if (best == nullptr || key(*best) < key(other)) best = &other;
  }
  return best != nullptr ? std::optional{*best} : std::nullopt;
}

bool outranks_master(const State& now) {
  if (now.sm != SmState::standby || now.contested || !now.polled || !now.polled->sm.answered) return false;
  const auto& master = now.polled->sm.info;
  if (master.state != SmState::master || !is_obeyed(now, master)) return false;
  return rank_of(master) < competing_rank(now);
}

}  // namespace smd::sm::inline availability::machine
