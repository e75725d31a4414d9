// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/foreign_lids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ranges>
#include <vector>

#include "routing/routes.h"

namespace smd::cli {
namespace {

/// Port GUIDs of a fabric, ascending.
std::vector<Guid> port_guids(const base::Fabric& fabric) {
  std::vector<Guid> guids;
  for (const auto& node : fabric.nodes) {
    if (node.type == NodeType::switch_) {
      guids.push_back(node.guid);
      continue;
    }
    for (unsigned p = 1; p <= node.port_count(); ++p)
      guids.push_back(base::port_guid(node, PortNum{static_cast<std::uint8_t>(p)}));
  }
  std::ranges::sort(guids);
  return guids;
}

/// Ports' own LIDs, as the file or --lids gives them.
std::vector<bool> given_lids(const base::Fabric& fabric) {
  std::vector<bool> given(std::size_t{1} << 16U);
  for (const auto& node : fabric.nodes) {
    for (const auto& port : node.ports) {
      for (unsigned i = 0; port.lid.value() != 0 && i < 1U << port.lmc; ++i)
        given[(port.lid.value() + i) & 0xffffU] = true;
    }
  }
  return given;
}

/// LIDs to which a table of the dump has a route.
std::vector<bool> routed_lids(const sm::LftDump& dump) {
  std::vector<bool> routed(std::size_t{1} << 16U);
  for (const auto& [guid, row] : dump.rows) {
    for (std::size_t lid = 1; lid < std::min(row->size(), routed.size()); ++lid) {
      if ((*row)[lid] != routing::kNoRoute) routed[lid] = true;
    }
  }
  return routed;
}

/// "7, 12-15 (0x0002c90000000123)": consecutive LIDs of one port, or of no named one, together.
class LidList {
 public:
  void add(Lid lid, std::optional<Guid> owner) {
    ++count_;
    if (!spans_.empty() && spans_.back().owner == owner && spans_.back().last.value() + 1 == lid.value()) {
      spans_.back().last = lid;
    } else {
      spans_.push_back({lid, lid, owner});
    }
  }
  std::size_t count() const { return count_; }
  std::string text() const {
    constexpr std::size_t kShown = 16;
    std::string text;
    for (const auto& [first, last, owner] : spans_ | std::views::take(kShown)) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
      if (last != first) text += fmt::format("-{}", last);
      if (owner) text += fmt::format(" ({})", *owner);
    }
    return spans_.size() > kShown ? text + ", ..." : text;
  }

 private:
  struct Span {
    Lid first, last;
    std::optional<Guid> owner;
  };
  std::vector<Span> spans_;
  std::size_t count_ = 0;
};

}  // namespace

std::string foreign_lids(const RouteInput& input, const sm::RoutePart& routes, const std::string& file) {
  const auto& dump = *input.lfts;
  const auto guids = port_guids(input.complete);
  const auto routed = routed_lids(dump), given = given_lids(input.complete);
  LidList foreign;
  for (std::size_t value = 1; value < routed.size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto owner = dump.owners.find(lid);
    if (owner != dump.owners.end()) {
      if (!std::ranges::binary_search(guids, owner->second)) foreign.add(lid, owner->second);
    } else if (routed[value] && !given[value] && routes.lid_map->destination(lid).sw == routing::kNoSwitch) {
      foreign.add(lid, std::nullopt);
    }
  }
  if (foreign.count() == 0) return {};
  return fmt::format("{}: {} of its LIDs belong{} to no port of the topology: {}", file, foreign.count(),
                     foreign.count() == 1 ? "s" : "", foreign.text());
}

}  // namespace smd::cli
