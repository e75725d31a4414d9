// SPDX-License-Identifier: Apache-2.0
// SMInfoRecord: ourselves, and the SMs that were met.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using SmInfoKey = wire::SmInfoRecordId;

constexpr auto kSmInfoComponents = consecutive<16, -16, 64, -64, 32, 4, 4>();

void sm_info_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto show = [&](Lid lid, wire::SmInfo info) {
    info.sm_key = 0;  // never shown
    sink([&](std::span<std::uint8_t> record) { put_record(record, SmInfoKey{.lid = lid}, info); });
  };
  const auto& snapshot = directory.snapshot();
  const auto& subnet = directory.subnet();
  if (const auto* node = subnet.find(subnet.sm_node)) {
    if (const auto lid = directory.lid_of(*node, subnet.sm_port)) {
      show(*lid, {.guid = snapshot.rank.guid,
                  .act_count = only.act_count,
                  .priority = snapshot.rank.priority,
                  .state = snapshot.state});
    }
  }
  for (const auto& other : subnet.other_sms) {
    if (other.answered) show(other.lid, other.info);
  }
}

}  // namespace

RecordKind sm_info_records() {
  return {.attribute = SmInfoKey::kRecord,
          .name = "SMInfoRecord",
          .bytes = 32,
          .components = kSmInfoComponents,
          .visit = sm_info_visit,
          .places = one_place};
}

}  // namespace smd::sa
