// SPDX-License-Identifier: Apache-2.0
#include "smd/events/log_sink.h"

#include <utility>

namespace smd::events {

log::Sink log_sink(std::shared_ptr<EventRing> ring, FindMembers members) {
  return {.level = log::Level::info,
          .take = [to = std::move(ring), find = std::move(members)](const log::Record& record) {
            to->publish(record.subnet, log_event_of(record, find ? find(record) : MembersOf{}));
          }};
}

}  // namespace smd::events
