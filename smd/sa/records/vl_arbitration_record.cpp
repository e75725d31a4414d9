// SPDX-License-Identifier: Apache-2.0
// VLArbitrationTableRecord: four blocks of 32 turns for each port, two of low and two of high priority. A
// block behind a port's last turn is all zero.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/records/vl_tables.h"

namespace smd::sa {
namespace {

using VlArbKey = wire::VlArbRecordId;

/// The port is no component of an adapter's record: it is looked at below.
constexpr auto kVlArbComponents = consecutive<16, -8, 8>();
constexpr unsigned kVlArbPort = 1;
constexpr std::size_t kVlArbBlocks = 4;

void vl_arbitration_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto asked = only.request->has(kVlArbPort)
                         ? std::optional(wire::decode<VlArbKey>(only.request->data)->port)
                         : std::nullopt;
  for_each_vl_table_port(directory, only, asked, [&](const sm::Node& node, PortNum number, Lid lid) {
    const auto blocks = sm::TableKind<wire::VlArbitration>::blocks(node, number);
    const auto& held = node.ports[number.value()].held<wire::VlArbitration>();
    for (std::size_t part = 0; part < kVlArbBlocks; ++part) {
      const auto state = vl_table_state<wire::VlArbitration>(node, number, blocks, part);
      emit_vl_table(sink, state, [&](std::span<std::uint8_t> record) {
        put_record(record, VlArbKey{.lid = lid, .port = number, .block = static_cast<std::uint8_t>(part + 1)},
                   state == VlTableState::held ? held->row[part] : wire::VlArbitration{});
      });
    }
  });
}

}  // namespace

RecordKind vl_arbitration_records() {
  return {.attribute = VlArbKey::kRecord,
          .name = "VLArbitrationTableRecord",
          .bytes = VlArbKey::kAttributeAt + wire::VlArbitration::kBytes,
          .components = kVlArbComponents,
          .visit = vl_arbitration_visit};
}

}  // namespace smd::sa
