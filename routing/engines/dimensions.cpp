// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/dimensions.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace smd::routing::inline engines {
namespace {

/// Two classes of links are joined if they meet at so many switches, the strongest evidence first, until the
/// dimensions show.
constexpr std::array<std::uint32_t, 3> kEvidence{4, 2, 1};

struct Meeting {
  std::uint32_t switches = 0;  ///< at which links of both classes meet
  std::uint32_t one = 0, other = 0;
};

/// How often classes meet that never span a square; the most frequent first.
std::vector<Meeting> meetings(const SwitchLinks& links, const ParallelLinks& parallel) {
  const auto& topology = links.topology();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  std::vector<std::uint32_t> here;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    here.clear();
    for (std::size_t g = 0; g < topology.groups(s); ++g) here.push_back(parallel.class_of[links.of(s, g)]);
    std::ranges::sort(here);
    here.erase(std::ranges::unique(here).begin(), here.end());
    for (std::size_t i = 0; i < here.size(); ++i) {
      for (std::size_t k = i + 1; k < here.size(); ++k) all.emplace_back(here[i], here[k]);
    }
  }
  std::ranges::sort(all);
  std::vector<Meeting> found;
  for (std::size_t i = 0; i < all.size();) {
    auto end = i;
    while (end < all.size() && all[end] == all[i]) ++end;
    if (!std::ranges::binary_search(parallel.crossing, all[i]))
      found.push_back({static_cast<std::uint32_t>(end - i), all[i].first, all[i].second});
    i = end;
  }
  std::ranges::sort(found, [](const Meeting& a, const Meeting& b) {
    return std::tuple(b.switches, a.one, a.other) < std::tuple(a.switches, b.one, b.other);
  });
  return found;
}

/// Classes joined to groups. Groups of which members span a square are never joined.
class ClassGroups {
 public:
  ClassGroups(const SwitchLinks& links, const ParallelLinks& parallel)
      : group_(parallel.classes),
        members_(parallel.classes),
        crosses_(parallel.classes),
        links_(parallel.classes) {
    for (std::uint32_t c = 0; c < parallel.classes; ++c) {
      group_[c] = c;
      members_[c] = {c};
    }
    for (const auto& [one, other] : parallel.crossing) {
      crosses_[one].push_back(other);
      crosses_[other].push_back(one);
    }
    for (LinkIndex link = 0; link < links.size(); ++link) ++links_[parallel.class_of[link]];
    sizes_ = links_;
  }

  std::uint32_t group(std::uint32_t c) const { return group_[c]; }
  std::size_t class_links(std::uint32_t c) const { return sizes_[c]; }
  std::size_t links(std::uint32_t group) const { return links_[group]; }

  bool cross(std::uint32_t one, std::uint32_t other) const {
    if (members_[one].size() > members_[other].size()) std::swap(one, other);
    return std::ranges::any_of(members_[one], [&](auto c) {
      return std::ranges::any_of(crosses_[c], [&](auto d) { return group_[d] == other; });
    });
  }

  void join(std::uint32_t one, std::uint32_t other) {
    one = group_[one];
    other = group_[other];
    if (one == other || cross(one, other)) return;
    if (members_[one].size() < members_[other].size()) std::swap(one, other);
    for (const auto c : members_[other]) group_[c] = one;
    members_[one].insert(members_[one].end(), members_[other].begin(), members_[other].end());
    members_[other].clear();
    links_[one] += std::exchange(links_[other], 0);
  }

 private:
  std::vector<std::uint32_t> group_;  ///< by class
  std::vector<std::vector<std::uint32_t>> members_, crosses_;
  std::vector<std::size_t> links_;  ///< by group
  std::vector<std::size_t> sizes_;  ///< by class
};

