// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/lft_rounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mad/base/bug.h"
#include "routing/verify/rounds.h"

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

/// Nothing is forwarded before LinearFDBTop rises.
bool forwards(const Node& node) { return node.switch_info && node.switch_info->linear_fdb_top != 0; }

/// All in one: for tables that nothing goes by yet.
Round one_round(std::vector<LftItem>&& items) {
  Round round;
  round.phase = Phase::lft;
  round.lfts = std::move(items);
  return round;
}

/// `dirty`: what differs or is unknown; a switch that does not forward yet may hold blocks already that need
/// no second write.
std::vector<Round> safe_rounds(const PlanInput& in, const routing::Parallel& parallel,
                               const std::vector<LftItem>& dirty) {
  const auto clean = [&](NodeIndex node, std::size_t block) {
    const auto it = std::ranges::lower_bound(dirty, node, {}, &LftItem::node);
    return it == dirty.end() || it->node != node || !it->blocks.test(block);
  };
  const auto& part = *in.decided.routes;
  routing::Routes routes{.rows = {}, .layers = part.layers};
  std::vector<routing::InstalledTable> installed;
  std::vector<NodeIndex> node_of;
  for (const auto& row : part.rows) {
    const auto index = in.subnet.index_of(row.node);
    SMD_ASSERT(index.has_value());  // decided from this very Subnet
    const auto& node = *in.subnet.nodes[*index];
    routes.rows.push_back(row.row);
    installed.push_back({node.lft.row.get(), node.lft.known.words(), forwards(node)});
    node_of.push_back(static_cast<NodeIndex>(*index));
  }
  const bool credit_loops = !part.verification.clean();
  std::vector<Round> rounds;
  for (const auto& written : routing::rounds_of_writes(*part.topology, *part.lid_map, installed, routes,
                                                       in.decided.lids->sm_lid, credit_loops, parallel)) {
    std::map<NodeIndex, LftItem> items;
    for (const auto& write : written.writes) {
      const bool whole = write.kept == 0 && write.dropped == 0;
      if (whole && !forwards(*in.subnet.nodes[node_of[write.sw]]) && clean(node_of[write.sw], write.block))
        continue;
      auto& item = items[node_of[write.sw]];
      item.node = node_of[write.sw];
      if (whole) item.blocks.set(write.block);
      if (!whole) item.partial.push_back({write.block, write.kept, write.dropped});
    }
    std::vector<LftItem> list;
    for (auto& [node, item] : items) list.push_back(std::move(item));
    rounds.push_back(one_round(std::move(list)));
    rounds.back().drain = written.drain;
  }
  return rounds;
}

}  // namespace

std::vector<Round> lft_rounds(const PlanInput& in, const routing::Parallel& parallel,
                              std::size_t& entries_changed) {
  std::vector<LftItem> items;
  bool any_forwards = false;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    const auto* wish = in.decided.routes->find(node.guid());
    if (wish == nullptr || !*wish) continue;
    any_forwards = any_forwards || forwards(node);
    auto blocks = dirty_blocks(node.lft, *wish, entries_changed);
    if (!blocks.empty()) items.push_back({i, std::move(blocks), {}});
  }
  if (items.empty()) return {};
  if (any_forwards) return safe_rounds(in, parallel, items);
  std::vector<Round> rounds;
  rounds.push_back(one_round(std::move(items)));
  return rounds;
}

wire::LinearForwardingTable block_content(const LftRow& decided, const LftRow* held,
                                          const PartialBlock& block) {
  wire::LinearForwardingTable table;
  const auto first = block.block * kLftBlock;
  for (std::size_t i = 0; i < kLftBlock; ++i) {
    const auto lid = first + i;
    auto port = decided[lid];
    if ((block.kept >> i & 1) != 0)
      port = held != nullptr && lid < held->size() ? (*held)[lid] : routing::kNoRoute;
    if ((block.dropped >> i & 1) != 0) port = routing::kNoRoute;
    table.ports[i] = PortNum{port};
  }
  return table;
}

}  // namespace smd::sm
