// SPDX-License-Identifier: Apache-2.0
#include "smd/events/log_sink.h"

#include <utility>

namespace smd::events {

log::Sink log_sink(std::shared_ptr<EventRing> ring) {
  return {.level = log::Level::info, .take = [to = std::move(ring)](const log::Record& record) {
            to->publish(record.subnet, log_event_of(record));
          }};
}

}  // namespace smd::events
