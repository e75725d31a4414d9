// SPDX-License-Identifier: Apache-2.0
// MulticastForwardingTableRecord: blocks of 32 multicast LIDs for 16 ports of each switch, as they are known
// to be, up to the switch's MulticastFDBTop.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sweep/mft.h"

namespace smd::sa {
namespace {

using Id = wire::MftRecordId;

constexpr auto kComponents = consecutive<16, 4, -3, 9>();
constexpr std::uint16_t kFirstMlid = 0xC000;

/// Blocks that have an entry in use: MulticastFDBTop names the last one, where a switch has it set.
std::size_t blocks_of(const sm::Node& node) {
  const auto all = sm::mft_blocks(node);
  const auto top = node.switch_info->multicast_fdb_top;
  if (top == kFirstMlid - 1) return 0;
  if (top < kFirstMlid) return all;
  return std::min(all, (top - kFirstMlid) / routing::kMftBlock + std::size_t{1});
}

void visit(const Directory& directory, const Only& only, Emit& emit) {
  for_each_switch(directory, only, [&](const sm::Node& node, Lid lid) {
    if (!node.switch_info) return;
    const auto positions = sm::mft_positions(node);
    const std::size_t blocks = blocks_of(node);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t position = 0; position < positions; ++position) {
        const auto part = sm::mft_part(block, position);
        if (!node.mft.knows(part)) continue;
        emit([&](std::span<std::uint8_t> record) {
          put_record(record,
                     Id{.lid = lid,
                        .position = static_cast<std::uint8_t>(position),
                        .block = static_cast<std::uint16_t>(block)},
                     sm::mft_content(node.mft.row.get(), part));
        });
      }
    }
  });
}

}  // namespace

RecordKind mft_records() {
  return {.attribute = Id::kRecord,
          .name = "MulticastForwardingTableRecord",
          .bytes = 72,
          .components = kComponents,
          .visit = visit};
}

}  // namespace smd::sa
