// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/lft_rounds.h"

#include <algorithm>

namespace smd::sm {
namespace {

using routing::kLftBlock;
using routing::LftRow;

/// Entries in which a block of `now` differs from `wish`; entries beyond the end of a row are 'no route'.
std::size_t differing(const LftRow& now, const LftRow& wish, std::size_t block) {
  std::size_t count = 0;
  for (std::size_t i = block * kLftBlock; i < (block + 1) * kLftBlock; ++i) {
    const auto old = i < now.size() ? now[i] : routing::kNoRoute;
    count += old != wish[i] ? 1U : 0U;
  }
  return count;
}

BlockSet dirty_blocks(const HeldLft& held, const std::shared_ptr<const LftRow>& wish, std::size_t& changed) {
  const std::size_t blocks = wish->size() / kLftBlock;
  BlockSet dirty;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (!held.row || !held.known.test(block)) {
      dirty.set(block);
    } else if (held.row != wish) {
      const auto entries = differing(*held.row, *wish, block);
      changed += entries;
      if (entries != 0) dirty.set(block);
    }
  }
  return dirty;
}

}  // namespace

std::vector<Round> lft_rounds(const PlanInput& in, std::size_t& entries_changed) {
  Round round{.phase = Phase::lft, .ports = {}, .lfts = {}, .switch_infos = {}};
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    const auto* wish = in.decided.routes->find(node.guid());
    if (wish == nullptr || !*wish) continue;
    auto blocks = dirty_blocks(node.lft, *wish, entries_changed);
    if (!blocks.empty()) round.lfts.push_back({i, std::move(blocks), false});
  }
  std::vector<Round> rounds;
  if (!round.lfts.empty()) rounds.push_back(std::move(round));
  return rounds;
}

}  // namespace smd::sm
