// SPDX-License-Identifier: Apache-2.0
// MulticastForwardingTableRecord: blocks of 32 multicast LIDs for 16 ports of each switch, as they are known
// to be, up to the switch's MulticastFDBTop.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"
#include "smd/sweep/mft.h"

namespace smd::sa {
namespace {

using MftKey = wire::MftRecordId;

constexpr auto kMftComponents = consecutive<16, 4, -3, 9>();
/// Up to the last block that has an entry.
std::size_t blocks_of(const sm::Node& node) {
  const auto entries = node.mft.row ? node.mft.row->end() : 0;
  return std::min(sm::mft_blocks(node), (entries + routing::kMftBlock - 1) / routing::kMftBlock);
}

void mft_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  for_each_switch(directory, only, [&](const sm::Node& node, Lid lid) {
    if (!node.switch_info) return;
    const auto positions = sm::mft_positions(node);
    const std::size_t blocks = blocks_of(node);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t position = 0; position < positions; ++position) {
        const auto part = sm::mft_part(block, position);
        if (!node.mft.known.test(part)) continue;
        sink([&](std::span<std::uint8_t> record) {
          put_record(record,
                     MftKey{.lid = lid,
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
  return {.attribute = MftKey::kRecord,
          .name = "MulticastForwardingTableRecord",
          .bytes = 72,
          .components = kMftComponents,
          .visit = mft_visit};
}

}  // namespace smd::sa
