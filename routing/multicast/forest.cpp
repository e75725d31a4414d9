// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/forest.h"

#include <utility>

namespace smd::routing::inline multicast {

bool McForest::connect(SwitchIndex s, PortNum port) {
  const auto far = topology_.peer(s, port);
  add(s);
  add(far.sw);
  const auto one = part(s);
  const auto other = part(far.sw);
  if (one == other) return false;
  parts_[one] = other;
  branches_[s].push_back({far.sw, port, far.port});
  branches_[far.sw].push_back({s, far.port, port});
  return true;
}

SwitchIndex McForest::part(SwitchIndex s) const {
  auto root = s;
  for (auto up = parts_.at(root); up != root; up = parts_.at(root)) root = up;
  while (s != root) s = std::exchange(parts_.at(s), root);
  return root;
}

std::span<const McBranch> McForest::branches(SwitchIndex s) const {
  const auto found = branches_.find(s);
  return found == branches_.end() ? std::span<const McBranch>() : std::span(found->second);
}

std::vector<SwitchIndex> McForest::switches() const {
  std::vector<SwitchIndex> all;
  all.reserve(parts_.size());
  for (const auto& [s, up] : parts_) all.push_back(s);
  return all;
}

void McForest::prune(const std::vector<bool>& keep) {
  auto ends = switches();
  while (!ends.empty()) {
    const auto s = ends.back();
    ends.pop_back();
    const auto found = branches_.find(s);
    if (keep[s] || found == branches_.end() || found->second.size() != 1) continue;
    const auto up = found->second.front().to;
    branches_.erase(found);
    std::erase_if(branches_[up], [s](const McBranch& branch) { return branch.to == s; });
    ends.push_back(up);
  }
  std::map<SwitchIndex, SwitchIndex> left;
  for (const auto& [s, up] : parts_) {
    if (keep[s] || !branches(s).empty()) left.emplace(s, s);
  }
  parts_ = std::move(left);
  for (const auto& [s, all] : branches_) {
    for (const auto& branch : all) parts_[part(s)] = part(branch.to);
  }
}

}  // namespace smd::routing::inline multicast
