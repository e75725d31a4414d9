// SPDX-License-Identifier: Apache-2.0
// VLArbitrationTableRecord: four blocks of 32 turns for each port, two of low and two of high priority. A
// block behind a port's last turn is all zero.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/records/lanes.h"
#include "smd/sweep/lanes.h"

namespace smd::sa {
namespace {

using Id = wire::VlArbRecordId;

/// The port is no component of an adapter's record: it is looked at below.
constexpr auto kComponents = consecutive<16, -8, 8>();
constexpr unsigned kPort = 1;
constexpr std::size_t kBlocks = std::tuple_size_v<decltype(sm::LaneRows::arbitration)>;

void visit(const Directory& directory, const Only& only, Emit& emit) {
  const auto asked =
      only.request->has(kPort) ? std::optional(wire::decode<Id>(only.request->data)->port) : std::nullopt;
  for_each_lane_port(directory, only, asked, [&](const sm::Node& node, PortNum number, Lid lid) {
    const auto has = sm::lane_tables(node, number).arbitration;
    const auto* rows = node.ports[number.value()].lanes.get();
    for (std::size_t part = 0; part < kBlocks; ++part) {
      const auto state = lanes_of(has.test(part), rows != nullptr && rows->known.arbitration.test(part),
                                  rows != nullptr && rows->asked.arbitration.test(part));
      emit_lanes(emit, state, [&](std::span<std::uint8_t> record) {
        put_record(record, Id{.lid = lid, .port = number, .block = static_cast<std::uint8_t>(part + 1)},
                   state == Lanes::held ? rows->arbitration[part] : wire::VlArbitration{});
      });
    }
  });
}

}  // namespace

RecordKind vl_arbitration_records() {
  return {.attribute = Id::kRecord,
          .name = "VLArbitrationTableRecord",
          .bytes = Id::kAttributeAt + wire::VlArbitration::kBytes,
          .components = kComponents,
          .visit = visit};
}

}  // namespace smd::sa
