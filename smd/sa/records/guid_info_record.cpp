// SPDX-License-Identifier: Apache-2.0
// GUIDInfoRecord: the GUIDs of each end port, 8 a block. The first is the port's own, the others are its
// aliases.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/registry/aliases.h"

namespace smd::sa {
namespace {

using Id = wire::GuidInfoRecordId;

constexpr auto kComponents = consecutive<16, 8, -8, -32, 64, 64, 64, 64, 64, 64, 64, 64>();

void visit(const Directory& directory, const Only& only, Emit& emit) {
  for_each_end_port(directory, only, [&](const EndPort& port) {
    for (unsigned block = 0; block < guid_blocks(port); ++block) {
      emit([&](std::span<std::uint8_t> record) {
        put_record(record, Id{.lid = port.lid, .block = static_cast<std::uint8_t>(block)},
                   guid_block(port, *only.registry, block));
      });
    }
  });
}

}  // namespace

RecordKind guid_info_records() {
  return {.attribute = Id::kRecord,
          .name = "GUIDInfoRecord",
          .bytes = 72,
          .components = kComponents,
          .visit = visit,
          .places = all_end_ports};
}

}  // namespace smd::sa
