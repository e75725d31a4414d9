// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/mft_rounds.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "routing/multicast/tree_update.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/unkept_entries.h"

namespace smd::sm::inline planning {
namespace {

using routing::McRow;

/// Of which switch this is the table, and what it is to be.
struct Table {
  NodeIndex node = 0;
  routing::SwitchIndex sw = routing::kNoSwitch;
  const Node* is = nullptr;
  std::shared_ptr<const McRow> desired;
};

/// `desired` with what the switch holds where it is known not to keep that.
std::shared_ptr<const McRow> without_unkept(const Node& node, std::shared_ptr<const McRow> desired) {
  std::shared_ptr<McRow> edited;
  for (const auto& note : node.not_kept) {
    const auto at = unkept_mask(note);
    if (!at || !desired) continue;
    const std::size_t entry = at->mlid.value() - std::size_t{kFirstMulticastLid.value()};
    const auto part = mft_part(entry / routing::kMftBlock, at->position);
    auto content = mft_content(edited ? edited.get() : desired.get(), part);
    auto& mask = content.masks[entry % routing::kMftBlock];
    if (mask != note.desired || !node.mft.known.test(part)) continue;
    mask = mft_content(node.mft.row.get(), part).masks[entry % routing::kMftBlock];
    if (!edited) edited = std::make_shared<McRow>(*desired);
    take_mft(*edited, part, content);
  }
  if (edited) return edited;
  return desired;
}

std::vector<Table> tables_of(const PlanInput& in) {
  const auto& part = *in.decided.multicast;
  std::vector<Table> tables;
  for (const auto& row : part.rows) {
    const auto index = in.subnet.index_of(row.node);
    if (!index || mft_blocks(*in.subnet.nodes[*index]) == 0) continue;
    tables.push_back({.node = static_cast<NodeIndex>(*index),
                      .sw = part.topology->find(row.node),
                      .is = in.subnet.nodes[*index].get(),
                      .desired = without_unkept(*in.subnet.nodes[*index], row.row)});
  }
  return tables;
}

/// Calls fn(entry, now, then) for every entry in which the two rows differ, ascending.
template <class Fn>
void for_each_difference(const McRow* now, const McRow* then, Fn&& fn) {
  const auto a = routing::entries_of(now), b = routing::entries_of(then);
  const routing::PortMask none;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool only_a = j == b.size() || (i < a.size() && a[i].index < b[j].index);
    const bool only_b = i == a.size() || (j < b.size() && b[j].index < a[i].index);
    const auto index = only_b ? b[j].index : a[i].index;
    const auto& was = only_b ? none : a[i].ports;
    const auto& is = only_a ? none : b[j].ports;
    if (was != is) fn(std::size_t{index}, was, is);
    i += only_b ? 0U : 1U;
    j += only_a ? 0U : 1U;
  }
}

/// Parts of the table that are not known to be as `desired` says, up to `entries`.
BlockSet dirty_parts(const Node& is, const McRow& desired, std::size_t entries) {
  BlockSet dirty;
  const auto blocks = mft_blocks(is);
  const auto positions = mft_positions(is);
  const auto all = std::min((entries + routing::kMftBlock - 1) / routing::kMftBlock, blocks);
  for (std::size_t block = 0; block < all; ++block) {
    for (std::size_t p = 0; p < positions; ++p) {
      if (const auto part = mft_part(block, p); !is.mft.known.test(part)) dirty.set(part);
    }
  }
  for_each_difference(is.mft.row.get(), &desired, [&](std::size_t entry, const auto& now, const auto& then) {
    const auto block = entry / routing::kMftBlock;
    for (std::size_t p = 0; p < positions && block < blocks; ++p) {
      if (mft_bits(now, p) != mft_bits(then, p)) dirty.set(mft_part(block, p));
    }
  });
  return dirty;
}

/// By entry: what has to stand before the decided tree may be written; nothing for most.
std::map<std::size_t, routing::McTree> steps_between(const PlanInput& in, const std::vector<Table>& tables) {
  struct Trees {
    routing::McTree installed, target;
  };
  std::map<std::size_t, Trees> changing;
  for (const auto& table : tables) {
    for_each_difference(table.is->mft.row.get(), table.desired.get(),
                        [&](std::size_t entry, const auto&, const auto&) { changing[entry]; });
  }
  for (const auto& table : tables) {
    for (auto& [entry, trees] : changing) {
      const auto now = routing::entry(table.is->mft.row.get(), entry);
      const auto then = routing::entry(table.desired.get(), entry);
      if (now.any()) trees.installed.push_back({table.sw, now});
      if (then.any()) trees.target.push_back({table.sw, then});
    }
  }
  std::map<std::size_t, routing::McTree> steps;
  for (auto& [entry, trees] : changing) {
    std::ranges::sort(trees.installed, {}, &routing::McMask::sw);
    std::ranges::sort(trees.target, {}, &routing::McMask::sw);
    auto step = routing::intermediate_tree(*in.decided.multicast->topology, trees.installed, trees.target);
    if (step) steps.emplace(entry, *std::move(step));
  }
  return steps;
}

/// The decided row with the steps' entries in the place of its own.
std::shared_ptr<const McRow> with_steps(const Table& table,
                                        const std::map<std::size_t, routing::McTree>& steps) {
  auto row = std::make_shared<McRow>(*table.desired);
  for (const auto& [entry, tree] : steps) {
    const auto mask = std::ranges::lower_bound(tree, table.sw, {}, &routing::McMask::sw);
    const bool found = mask != tree.end() && mask->sw == table.sw;
    row->set(entry, found ? mask->ports : routing::PortMask{});
  }
  return row;
}

Round mft_round() {
  Round round;
  round.phase = Phase::mft;
  return round;
}

/// Takes out the switches to which nothing is written. What their tables hold of a tree that changes stays,
/// so the other switches keep what they have of it: two trees mixed may be a forwarding loop.
void leave_out(const PlanInput& in, std::vector<Table>& tables) {
  const auto out = [&](const Table& table) { return in.leaves_out(table.is->guid()); };
  std::set<std::size_t> frozen;
  for (const auto& table : tables) {
    if (!out(table)) continue;
    for_each_difference(table.is->mft.row.get(), table.desired.get(),
                        [&](std::size_t entry, const auto&, const auto&) { frozen.insert(entry); });
  }
  std::erase_if(tables, out);
  for (auto& table : tables) {
    if (frozen.empty()) break;
    auto row = std::make_shared<McRow>(*table.desired);
    for (const auto entry : frozen) row->set(entry, routing::entry(table.is->mft.row.get(), entry));
    table.desired = std::move(row);
  }
}

}  // namespace

