// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this SM shows of itself, and which other SMs may have the fabric.

#include <optional>
#include <vector>

#include "smd/ha/sm_machine.h"

namespace smd::sm::inline availability::machine {

/// State, priority and GUID as SMInfo shows them. A master shows its master priority, and Discovering where
/// it is master of its own port alone; an SM that defers shows priority 0, and Not-active where that would
/// still outrank the SM that it follows.
struct Shown {
  wire::SmState state{};
  SmRank rank;
};
/// What our SMInfo shows in this state. Pure.
Shown shown(const State& now);

/// The rank by which we compete: the one that is shown; below all others where we show Not-active. Pure.
SmRank competing_rank(const State& now);

/// The rank that another SM shows.
inline SmRank rank_of(const wire::SmInfo& info) { return {info.priority, info.guid}; }

/// It shows an SM_Key, which is not ours. Pure.
bool has_other_key(const State& now, const wire::SmInfo& info);
/// Whether an SM belongs to this subnet: [sm] allowed_guids names it, or names none, and it does not show
/// another SM_Key. Others never get a HANDOVER, and none of theirs counts. Pure.
bool is_obeyed(const State& now, const wire::SmInfo& info);

/// The SM that we give way to (election.h), without those that handed the fabric over to us, are ignored by
/// configuration, are hung or stuck, or wait for a fabric that they may not have or did not take, as all do
/// while one that was handed over to us is to be ours. Pure.
std::optional<OtherSm> rival(const State& now, std::vector<OtherSm> others);

/// The standby that a master has to hand over to: the highest of those that outrank it and may have the
/// fabric. Pure.
std::optional<OtherSm> heir(const State& now, const std::vector<OtherSm>& others);

/// The SM that gets the fabric where the master gives it up by itself, whatever the ranks: of the standbys
/// that may have it one that has all that was committed here, else one that copies it, else any; else one
/// that shows Not-active (an smd that defers), in the same order. Of equals the highest; nothing: there is
/// none. `only`: that one or none. Pure.
std::optional<OtherSm> successor(const State& now, const std::vector<OtherSm>& others,
                                 std::optional<Guid> only);

/// We are the standby of a master that we outrank, which obeys us. Pure.
bool outranks_master(const State& now);

}  // namespace smd::sm::inline availability::machine