/// The groups that are dimensions, by their first link: each switch of a whole fabric has a link in each.
/// Nothing unless they have most links and cross each other.
std::vector<std::uint32_t> dimension_groups(const SwitchLinks& links, const ParallelLinks& parallel,
                                            const ClassGroups& groups) {
  std::vector<std::uint32_t> large;
  std::size_t covered = 0;
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const auto group = groups.group(parallel.class_of[link]);
    if (4 * groups.links(group) < links.topology().switches() ||
        std::ranges::find(large, group) != large.end())
      continue;
    large.push_back(group);
    covered += groups.links(group);
    if (large.size() == kNoDimension) return {};
  }
  if (10 * covered < 7 * links.size()) return {};
  for (std::size_t i = 0; i < large.size(); ++i) {
    for (std::size_t k = i + 1; k < large.size(); ++k) {
      if (!groups.cross(large[i], large[k])) return {};
    }
  }
  return large;
}

/// Gives small groups of links the dimension in which they meet the most links and span no square. Squares
/// that miss a link have left them alone.
class RestOfLinks {
 public:
  RestOfLinks(const SwitchLinks& links, const ParallelLinks& parallel, ClassGroups& groups,
              std::span<const std::uint32_t> dimensions)
      : links_(links), parallel_(parallel), groups_(groups), dimensions_(dimensions) {}

  void run() {
    for (bool more = true; more;) {
      more = false;
      count_meetings();
      for (auto& [group, meets] : meetings_) more = assign(group, meets) || more;
    }
  }

 private:
  void count_meetings() {
    const auto& topology = links_.topology();
    meetings_.clear();
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      std::vector<std::uint32_t> here;
      for (std::size_t g = 0; g < topology.groups(s); ++g)
        here.push_back(groups_.group(parallel_.class_of[links_.of(s, g)]));
      for (const auto group : here) {
        if (std::ranges::find(dimensions_, group) != dimensions_.end()) continue;
        auto& meets = meetings_.try_emplace(group, dimensions_.size()).first->second;
        for (std::size_t d = 0; d < dimensions_.size(); ++d)
          meets[d] += static_cast<std::size_t>(std::ranges::count(here, dimensions_[d]));
      }
    }
  }

  bool assign(std::uint32_t group, const std::vector<std::size_t>& meets) {
    if (groups_.group(group) != group) return false;
    std::size_t best = dimensions_.size(), most = 0, second = 0;
    bool crosses = false;  // a single link without squares may be of any dimension
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      if (groups_.cross(group, dimensions_[d])) {
        crosses = true;
        continue;
      }
      second = std::max(second, std::min(most, meets[d]));
      if (meets[d] <= most) continue;
      most = meets[d];
      best = d;
    }
    if (!crosses || most == 0 || 3 * second >= 2 * most) return false;
    groups_.join(dimensions_[best], group);
    return true;
  }

  const SwitchLinks& links_;
  const ParallelLinks& parallel_;
  ClassGroups& groups_;
  std::span<const std::uint32_t> dimensions_;
  std::map<std::uint32_t, std::vector<std::size_t>> meetings_;  ///< by group and dimension
};

}  // namespace

Dimensions find_dimensions(const SwitchLinks& links) {
  const auto parallel = find_parallel_links(links);
  const auto all = meetings(links, parallel);
  ClassGroups groups(links, parallel);
  std::vector<std::uint32_t> found;
  auto next = all.begin();
  for (const auto evidence : kEvidence) {
    for (; next != all.end() && next->switches >= evidence; ++next) {
      // Classes of neighbouring positions meet at all their links, those of different dimensions at few.
      const auto least = std::min(groups.class_links(next->one), groups.class_links(next->other));
      if (2 * std::size_t{next->switches} > least) groups.join(next->one, next->other);
    }
    found = dimension_groups(links, parallel, groups);
    if (!found.empty()) break;
  }
  RestOfLinks(links, parallel, groups, found).run();
  Dimensions result{found.size(), std::vector<std::uint8_t>(links.size(), kNoDimension)};
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const auto at = std::ranges::find(found, groups.group(parallel.class_of[link]));
    if (at != found.end()) result.of[link] = static_cast<std::uint8_t>(at - found.begin());
  }
  return result;
}

}  // namespace smd::routing::inline engines
