// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/followed_lids.h"

#include <algorithm>
#include <utility>

namespace smd::sm::inline decisions {
namespace {

struct FollowedLid {
  Lid now, before;
};

Guid port_of(const routing::Topology& topology, const routing::Destination& to) {
  return to.end != routing::kNoEnd ? topology.end_ports()[to.end].guid : topology.guid(to.sw);
}

/// LIDs that `stored` does not give to their port, while it gives another one that the port's switch leads to
/// the port.
std::vector<FollowedLid> followed_lids(std::span<const std::shared_ptr<const routing::LftRow>> rows,
                                       const routing::Topology& topology, const routing::LidMap& lids,
                                       const Stored& stored) {
  std::vector<FollowedLid> found;
  for (std::size_t value = 1; value < lids.row_size(); ++value) {
    const Lid now{static_cast<std::uint16_t>(value)};
    const auto to = lids.destination(now);
    if (to.sw == routing::kNoSwitch) continue;
    const auto known = stored.lids.find(port_of(topology, to));
    if (known == stored.lids.end() || known->second.base == Lid{}) continue;
    const unsigned base = known->second.base.value(), count = known->second.count();
    if (value >= base && value < base + count) continue;
    const Lid before{static_cast<std::uint16_t>(base + to.offset % count)};
    if (routing::entry(rows[to.sw].get(), before) == to.port.value()) found.push_back({now, before});
  }
  return found;
}

}  // namespace

std::vector<std::shared_ptr<const routing::LftRow>> with_followed_lids(
    std::span<const std::shared_ptr<const routing::LftRow>> rows, const routing::Topology& topology,
    const routing::LidMap& lids, const Stored& stored) {
  const auto followed = followed_lids(rows, topology, lids, stored);
  if (followed.empty()) return {};
  std::vector<std::shared_ptr<const routing::LftRow>> edited;
  for (const auto& row : rows) {
    if (!row) {
      edited.push_back(nullptr);
      continue;
    }
    auto copy = std::make_shared<routing::LftRow>(*row);
    if (copy->size() < lids.row_size()) copy->resize(lids.row_size(), routing::kNoRoute);
    for (const auto& [now, before] : followed) (*copy)[now.value()] = routing::entry(row.get(), before);
    edited.push_back(std::move(copy));
  }
  return edited;
}

}  // namespace smd::sm::inline decisions
