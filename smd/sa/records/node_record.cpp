// SPDX-License-Identifier: Apache-2.0
// NodeRecord: one for each end port.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using NodeKey = wire::NodeRecordId;

constexpr auto kNodeComponents = consecutive<16, -16, 8, 8, 8, 8, 64, 64, 64, 16, 16, 32, 8, 24, 512>();

void node_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  for_each_end_port(directory, only, [&](const EndPort& port) {
    sink([&](std::span<std::uint8_t> record) {
      auto info = port.node->info;
      info.port = port.guid;  // of this port, not of the one where the node was met
      info.local_port = port.port;
      put_record(record, NodeKey{.lid = port.lid}, info);
      wire::encode_over(wire::NodeDescription{port.node->own_description()},
                        record.subspan(NodeKey::kDescriptionAt));
    });
  });
}

}  // namespace

RecordKind node_records() {
  return {.attribute = NodeKey::kRecord,
          .name = "NodeRecord",
          .bytes = 112,
          .components = kNodeComponents,
          .visit = node_visit,
          .places = all_end_ports};
}

}  // namespace smd::sa
