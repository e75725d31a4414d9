// SPDX-License-Identifier: Apache-2.0
// SwitchInfoRecord: one for each switch.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using SwitchInfoKey = wire::SwitchInfoRecordId;

constexpr auto kSwitchInfoComponents =
    consecutive<16, -16, 16, 16, 16, 16, 8, 8, 8, 5, 1, -2, 16, 16, 1, 1, 1, 1, 1, -3, -8, 16>();

void switch_info_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  for_each_switch(directory, only, [&](const sm::Node& node, Lid lid) {
    if (!node.switch_info) return;
    sink([&](std::span<std::uint8_t> record) {
      put_record(record, SwitchInfoKey{.lid = lid}, *node.switch_info);
    });
  });
}

}  // namespace

RecordKind switch_info_records() {
  return {.attribute = SwitchInfoKey::kRecord,
          .name = "SwitchInfoRecord",
          .bytes = 24,
          .components = kSwitchInfoComponents,
          .visit = switch_info_visit};
}

}  // namespace smd::sa
