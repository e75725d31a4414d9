// SPDX-License-Identifier: Apache-2.0
// Multicast forwarding tables on their way into the switches.
#include "smd/sweep/mft.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "smd/apply/applier.h"

namespace smd::sm::inline applying {

/// The first part of every switch, then the second of every one: no node's window holds up the others.
RequestPipeline::Source Applier::mft_source(const Round& round) {
  struct Write {
    std::size_t turn = 0;
    const MftItem* item = nullptr;
    std::size_t part = 0, answer = 0;
  };
  std::vector<Write> writes;
  for (const auto& item : round.mfts) {
    std::size_t turn = 0;
    item.parts.for_each(
        [&](std::size_t part) { writes.push_back({turn++, &item, part, applied_.mfts.size()}); });
    applied_.mfts.push_back({item.node, item.content, {}, {}, {}});
  }
  std::ranges::sort(writes, {}, [](const Write& write) { return std::tuple(write.turn, write.answer); });
  return [this, writes = std::move(writes), next = std::size_t{0}]() mutable -> std::optional<Job> {
    while (next < writes.size()) {
      const auto& write = writes[next++];
      if (auto job = mft_job(*write.item, write.part, write.answer)) return job;
      ++applied_.skipped;
    }
    return std::nullopt;
  };
}

std::optional<Job> Applier::mft_job(const MftItem& item, std::size_t part, std::size_t answer) {
  const auto path = path_to(item.node);
  if (!path || blocked(item.node, PortNum{0})) return std::nullopt;
  const auto modifier = wire::mft_modifier(static_cast<std::uint32_t>(block_of_part(part)),
                                           static_cast<std::uint32_t>(position_of_part(part)));
  const auto table = mft_content(item.content.get(), part);
  return Job{
      table_request(mad::set_request(target(item.node, PortNum{0}, *path), table, modifier)),
      [this, node = item.node, part, answer, path = *path, table](mad::Answer result) -> std::optional<Job> {
        if (result && result->get<wire::MulticastForwardingTable>() != table)
          return check_mft(node, part, path, answer, table);
        auto& mft = applied_.mfts[answer];
        (result ? mft.acknowledged : mft.unknown).set(part);
        if (!result) failed_table(node, wire::MulticastForwardingTable::kAttribute, result.error());
        return std::nullopt;
      }};
}

}  // namespace smd::sm::inline applying
