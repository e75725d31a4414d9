// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/pkeys.h"

#include <algorithm>

namespace smd::sm::inline sweeping {

unsigned pkey_capacity(const Node& node, PortNum port) {
  if (!node.is_switch() || port == PortNum{0}) return node.info.partition_cap;
  return node.switch_info ? node.switch_info->partition_enforcement_cap : 0U;
}

bool is_as_made(std::span<const PKey> keys) {
  if (keys.empty()) return true;
  const bool rest_empty = std::ranges::all_of(keys.subspan(1), [](PKey key) { return key == PKey{}; });
  return rest_empty && (keys[0] == PKey{} || keys[0].same_partition(kDefaultPKey));
}

std::vector<PKey> keys_of(const HeldBlocks<wire::PKeyTable>& held) {
  std::vector<PKey> keys(held.row.size() * kPKeysOfBlock);
  for (std::size_t block = 0; block < held.row.size(); ++block) {
    if (!held.known.test(block)) continue;
    const auto to = keys.begin() + static_cast<std::ptrdiff_t>(block * kPKeysOfBlock);
    std::ranges::transform(held.row[block].keys, to,
                           [](PKey key) { return key.partition() != 0 ? key : PKey{}; });
  }
  return keys;
}

}  // namespace smd::sm::inline sweeping
