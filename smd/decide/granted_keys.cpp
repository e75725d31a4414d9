// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/granted_keys.h"

#include <algorithm>

namespace smd::sm::inline decisions {

std::span<const PKeyPart::Block> decided_blocks(const Decided& decided, const PeerPort& at) {
  const auto& tables = decided.part<wire::PKeyTable>();
  if (!decided.partitions || !decided.partitions->managed || !tables) return {};
  const auto& blocks = tables->blocks;  // those of a port stand together
  const auto first = std::ranges::find(blocks, at, &PKeyPart::Block::at);
  return {first, std::find_if(first, blocks.end(), [&](const auto& block) { return block.at != at; })};
}

PKey granted_key(PKey held, std::span<const PKeyPart::Block> decided) {
  const auto has = [&](PKey key) {
    return std::ranges::any_of(decided, [&](const auto& block) {
      return std::ranges::find(block.content.keys, key) != block.content.keys.end();
    });
  };
  const PKey limited{held.partition()};
  if (held.partition() == 0 || has(held) || has(held.full())) return held;
  return has(limited) ? limited : PKey{};
}

}  // namespace smd::sm::inline decisions
