// SPDX-License-Identifier: Apache-2.0
// SLtoVLMappingTableRecord: the table of each end port, and of a switch one for each pair of its ports.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/records/vl_tables.h"

namespace smd::sa {
namespace {

using SlToVlKey = wire::SlToVlRecordId;

/// The ports are no components of an adapter's record: they are looked at below.
constexpr auto kSlToVlComponents = consecutive<16, -8, -8>();
constexpr unsigned kInPort = 1, kOutPort = 2;

void sl_to_vl_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto id = *wire::decode<SlToVlKey>(only.request->data);
  const auto out = only.request->has(kOutPort) ? std::optional(id.out) : std::nullopt;
  for_each_vl_table_port(directory, only, out, [&](const sm::Node& node, PortNum number, Lid lid) {
    const auto blocks = sm::TableKind<wire::SlToVl>::blocks(node, number);
    const auto& held = node.ports[number.value()].held<wire::SlToVl>();
    const bool pairs = node.is_switch();
    const bool one = pairs && only.request->has(kInPort);
    const std::size_t first = one ? id.in.value() : 0;
    const std::size_t last = one ? first + 1 : pairs ? node.ports.size() : 1;
    for (std::size_t in = first; in < std::min(last, node.ports.size()); ++in) {
      const auto state = vl_table_state<wire::SlToVl>(node, number, blocks, in);
      emit_vl_table(sink, state, [&](std::span<std::uint8_t> record) {
        put_record(
            record,
            SlToVlKey{
                .lid = lid, .in = PortNum{static_cast<std::uint8_t>(in)}, .out = pairs ? number : PortNum{0}},
            state == VlTableState::held ? held->row[in] : wire::SlToVl{});
      });
    }
  });
}

}  // namespace

RecordKind sl_to_vl_records() {
  return {.attribute = SlToVlKey::kRecord,
          .name = "SLtoVLMappingTableRecord",
          .bytes = SlToVlKey::kAttributeAt + wire::SlToVl::kBytes,
          .components = kSlToVlComponents,
          .visit = sl_to_vl_visit};
}

}  // namespace smd::sa
