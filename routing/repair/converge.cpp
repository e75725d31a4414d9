// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/converge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "routing/verify/egress_sets.h"

namespace smd::routing::inline repair {
namespace {

constexpr std::size_t kBlock = kLftBlock;

/// Number of differing entries in a block of 64.
unsigned differing(const LftRow* one, const LftRow* other, std::size_t block) {
  std::array<std::uint8_t, kBlock> one_padded, other_padded;
  const auto* const a = block_of(one, block * kBlock, one_padded);
  const auto* const b = block_of(other, block * kBlock, other_padded);
  if (std::memcmp(a, b, kBlock) == 0) return 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < kBlock; ++i) count += a[i] != b[i] ? 1U : 0U;
  return count;
}

std::size_t blocks_of(const ConvergeInput& in) {
  std::size_t most = in.lids.row_size() / kBlock;
  for (const auto& row : in.now) {
    if (row != nullptr) most = std::max(most, (row->size() + kBlock - 1) / kBlock);
  }
  return most;
}

/// Switches whose block differs, and the number of differing entries.
struct Difference {
  std::vector<SwitchIndex> switches;
  std::uint64_t entries = 0;
};

Difference difference(const ConvergeInput& in, std::size_t block) {
  Difference result;
  for (SwitchIndex s = 0; s < in.topology.switches(); ++s) {
    const auto *const now = in.now[s].get(), *const goal = in.goal.rows[s].get();
    const auto count = now == goal ? 0 : differing(now, goal, block);
    if (count != 0) result.switches.push_back(s);
    result.entries += count;
  }
  return result;
}

void take_over(const LftRow* goal, std::size_t block, LftRow& row) {
  row.resize(std::max(row.size(), (block + 1) * kBlock), kNoRoute);
  std::array<std::uint8_t, kBlock> padded;
  std::copy_n(block_of(goal, block * kBlock, padded), kBlock,
              row.begin() + static_cast<std::ptrdiff_t>(block * kBlock));
}

}  // namespace

// Each LID has one of two proven sets of routes everywhere. If both follow the same ranking there is no
// credit loop either.
ConvergeStep converge(const ConvergeInput& in) {
  ConvergeStep step{.routes = in.goal, .done = true};
  const std::size_t n = in.topology.switches(), blocks = blocks_of(in);
  std::vector<std::shared_ptr<LftRow>> fresh(n);
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto changed = difference(in, b);
    if (changed.switches.empty()) continue;
    step.done = step.blocks == 0 || step.blocks + changed.switches.size() <= in.most_blocks;
    if (!step.done) break;
    for (const auto s : changed.switches) {
      if (fresh[s] == nullptr) fresh[s] = std::make_shared<LftRow>(in.now[s] ? *in.now[s] : LftRow{});
      take_over(in.goal.rows[s].get(), b, *fresh[s]);
    }
    step.blocks += changed.switches.size();
    step.entries += changed.entries;
  }
  for (SwitchIndex s = 0; !step.done && s < n; ++s) {
    step.routes.rows[s] = fresh[s] != nullptr ? std::move(fresh[s]) : in.now[s];
  }
  return step;
}

}  // namespace smd::routing::inline repair
