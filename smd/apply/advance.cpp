// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/advance.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "smd/plan/desired.h"
#include "smd/plan/lft_rounds.h"
#include "smd/plan/qos_rounds.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/unkept_entries.h"

namespace smd::sm::inline applying {
namespace {

/// Nodes that change, copied at the first touch.
class Edit {
 public:
  explicit Edit(const Subnet& before) : before_(before), copies_(before.nodes.size()) {}
  Node& node(NodeIndex index) {
    if (!copies_[index]) copies_[index] = std::make_shared<Node>(*before_.nodes[index]);
    return *copies_[index];
  }
  void into(Subnet& after) {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (copies_[i]) after.nodes[i] = std::move(copies_[i]);
    }
  }

 private:
  const Subnet& before_;
  std::vector<std::shared_ptr<Node>> copies_;
};

void note(std::vector<NotKept>& all, std::vector<NotKept>&& found) {
  for (auto& item : found) {
    const auto same = std::ranges::find_if(all, [&](const NotKept& old) {
      return old.attribute == item.attribute && old.port == item.port && old.field == item.field;
    });
    if (same != all.end()) {
      *same = std::move(item);
    } else {
      all.push_back(std::move(item));
    }
  }
}

void write_block(routing::LftRow& row, std::size_t block, const wire::LinearForwardingTable& table) {
  std::ranges::transform(table.ports, row.begin() + static_cast<std::ptrdiff_t>(block * routing::kLftBlock),
                         [](PortNum port) { return port.value(); });
}

/// Every block of `decided` is known and the same in `row`.
bool holds(const routing::LftRow& row, const BlockSet& known, const routing::LftRow& decided) {
  for (std::size_t block = 0; block < decided.size() / routing::kLftBlock; ++block) {
    if (!known.test(block)) return false;
  }
  return row.size() >= decided.size() && std::equal(decided.begin(), decided.end(), row.begin());
}

/// A fresh switch took all blocks: nothing to compare, and nothing to copy.
bool took_all(const HeldLft& held, const routing::LftRow& decided, const LftAnswer& answer) {
  return held.known.empty() && answer.partial.empty() && answer.other.empty() && answer.unknown.empty() &&
         answer.acknowledged == BlockSet::first(decided.size() / routing::kLftBlock);
}

/// Blocks of `decided` were Set without an answer: they may be in the table or not. Of many such rows (a
/// switch that executes Sets and never answers) the last ones are kept.
void note_sent(Node& node, const std::shared_ptr<const routing::LftRow>& decided, const LftAnswer& answer) {
  constexpr std::size_t kRows = 8;
  auto& sent = node.lft_sent;
  const auto blocks = decided->size() / routing::kLftBlock;
  if (node.lft.known.count() >= blocks) sent.clear();
  if (answer.unknown.empty() || std::ranges::find(sent, decided) != sent.end()) return;
  if (sent.size() == kRows) sent.erase(sent.begin());
  sent.push_back(decided);
}

/// `before` is the row that the plan was made from. Once a switch holds all that Decided says, both point to
/// the same row.
void advance_lft(HeldLft& held, const routing::LftRow* before,
                 const std::shared_ptr<const routing::LftRow>& decided, const LftAnswer& answer) {
  if (took_all(held, *decided, answer)) {
    held = {decided, answer.acknowledged, {}};
    return;
  }
  auto row = held.row ? *held.row : routing::LftRow{};
  row.resize(std::max(row.size(), decided->size()), routing::kNoRoute);
  auto known = std::move(held.known);
  answer.acknowledged.for_each([&](std::size_t block) {
    write_block(row, block, block_content(*decided, before, {block, 0, 0}));
    known.set(block);
  });
  for (const auto& block : answer.partial) {
    write_block(row, block.block, block_content(*decided, before, block));
    known.set(block.block);
  }
  for (const auto& block : answer.other) {
    write_block(row, block.block, block.held);
    known.set(block.block);
  }
  answer.unknown.for_each([&](std::size_t block) { known.reset(block); });
  if (holds(row, known, *decided)) {
    held = {decided, BlockSet::first(decided->size() / routing::kLftBlock), {}};
  } else {
    held = {std::make_shared<const routing::LftRow>(std::move(row)), std::move(known), {}};
  }
}

/// Entries that did not become what was sent.
std::vector<NotKept> unkept(const LftAnswer& answer) {
  std::vector<NotKept> found;
  for (const auto& block : answer.other) {
    for (std::size_t i = 0; i < routing::kLftBlock; ++i) {
      const Lid lid{static_cast<std::uint16_t>(block.block * routing::kLftBlock + i)};
      if (block.sent.ports[i] != block.held.ports[i]) found.push_back(unkept_entry(lid, block.sent.ports[i]));
    }
  }
  return found;
}

std::vector<NotKept> unkept(const MftAnswer& answer) {
  std::vector<NotKept> found;
  for (const auto& other : answer.other) {
    const auto first = kFirstMulticastLid.value() + block_of_part(other.part) * routing::kMftBlock;
    for (std::size_t i = 0; i < routing::kMftBlock; ++i) {
      const auto sent = other.sent.masks[i];
      const Lid mlid{static_cast<std::uint16_t>(first + i)};
      if (sent != other.held.masks[i]) found.push_back(unkept_mask(mlid, position_of_part(other.part), sent));
    }
  }
  return found;
}

void advance_mft(Node& node, const MftAnswer& answer) {
  auto& held = node.mft;
  auto row = held.row ? *held.row : routing::McRow{};
  answer.acknowledged.for_each([&](std::size_t part) {
    take_mft(row, part, mft_content(answer.content.get(), part));
    held.known.set(part);
    held.asked.set(part);
  });
  for (const auto& other : answer.other) {
    take_mft(row, other.part, other.held);
    held.known.set(other.part);
    held.asked.set(other.part);
  }
  answer.unknown.for_each([&](std::size_t part) {
    held.known.reset(part);
    held.asked.set(part);
  });
  if (row == *answer.content) {
    held.row = answer.content;
  } else {
    held.row = std::make_shared<const routing::McRow>(std::move(row));
  }
}

using SlToVlKind = TableKind<wire::SlToVl>;

/// What became of a Set is not part of what is known of the table.
template <class A>
bool leaves_alone(const HeldPtr<A>& held, const TableAnswer<A>& answer) {
  if (TableKind<A>::kRead != TableRead::never && answer.refused) return true;
  const bool swept = TableKind<A>::kRead == TableRead::sweep;
  return swept && (!held || answer.block >= held->row.size());
}

/// The blocks that the answer is about.
template <class A>
BlockSet blocks_of(const Node& node, const TableAnswer<A>& answer) {
  if constexpr (std::is_same_v<A, wire::SlToVl>) {
    if (answer.block >= TableKind<A>::kAllIn) return sl_to_vl_rows(node);
  }
  BlockSet one;
  one.set(answer.block);
  return one;
}

template <class A>
void take_answer(HeldBlocks<A>& table, const BlockSet& blocks, const TableAnswer<A>& answer) {
  blocks.for_each([&](std::size_t block) {
    table.asked.set(block);
    if (table.row.size() <= block) table.row.resize(block + 1);
    if (!answer.held) return table.known.reset(block);
    table.row[block] = *answer.held;
    table.known.set(block);
  });
}

template <class A>
void advance_port(Node& node, PortNum port, std::span<const TableAnswer<A>> answers, TablePool<A>& pool) {
  auto& held = node.ports[port.value()].template held<A>();
  auto table = held ? *held : HeldBlocks<A>{};
  bool lost = false, changed = false;
  for (const auto& answer : answers) {
    if (leaves_alone(held, answer)) continue;
    changed = true;
    lost = lost || (TableKind<A>::kRead != TableRead::never && !answer.held);
    take_answer(table, blocks_of(node, answer), answer);
  }
  if (lost) {
    held = nullptr;  // read again with the node
  } else if (changed) {
    held = pool.share(std::move(table));
  }
}

/// One Set for all external ports of a switch.
void advance_all_ports(Node& node, const TableAnswer<wire::SlToVl>& answer, TablePool<wire::SlToVl>& pool) {
  if (answer.refused) return;
  for (std::size_t p = 1; p < node.ports.size(); ++p)
    advance_port<wire::SlToVl>(node, PortNum{static_cast<std::uint8_t>(p)}, {&answer, 1}, pool);
}

/// Answers about one port come together, as its Sets are sent.
template <class A>
void advance_tables(Edit& edit, const TableAnswers<A>& answers) {
  TablePool<A> pool;
  for (std::size_t i = 0; i < answers.size();) {
    const auto& first = answers[i];
    auto& node = edit.node(first.node);
    if constexpr (std::is_same_v<A, wire::SlToVl>) {
      if (first.block >= SlToVlKind::kAllIn && first.refused)
        note(node.not_kept, {{A::kAttribute, PortNum{0}, std::string(kOptimizedField), 1}});
      if (first.block == SlToVlKind::kAllPorts) {
        advance_all_ports(node, first, pool);
        ++i;
        continue;
      }
    }
    auto end = i + 1;
    while (end < answers.size() && answers[end].node == first.node && answers[end].port == first.port &&
           !(std::is_same_v<A, wire::SlToVl> && answers[end].block == SlToVlKind::kAllPorts))
      ++end;
    advance_port<A>(node, first.port, std::span(answers).subspan(i, end - i), pool);
    i = end;
  }
}

}  // namespace

