// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/advance.h"

#include <algorithm>
#include <map>
#include <utility>

#include "smd/plan/wish.h"

namespace smd::sm {
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

/// Once a switch holds all blocks that Decided has, both point to the same row.
void advance_lft(HeldLft& held, const std::shared_ptr<const routing::LftRow>& decided,
                 const LftAnswer& answer) {
  if (held.row != decided) {
    auto known = held.known;
    bool same = true;
    answer.acknowledged.for_each([&](std::size_t block) { known.set(block); });
    answer.unknown.for_each([&](std::size_t block) { known.reset(block); });
    const std::size_t blocks = decided->size() / 64;
    for (std::size_t block = 0; block < blocks && same; ++block) {
      if (answer.acknowledged.test(block) || !known.test(block)) continue;
      same = held.row && held.row->size() >= (block + 1) * 64 &&
             std::equal(held.row->begin() + static_cast<std::ptrdiff_t>(block * 64),
                        held.row->begin() + static_cast<std::ptrdiff_t>((block + 1) * 64),
                        decided->begin() + static_cast<std::ptrdiff_t>(block * 64));
    }
    if (same) {
      BlockSet inside;
      for (std::size_t block = 0; block < blocks; ++block) {
        if (known.test(block)) inside.set(block);
      }
      held = {decided, std::move(inside)};
      return;
    }
    auto row = held.row ? *held.row : routing::LftRow{};
    row.resize(std::max(row.size(), decided->size()), kNoPort.value());
    answer.acknowledged.for_each([&](std::size_t block) {
      std::copy_n(decided->begin() + static_cast<std::ptrdiff_t>(block * 64), 64,
                  row.begin() + static_cast<std::ptrdiff_t>(block * 64));
    });
    held = {std::make_shared<const routing::LftRow>(std::move(row)), std::move(known)};
    return;
  }
  answer.acknowledged.for_each([&](std::size_t block) { held.known.set(block); });
  answer.unknown.for_each([&](std::size_t block) { held.known.reset(block); });
}

}  // namespace

Subnet advance(const Subnet& before, const Decided& decided, const Applied& applied) {
  Subnet after = before;
  Edit edit(before);
  for (const auto& answer : applied.ports) {
    auto& node = edit.node(answer.node);
    auto& port = node.ports[answer.port.value()];
    port.info = answer.answered;
    port.known = true;
    if (answer.sent) note(node.not_kept, not_kept(answer.port, *answer.sent, answer.answered));
  }
  for (const auto& answer : applied.switches) {
    auto& node = edit.node(answer.node);
    node.switch_info = answer.answered;
    if (answer.sent) note(node.not_kept, not_kept(*answer.sent, answer.answered));
  }
  for (const auto& answer : applied.lfts) {
    auto& node = edit.node(answer.node);
    if (const auto* row = decided.routes->find(node.guid()); row != nullptr)
      advance_lft(node.lft, *row, answer);
  }
  edit.into(after);
  return after;
}

}  // namespace smd::sm
