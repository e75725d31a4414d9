// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline ranking {
namespace {

/// What is above a group: the columns of the upper switches, or the upper switches themselves if they are the
/// top.
using Above = std::vector<std::uint64_t>;
constexpr std::uint64_t kTop = std::uint64_t{1} << 32;

class Columns {
 public:
  Columns(const SwitchRanking& ranking, const TreeTemplate& tree_template)
      : ranking_(ranking), template_(tree_template), column_(tree_template.groups.size()) {
    std::iota(column_.begin(), column_.end(), std::uint32_t{0});
  }

  std::vector<std::uint32_t> find() {
    std::map<std::int32_t, std::vector<std::uint32_t>> ranks;
    for (std::uint32_t f = 0; f < template_.groups.size(); ++f) {
      const auto& group = template_.groups[f];
      if (!group.slots.empty()) ranks[ranking_.rank[group.members.front()]].push_back(f);
    }
    for (const auto& [rank, groups] : ranks) join(groups);
    return std::move(column_);
  }

 private:
  Above above(const SwitchGroup& group) const {
    Above result;
    for (const auto& slot : group.slots) {
      const auto upper = template_.group_of[slot.peer];
      result.push_back(template_.groups[upper].slots.empty() ? kTop | slot.peer : column_[upper]);
    }
    std::ranges::sort(result);
    const auto repeated = std::ranges::unique(result);
    result.erase(repeated.begin(), repeated.end());
    return result;
  }

  /// Joins groups that share more than half of what is above the one that has less.
  void join(std::span<const std::uint32_t> groups) {
    std::map<Above, std::vector<std::uint32_t>> same;
    for (const auto f : groups) same[above(template_.groups[f])].push_back(f);
    std::vector<const Above*> sets;
    std::map<std::uint64_t, std::vector<std::uint32_t>> holders;
    for (const auto& [set, members] : same) {
      for (const auto upper : set) holders[upper].push_back(static_cast<std::uint32_t>(sets.size()));
      sets.push_back(&set);
    }
    DisjointSets joined(sets.size());
    std::vector<std::size_t> shared(sets.size());
    for (std::uint32_t i = 0; i < sets.size(); ++i) {
      std::ranges::fill(shared, 0);
      for (const auto upper : *sets[i]) {
        for (const auto other : holders[upper]) ++shared[other];
      }
      for (std::uint32_t other = i + 1; other < sets.size(); ++other) {
        if (shared[other] * 2 > std::min(sets[i]->size(), sets[other]->size())) joined.join(i, other);
      }
    }
    std::vector<std::uint32_t> first(sets.size(), ~std::uint32_t{0});
    std::uint32_t i = 0;
    for (const auto& [set, members] : same) {
      auto& column = first[joined.first(i++)];
      column = std::min(column, members.front());
      for (const auto f : members) column_[f] = column;
    }
  }

  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  std::vector<std::uint32_t> column_;
};

}  // namespace

std::vector<std::uint32_t> columns_of_groups(const SwitchRanking& ranking,
                                             const TreeTemplate& tree_template) {
  return Columns(ranking, tree_template).find();
}

}  // namespace smd::routing::inline ranking
