// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operator's log events in the ring.

#include <memory>

#include "smd/events/ring.h"
#include "smd/log/log.h"

namespace smd::events {

/// For Log::set_sink(): every line of level info or above, whatever [log] level says, repetitions left out.
log::Sink log_sink(std::shared_ptr<EventRing> ring);

}  // namespace smd::events
