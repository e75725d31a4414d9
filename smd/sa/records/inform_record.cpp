// SPDX-License-Identifier: Apache-2.0
// InformInfoRecord: who has subscribed to what.
#include "mad/wire/sa/inform_info.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using InformKey = wire::InformInfoRecordId;

constexpr std::size_t kInformBytes = 64;
constexpr auto kInformComponents =
    consecutive<128, 16, -48, 128, 16, 16, -16, 8, 8, 16, 16, 24, -3, 5, -8, 24>();

void inform_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto show = [&](const SubscriptionKey& key, const Subscription& subscription) {
    // What others want to know is for those who show the SM_Key.
    const bool own = only.requester == nullptr || only.requester->guid == key.port;
    if (!only.trusted && !own) return;
    sink([&](std::span<std::uint8_t> record) {
      put_record(
          record,
          InformKey{.subscriber = Gid::of(directory.prefix(), key.port), .number = subscription.number},
          wire::InformInfo{.gid = key.gid,
                           .lid_begin = key.lid_begin,
                           .lid_end = key.lid_end,
                           .is_generic = key.is_generic,
                           .subscribe = 1,
                           .type = key.type,
                           .trap = key.trap,
                           .qp = key.qp,
                           .response_time = subscription.response_time,
                           .producer = key.producer});
    });
  };
  for_each_row(only.registry->subscriptions(), only.part, show);
}

std::size_t inform_places(const Directory& /*directory*/, const Registry& registry) {
  return registry.subscriptions().places();
}

}  // namespace

RecordKind inform_records() {
  return {.attribute = InformKey::kRecord,
          .name = "InformInfoRecord",
          .bytes = kInformBytes,
          .components = kInformComponents,
          .begins_with_lid = false,
          .visit = inform_visit,
          .places = inform_places};
}

}  // namespace smd::sa
