// SPDX-License-Identifier: Apache-2.0
// LinearForwardingTableRecord: the blocks of each switch up to its LinearFDBTop, as they are known to be.
#include "mad/wire/sa/records.h"
#include "smd/sa/records/kinds.h"

namespace smd::sa {
namespace {

using LftKey = wire::LftRecordId;

constexpr auto kLftComponents = consecutive<16, 16>();
constexpr std::size_t kLftBlock = routing::kLftBlock;

void lft_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto asked = only.request != nullptr && only.request->has(1)
                         ? std::optional(wire::decode<LftKey>(only.request->data)->block)
                         : std::nullopt;
  for_each_switch(directory, only, [&](const sm::Node& node, Lid lid) {
    if (!node.switch_info || !node.lft.row) return;
    const auto& row = *node.lft.row;
    const std::size_t blocks = node.switch_info->linear_fdb_top / kLftBlock + 1;
    for (std::size_t block = asked.value_or(0); block < (asked ? std::size_t{*asked} + 1 : blocks); ++block) {
      if (block >= blocks || !node.lft.known.test(block) || (block + 1) * kLftBlock > row.size()) continue;
      sink([&](std::span<std::uint8_t> record) {
        wire::encode_over(LftKey{.lid = lid, .block = static_cast<std::uint16_t>(block)}, record);
        std::ranges::copy(std::span(row).subspan(block * kLftBlock, kLftBlock),
                          record.subspan(LftKey::kAttributeAt).begin());
      });
    }
  });
}

}  // namespace

RecordKind lft_records() {
  return {.attribute = LftKey::kRecord,
          .name = "LinearForwardingTableRecord",
          .bytes = 72,
          .components = kLftComponents,
          .visit = lft_visit};
}

}  // namespace smd::sa
