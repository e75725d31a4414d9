// SPDX-License-Identifier: Apache-2.0
#include "mad/base/node_finder.h"

#include <fmt/format.h>

#include <optional>

#include "mad/base/parse.h"

namespace smd::base {
namespace {

using Found = std::expected<NodeIndex, std::string>;

/// The one node with this key, the error where there are several, nothing where there is none.
template <class Map, class Key>
std::optional<Found> only(const Fabric& fabric, const Map& map, const Key& key, std::string_view text) {
  const auto [first, last] = map.equal_range(key);
  if (first == last) return std::nullopt;
  if (std::next(first) == last) return first->second;
  std::string who;
  std::size_t count = 0;
  for (auto node = first; node != last; ++node) {
    if (++count > 3) continue;
    const auto& found = fabric.nodes[node->second];
    who += fmt::format("{}{} {}", who.empty() ? "" : ", ", found.id, found.guid);
  }
  return std::unexpected(
      fmt::format("'{}' is the name of {} nodes: {}{}", text, count, who, count > 3 ? ", …" : ""));
}

}  // namespace

NodeFinder::NodeFinder(const Fabric& fabric) : fabric_(fabric) {
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    const auto& node = fabric.nodes[i];
    names_.emplace(node.name, i);
    ids_.emplace(node.id, i);
    guids_.emplace(node.guid, i);
  }
}

std::expected<NodeIndex, std::string> NodeFinder::find(std::string_view text) const {
  if (auto node = only(fabric_, names_, text, text)) return *node;
  if (auto node = only(fabric_, ids_, text, text)) return *node;
  const auto guid = parse_guid(text);
  if (!guid) return std::unexpected(fmt::format("no node has the name '{}'", text));
  if (auto node = only(fabric_, guids_, *guid, text)) return *node;
  return std::unexpected(fmt::format("no node has the GUID {}", *guid));
}

}  // namespace smd::base
