// SPDX-License-Identifier: Apache-2.0
#include "smd/background/service_parts.h"

namespace smd::sm::inline background {

asio::awaitable<ServiceParts::Reconciled> ServiceParts::reconcile(PartSet parts) {
  auto& loop = parts_.loop;
  const auto& mastership = parts_.mastership;
  if (!loop.subnet() || !loop.decided().routes || mastership.state() != wire::SmState::master) {
    loop.reregister({});
    co_return Reconciled{};
  }
  parts.insert(loop.unfinished());
  const auto ran = co_await loop.run(
      {.parts = parts, .keep_unknown_groups_until = mastership.master_since() + parts_.config->adopt.grace});
  if (!ran.reregistered.empty()) {
    parts_.log.info("sa.reregister")
        .kv("ports", ran.reregistered.size())
        .kv("not_asked", ran.not_reregistered)
        .kv("reason", "what their clients had registered is lost, or paths of theirs have another SL");
    parts_.events.publish(events::ClientsReregistered{ran.reregistered});
  }
  co_return Reconciled{.cancelled = ran.cancelled, .changed = ran.changed};
}

}  // namespace smd::sm::inline background