Subnet advance(const Subnet& before, const Decided& decided, const Applied& applied) {
  Subnet after = before;
  Edit edit(before);
  for (const auto& answer : applied.ports) {
    auto& node = edit.node(answer.node);
    auto& port = node.ports[answer.port.value()];
    port.info = answer.answered;
    port.info.client_reregister = false;  // the port clears it by itself
    port.known = true;
    if (answer.sent) note(node.not_kept, not_kept(answer.port, *answer.sent, answer.answered));
  }
  for (const auto& answer : applied.switches) {
    auto& node = edit.node(answer.node);
    node.switch_info = answer.answered;
    if (answer.sent) note(node.not_kept, not_kept(*answer.sent, answer.answered));
  }
  for (const auto& answer : applied.adaptive) {
    auto& node = edit.node(answer.node);
    node.ar_info = std::make_shared<const wire::ArInfo>(answer.answered);
    note(node.not_kept, not_kept(answer.sent, answer.answered));
  }
  for (const auto& answer : applied.lfts) {
    auto& node = edit.node(answer.node);
    if (const auto* row = decided.routes->find(node.guid()); row != nullptr) {
      advance_lft(node.lft, before.nodes[answer.node]->lft.row.get(), *row, answer);
      note_sent(node, *row, answer);
    }
    note(node.not_kept, unkept(answer));
  }
  for (const auto index : applied.top_first) note(edit.node(index).not_kept, {blocks_above_top()});
  for (const auto& answer : applied.mfts) {
    auto& node = edit.node(answer.node);
    advance_mft(node, answer);
    note(node.not_kept, unkept(answer));
  }
  for_each_table([&]<class A>() { advance_tables<A>(edit, applied.answers<A>()); });
  edit.into(after);
  return after;
}

}  // namespace smd::sm::inline applying
