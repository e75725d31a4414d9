// SPDX-License-Identifier: Apache-2.0
// Blocks of forwarding tables that a switch answers with other entries than were sent: what does it hold?
#include <algorithm>

#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "smd/apply/applier.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/unkept_entries.h"

namespace smd::sm::inline applying {

void Applier::lft_done(NodeIndex, const PartialBlock& block, std::size_t answer) {
  auto& lft = applied_.lfts[answer];
  if (block.kept == 0 && block.dropped == 0) {
    lft.acknowledged.set(block.block);
  } else {
    lft.partial.push_back(block);
  }
}

/// The whole block is above LinearFDBTop, as the switch said last.
bool Applier::above_top(NodeIndex index, std::size_t block) const {
  const auto& node = *in_.subnet->nodes[index];
  return node.switch_info && block * routing::kLftBlock > node.switch_info->linear_fdb_top &&
         !raises_top_first(node);
}

void Applier::top_first(NodeIndex index, std::size_t block, std::size_t answer) {
  applied_.lfts[answer].unknown.set(block);
  failed_nodes_[index] = true;
  if (std::ranges::find(applied_.top_first, index) == applied_.top_first.end())
    applied_.top_first.push_back(index);
}

/// The answer to a Set should hold what stands now. It is read once more, so that firmware which answers
/// with what stood before is not taken for one that keeps nothing.
std::optional<Job> Applier::check_lft(NodeIndex node, const PartialBlock& block,
                                      const mad::DirectedPath& path, std::size_t answer,
                                      const wire::LinearForwardingTable& sent) {
  const auto modifier = wire::lft_modifier(static_cast<std::uint32_t>(block.block));
  auto request = mad::get_request<wire::LinearForwardingTable>(target(node, PortNum{0}, path), modifier);
  return Job{table_request(std::move(request)),
             [this, node, block, answer, sent](mad::Answer result) -> std::optional<Job> {
               auto& lft = applied_.lfts[answer];
               if (!result) {
                 lft.unknown.set(block.block);
                 failed_table(node, wire::LinearForwardingTable::kAttribute, result.error());
                 return std::nullopt;
               }
               const auto held = result->get<wire::LinearForwardingTable>();
               if (held == sent) {
                 lft_done(node, block, answer);
               } else if (above_top(node, block.block)) {
                 top_first(node, block.block, answer);
               } else {
                 lft.other.push_back({block.block, sent, held});
               }
               return std::nullopt;
             }};
}

std::optional<Job> Applier::check_mft(NodeIndex node, std::size_t part, const mad::DirectedPath& path,
                                      std::size_t answer, const wire::MulticastForwardingTable& sent) {
  const auto modifier = wire::mft_modifier(static_cast<std::uint32_t>(block_of_part(part)),
                                           static_cast<std::uint32_t>(position_of_part(part)));
  auto request = mad::get_request<wire::MulticastForwardingTable>(target(node, PortNum{0}, path), modifier);
  return Job{table_request(std::move(request)),
             [this, node, part, answer, sent](mad::Answer result) -> std::optional<Job> {
               auto& mft = applied_.mfts[answer];
               if (!result) {
                 mft.unknown.set(part);
                 failed_table(node, wire::MulticastForwardingTable::kAttribute, result.error());
                 return std::nullopt;
               }
               const auto held = result->get<wire::MulticastForwardingTable>();
               if (held == sent) {
                 mft.acknowledged.set(part);
               } else {
                 mft.other.push_back({part, sent, held});
               }
               return std::nullopt;
             }};
}

}  // namespace smd::sm::inline applying
