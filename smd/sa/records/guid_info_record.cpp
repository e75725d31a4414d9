// SPDX-License-Identifier: Apache-2.0
// GUIDInfoRecord: the GUIDs of each end port, 8 a block. The first is the port's own, the others are its
// aliases.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/registry/aliases.h"

namespace smd::sa {
namespace {

using GuidInfoKey = wire::GuidInfoRecordId;

constexpr auto kGuidInfoComponents = consecutive<16, 8, -8, -32, 64, 64, 64, 64, 64, 64, 64, 64>();

void guid_info_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  for_each_end_port(directory, only, [&](const EndPort& port) {
    for (unsigned block = 0; block < guid_blocks(port); ++block) {
      sink([&](std::span<std::uint8_t> record) {
        put_record(record, GuidInfoKey{.lid = port.lid, .block = static_cast<std::uint8_t>(block)},
                   guid_block(port, *only.registry, block));
      });
    }
  });
}

}  // namespace

RecordKind guid_info_records() {
  return {.attribute = GuidInfoKey::kRecord,
          .name = "GUIDInfoRecord",
          .bytes = 72,
          .components = kGuidInfoComponents,
          .visit = guid_info_visit,
          .places = all_end_ports};
}

}  // namespace smd::sa
