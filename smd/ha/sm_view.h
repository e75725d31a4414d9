// SPDX-License-Identifier: Apache-2.0
#pragma once
// This SM and the others as readers on other threads see them, and what is going to happen.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/base/published.h"
#include "mad/clock.h"
#include "smd/ha/sm_machine.h"
#include "smd/ha/sm_rank.h"

namespace smd::sm::inline availability {

/// Another SM, as its last answer of any kind said.
struct SeenSm {
  OtherSm sm;
  std::int64_t seen = 0;  ///< seconds since 1970 of that answer; 0: there was none
};

struct SmView {
  machine::State state;
  machine::Shown shown;          ///< what our SMInfo says
  std::uint32_t act_count = 0;   ///< ours
  std::int64_t quiet_until = 0;  ///< seconds since 1970; of Deferral::quiet
  mad::Duration takeover{};      ///< how long after its last answer a standby misses the master, at most
  mad::TimePoint polled_at{};    ///< of the last answer of the master that is polled
  std::vector<SeenSm> others;    ///< by port GUID
};
using PublishedSms = base::Published<SmView>;

/// The standby that becomes master when we fail: the one with the highest rank, with a copy or without. Pure.
std::optional<OtherSm> next_master(const SmView& view);

/// What this SM will do next, or waits for, in one sentence. `now`: seconds since 1970. Pure.
std::string outlook(const SmView& view, std::int64_t now);
/// What will become of another SM, in one sentence. Pure.
std::string outlook(const SmView& view, const SeenSm& other);

/// Why another SM is never obeyed, in the words of its outlook; empty: it is. Pure.
std::string why_stranger(const SmView& view, const wire::SmInfo& info);

/// The SM that gets the fabric by `smd handover`, or when this process ends (machine::successor); the error
/// is why there is none, in one line. Pure.
std::expected<OtherSm, std::string> successor(const SmView& view, std::optional<Guid> only);

}  // namespace smd::sm::inline availability