std::vector<Round> mft_rounds(const PlanInput& in) {
  if (!in.decided.multicast) return {};
  auto tables = tables_of(in);
  if (in.left_out != nullptr && !in.left_out->empty()) leave_out(in, tables);
  const auto entries = in.decided.multicast->top;
  const auto steps = steps_between(in, tables);
  Round first = mft_round(), second = mft_round();
  for (const auto& table : tables) {
    auto last = dirty_parts(*table.is, *table.desired, entries);
    if (!steps.empty()) {
      const auto between = with_steps(table, steps);
      auto dirty = dirty_parts(*table.is, *between, entries);
      // Parts that the first round leaves as decided need no second one.
      dirty.for_each([&](std::size_t part) {
        if (mft_content(between.get(), part) == mft_content(table.desired.get(), part))
          last.reset(part);
        else
          last.set(part);
      });
      if (!dirty.empty()) first.mfts.push_back({table.node, std::move(dirty), between});
    }
    if (!last.empty()) second.mfts.push_back({table.node, std::move(last), table.desired});
  }
  std::vector<Round> rounds;
  if (!first.mfts.empty()) rounds.push_back(std::move(first));
  if (!second.mfts.empty()) rounds.push_back(std::move(second));
  return rounds;
}

}  // namespace smd::sm::inline planning
