// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/mft_rounds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "routing/multicast/between.h"
#include "smd/sweep/mft.h"

namespace smd::sm {
namespace {

using routing::McRow;

/// Of which switch this is the table, and what it is to be.
struct Table {
  NodeIndex node = 0;
  routing::SwitchIndex sw = routing::kNoSwitch;
  const Node* is = nullptr;
  std::shared_ptr<const McRow> wish;
};

std::vector<Table> tables_of(const PlanInput& in) {
  const auto& part = *in.decided.multicast;
  std::vector<Table> tables;
  for (const auto& row : part.rows) {
    const auto index = in.subnet.index_of(row.node);
    if (!index || mft_blocks(*in.subnet.nodes[*index]) == 0) continue;
    tables.push_back({.node = static_cast<NodeIndex>(*index),
                      .sw = part.topology->find(row.node),
                      .is = in.subnet.nodes[*index].get(),
                      .wish = row.row});
  }
  return tables;
}

/// Parts of the table that are not known to be as `wish` says, up to `entries` or where the table has more.
BlockSet dirty_parts(const Node& is, const McRow& wish, std::size_t entries) {
  BlockSet dirty;
  const auto* held = is.mft.row.get();
  const auto most = std::max(entries, held != nullptr ? held->size() : 0);
  const auto blocks = std::min((most + routing::kMftBlock - 1) / routing::kMftBlock, mft_blocks(is));
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t p = 0; p < mft_positions(is); ++p) {
      const auto part = mft_part(block, p);
      if (!is.mft.knows(part) || mft_content(held, part) != mft_content(&wish, part)) dirty.set(part);
    }
  }
  return dirty;
}

/// By entry: what has to stand before the decided tree may be written; nothing for most.
std::map<std::size_t, routing::McTree> steps_between(const PlanInput& in, const std::vector<Table>& tables) {
  const auto& part = *in.decided.multicast;
  std::size_t entries = 0;
  for (const auto& table : tables)
    entries = std::max({entries, table.wish->size(), table.is->mft.row ? table.is->mft.row->size() : 0});
  std::map<std::size_t, routing::McTree> steps;
  for (std::size_t i = 0; i < entries; ++i) {
    routing::McTree installed, target;
    bool differ = false;
    for (const auto& table : tables) {
      const auto now = routing::entry(table.is->mft.row.get(), i);
      const auto then = routing::entry(table.wish.get(), i);
      differ = differ || now != then;
      if (now.any()) installed.push_back({table.sw, now});
      if (then.any()) target.push_back({table.sw, then});
    }
    if (!differ) continue;
    std::ranges::sort(installed, {}, &routing::McMask::sw);
    std::ranges::sort(target, {}, &routing::McMask::sw);
    if (auto step = routing::before_tree(*part.topology, installed, target); step)
      steps.emplace(i, *std::move(step));
  }
  return steps;
}

/// The decided row with the steps' entries in the place of its own.
std::shared_ptr<const McRow> with_steps(const Table& table,
                                        const std::map<std::size_t, routing::McTree>& steps) {
  auto row = std::make_shared<McRow>(*table.wish);
  for (const auto& [entry, tree] : steps) {
    const auto mask = std::ranges::lower_bound(tree, table.sw, {}, &routing::McMask::sw);
    const bool found = mask != tree.end() && mask->sw == table.sw;
    routing::entry_of(*row, entry) = found ? mask->ports : routing::PortMask{};
  }
  return row;
}

Round mft_round() {
  Round round;
  round.phase = Phase::mft;
  return round;
}

}  // namespace

std::vector<Round> mft_rounds(const PlanInput& in) {
  if (!in.decided.multicast) return {};
  const auto tables = tables_of(in);
  const auto entries = in.decided.multicast->top;
  const auto steps = steps_between(in, tables);
  Round first = mft_round(), second = mft_round();
  for (const auto& table : tables) {
    auto last = dirty_parts(*table.is, *table.wish, entries);
    if (!steps.empty()) {
      const auto between = with_steps(table, steps);
      auto dirty = dirty_parts(*table.is, *between, entries);
      // Parts that the first round leaves as decided need no second one.
      dirty.for_each([&](std::size_t part) {
        if (mft_content(between.get(), part) == mft_content(table.wish.get(), part))
          last.reset(part);
        else
          last.set(part);
      });
      if (!dirty.empty()) first.mfts.push_back({table.node, std::move(dirty), between});
    }
    if (!last.empty()) second.mfts.push_back({table.node, std::move(last), table.wish});
  }
  std::vector<Round> rounds;
  if (!first.mfts.empty()) rounds.push_back(std::move(first));
  if (!second.mfts.empty()) rounds.push_back(std::move(second));
  return rounds;
}

}  // namespace smd::sm
