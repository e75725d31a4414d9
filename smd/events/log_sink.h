// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operator's log events in the ring.

#include <functional>
#include <memory>

#include "smd/events/ring.h"
#include "smd/log/log.h"

namespace smd::events {

/// Partitions of the ports that a line names. Called from any thread.
using FindMembers = std::function<MembersOf(const log::Record&)>;

/// For Log::set_sink(): every line of level info or above, whatever [log] level says, repetitions left out.
/// Without `members` no event knows of partitions.
log::Sink log_sink(std::shared_ptr<EventRing> ring, FindMembers members = {});

}  // namespace smd::events
