// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/vl_graph.h"

#include <algorithm>

#include "routing/verify/scc.h"

namespace smd::routing::inline verify {

void VlGraph::add(std::uint32_t from, std::uint32_t to) {
  edges_.emplace_back(from, to);
  if (edges_.size() < limit_) return;
  tidy();
  limit_ = std::max(kFirstLimit, 2 * edges_.size());
}

void VlGraph::merge(const VlGraph& other) {
  edges_.insert(edges_.end(), other.edges_.begin(), other.edges_.end());
  tidy();
}

std::vector<std::vector<std::size_t>> VlGraph::cycles(std::size_t nodes) {
  tidy();
  const auto groups = strongly_connected_components(nodes, [&](std::size_t node, const auto& fn) {
    const auto from = static_cast<std::uint32_t>(node);
    for (auto at = std::ranges::lower_bound(edges_, std::pair(from, 0U));
         at != edges_.end() && at->first == from; ++at)
      fn(at->second);
  });
  std::vector<std::vector<std::size_t>> found;
  for (const auto& group : groups) {
    const auto first = static_cast<std::uint32_t>(group.front());
    if (group.size() > 1 || std::ranges::binary_search(edges_, std::pair(first, first)))
      found.push_back(group);
  }
  return found;
}

void VlGraph::tidy() {
  std::ranges::sort(edges_);
  const auto rest = std::ranges::unique(edges_);
  edges_.erase(rest.begin(), rest.end());
}

}  // namespace smd::routing::inline verify
