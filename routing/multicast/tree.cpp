// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/tree.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "routing/multicast/forest.h"
#include "routing/multicast/tree_search.h"

namespace smd::routing::inline multicast {
namespace {

bool on_topology(const Topology& topology, SwitchIndex s) { return s < topology.switches(); }

class Grower {
 public:
  Grower(const Topology& topology, const SwitchRanking& ranking, std::span<const McMember> members,
         const McLoads& loads)
      : topology_(topology),
        ranking_(ranking),
        forest_(topology),
        search_(topology, ranking, loads),
        needed_(topology.switches()),
        members_(topology.switches()),
        receivers_(topology.switches()) {
    for (const auto& member : members) {
      if (!on_topology(topology, member.sw)) continue;
      needed_[member.sw] = true;
      ++members_[member.sw];
      if (member.receives) receivers_[member.sw].set(member.port.value());
    }
  }

  void keep(const McTree& previous) {
    for (const auto& mask : previous) {
      if (!on_topology(topology_, mask.sw)) continue;
      for (unsigned p = 1; p <= topology_.ports(mask.sw); ++p) {
        const PortNum port{static_cast<std::uint8_t>(p)};
        if (mask.ports[p] && topology_.peer(mask.sw, port).sw != kNoSwitch) forest_.connect(mask.sw, port);
      }
    }
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      if (needed_[s]) forest_.add(s);
    }
    forest_.prune(needed_);
    for (const auto s : forest_.switches()) raise_top(s, s);
  }

  void grow() {
    auto parts = tops();
    if (parts.empty()) return;
    main_ = middle(parts);
    // Lower parts climb first, and may meet others that climb later.
    std::ranges::sort(parts, std::ranges::greater{}, [this](SwitchIndex s) { return ranking_.position[s]; });
    for (const auto top : parts) join(top);
    forest_.prune(needed_);
  }

  McTree masks() const {
    McTree tree;
    std::vector<bool> done(topology_.switches());
    for (const auto s : forest_.switches()) {
      if (!done[s]) add_masks(s, done, tree);
    }
    std::erase_if(tree, [](const McMask& mask) { return mask.ports.none(); });
    std::ranges::sort(tree, {}, &McMask::sw);
    return tree;
  }

 private:
  struct Visit {
    SwitchIndex sw, parent;
    std::size_t receivers = 0;  ///< in the subtree, itself included
  };

  SwitchIndex top_of(SwitchIndex s) const {
    const auto found = tops_.find(forest_.part(s));
    return found == tops_.end() ? s : found->second;
  }

  void raise_top(SwitchIndex s, SwitchIndex candidate) {
    auto& top = tops_.try_emplace(forest_.part(s), candidate).first->second;
    if (ranking_.up(top, candidate)) top = candidate;
  }

  std::vector<SwitchIndex> tops() const {
    std::vector<SwitchIndex> all;
    for (const auto s : forest_.switches()) {
      if (top_of(s) == s) all.push_back(s);
    }
    return all;
  }

  /// The part that the others are joined to: the one with most members, or for a new tree the common ancestor
  /// of all.
  SwitchIndex middle(const std::vector<SwitchIndex>& parts) {
    const bool fresh =
        std::ranges::all_of(parts, [this](SwitchIndex s) { return forest_.branches(s).empty(); });
    if (fresh && parts.size() > 1) {
      if (const auto root = search_.above(parts)) {
        forest_.add(*root);
        raise_top(*root, *root);
        return *root;
      }
    }
    std::map<SwitchIndex, std::size_t> size;
    for (const auto s : forest_.switches()) size[top_of(s)] += members_[s];
    return std::ranges::max_element(size, {}, [](const auto& entry) { return entry.second; })->first;
  }

  void lay(const std::vector<McStep>& steps) {
    for (const auto& step : steps) {
      const auto far = topology_.peer(step.from, step.port).sw;
      const auto one = forest_.contains(step.from) ? top_of(step.from) : step.from;
      const auto other = forest_.contains(far) ? top_of(far) : far;
      forest_.connect(step.from, step.port);
      raise_top(far, one);
      raise_top(far, other);
    }
  }

  /// True if a path upwards reached another part.
  bool climb(SwitchIndex s) {
    const auto top = top_of(s);
    const auto own = forest_.part(top);
    const auto steps = search_.way(std::span(&top, 1), true, [&](SwitchIndex goal) {
      return forest_.contains(goal) && forest_.part(goal) != own;
    });
    lay(steps);
    return !steps.empty();
  }

  void join(SwitchIndex s) {
    if (forest_.part(s) == forest_.part(main_) || climb(s)) return;
    // No common ancestor: the rest of the tree has to grow higher first.
    const std::vector tops{top_of(s), top_of(main_)};
    if (const auto root = search_.above(tops)) {
      forest_.add(*root);
      raise_top(*root, *root);
      while (forest_.part(main_) != forest_.part(*root) && climb(main_)) {
      }
      if (forest_.part(s) == forest_.part(main_) || climb(s)) return;
    }
    const auto own = forest_.part(s);
    std::vector<SwitchIndex> all;
    for (const auto other : forest_.switches()) {
      if (forest_.part(other) == own) all.push_back(other);
    }
    lay(search_.way(all, false,
                    [&](SwitchIndex goal) { return forest_.contains(goal) && forest_.part(goal) != own; }));
  }

  void add_masks(SwitchIndex root, std::vector<bool>& done, McTree& tree) const {
    std::vector<Visit> ranking{{root, kNoSwitch}};
    done[root] = true;
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      for (const auto& branch : forest_.branches(ranking[i].sw)) {
        if (!done[branch.to]) ranking.push_back({branch.to, ranking[i].sw});
        done[branch.to] = true;
      }
    }
    std::map<SwitchIndex, std::size_t> below;
    for (const auto& visit : ranking | std::views::reverse) {
      below[visit.sw] += receivers_[visit.sw].count();
      if (visit.parent != kNoSwitch) below[visit.parent] += below[visit.sw];
    }
    const auto all = below[root];
    for (const auto& visit : ranking) {
      McMask mask{visit.sw, receivers_[visit.sw]};
      for (const auto& branch : forest_.branches(visit.sw)) {
        const auto there = branch.to == visit.parent ? all - below[visit.sw] : below[branch.to];
        if (there != 0) mask.ports.set(branch.port.value());
      }
      tree.push_back(mask);
    }
  }

  const Topology& topology_;
  const SwitchRanking& ranking_;
  McForest forest_;
  McSearch search_;
  std::vector<bool> needed_;
  std::vector<std::uint32_t> members_;
  std::vector<PortMask> receivers_;
  std::map<SwitchIndex, SwitchIndex> tops_;  ///< by representative: the highest switch of its part
  SwitchIndex main_ = kNoSwitch;
};

}  // namespace

void McLoads::add(const McTree& tree) {
  for (const auto& mask : tree) {
    ++switches_[mask.sw];
    for (unsigned p = 1; p <= topology_->ports(mask.sw); ++p) {
      if (mask.ports[p]) ++cables_[topology_->channel(mask.sw, PortNum{static_cast<std::uint8_t>(p)})];
    }
  }
}

// Branches that only go up make packets take up/down paths, as unicast ones do, and add no credit loop; parts
// without a common ancestor are joined by a shortest path.
McTree grow_tree(const Topology& topology, const SwitchRanking& ranking, const McTree& previous,
                 std::span<const McMember> members, const McLoads& loads) {
  Grower grower(topology, ranking, members, loads);
  grower.keep(previous);
  grower.grow();
  return grower.masks();
}

}  // namespace smd::routing::inline multicast
