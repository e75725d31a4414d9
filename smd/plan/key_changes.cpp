// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/key_changes.h"

#include <algorithm>
#include <utility>

#include "smd/sweep/pkeys.h"

namespace smd::sm::inline planning {
namespace {

/// Those of `some` that `others` do not have.
std::vector<PKey> only_in(const std::vector<PKey>& some, const std::vector<PKey>& others) {
  std::vector<PKey> found;
  std::ranges::copy_if(some, std::back_inserter(found), [&](PKey key) {
    return key != PKey{} && std::ranges::find(others, key) == others.end();
  });
  return found;
}

}  // namespace

std::vector<KeyChange> key_changes(const Subnet& subnet, const PKeyPart& part) {
  std::vector<KeyChange> changes;
  for (std::size_t i = 0; i < part.blocks.size();) {
    const auto at = part.blocks[i].at;
    const auto* node = subnet.find(at.node);
    const auto* held = node != nullptr && at.port.value() < node->ports.size()
                           ? node->ports[at.port.value()].held<wire::PKeyTable>().get()
                           : nullptr;
    const auto before = held != nullptr ? keys_of(*held) : std::vector<PKey>{};
    auto after = before;
    for (; i < part.blocks.size() && part.blocks[i].at == at; ++i) {
      const auto first = part.blocks[i].block * kPKeysOfBlock;
      after.resize(std::max(after.size(), first + kPKeysOfBlock));
      std::ranges::copy(part.blocks[i].content.keys, after.begin() + static_cast<std::ptrdiff_t>(first));
    }
    KeyChange change{.at = at,
                     .of_end_port = node != nullptr && is_end_port(*node, at.port),
                     .lost = only_in(before, after),
                     .gained = only_in(after, before)};
    if (!change.lost.empty() || !change.gained.empty()) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace smd::sm::inline planning
