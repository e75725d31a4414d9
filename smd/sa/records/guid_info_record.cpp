// SPDX-License-Identifier: Apache-2.0
// GUIDInfoRecord: the GUIDs of each end port, 8 a block. The first is the port's own; further ones are there
// once somebody has asked for them.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using Id = wire::GuidInfoRecordId;

constexpr auto kComponents = consecutive<16, 8, -8, -32, 64, 64, 64, 64, 64, 64, 64, 64>();
constexpr unsigned kBlock = 8;

void visit(const Directory& directory, const Only& only, Emit& emit) {
  for_each_end_port(directory, only, [&](const EndPort& port) {
    const unsigned blocks = (std::max<unsigned>(port.info().info.guid_cap, 1) + kBlock - 1) / kBlock;
    for (unsigned block = 0; block < blocks; ++block) {
      emit([&](std::span<std::uint8_t> record) {
        wire::GuidInfo guids;
        if (block == 0) guids.guids[0] = port.guid;
        put_record(record, Id{.lid = port.lid, .block = static_cast<std::uint8_t>(block)}, guids);
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
          .visit = visit};
}

}  // namespace smd::sa
