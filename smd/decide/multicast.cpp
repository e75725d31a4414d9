// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/multicast.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "routing/multicast/tree.h"

namespace smd::sm::inline decisions {
namespace {

using routing::McRow;
using routing::SwitchIndex;

/// By SwitchIndex.
std::vector<std::shared_ptr<const routing::LftRow>> rows_of(const RoutePart& routes) {
  const auto& topology = *routes.topology;
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  rows.reserve(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto* row = routes.find(topology.guid(s));
    rows.push_back(row != nullptr ? *row : nullptr);
  }
  return rows;
}

bool same_routes(const MulticastContext& context, const RoutePart& routes) {
  return rows_of(routes) == context.rows && routes.layers == context.layers;
}

/// Trees that were kept while tables were adopted may be replaced by proven ones.
bool may_be_proven(const MulticastContext& context) {
  return context.not_proven != 0 && context.proof->rule != routing::McRule::none && !context.no_spanning;
}

class Multicast {
 public:
  Multicast(const DecideInput& in, const RoutePart& routes)
      : in_(in),
        before_(in.previous != nullptr ? in.previous->multicast.get() : nullptr),
        topology_(*routes.topology),
        same_topology_(before_ != nullptr && before_->topology == routes.topology),
        loads_(topology_) {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) held_.push_back(held_row(topology_.guid(s)));
  }

  std::shared_ptr<const McPart> decide(const RoutePart& routes) {
    auto part = std::make_shared<McPart>();
    part->groups = in_.multicast;
    part->topology = routes.topology;
    part->keeps_unknown = in_.keep_unknown_groups;
    find_ground(routes);
    if (!grow_all(*part) && context_->proof->rule == routing::McRule::ranking && !context_->no_spanning &&
        !in_.adopting) {
      // The ranking has no tree for a group: then one spanning tree is for all.
      auto spanning = proof_of(routes, true);
      context_->no_spanning = spanning->rule == routing::McRule::none;
      if (!context_->no_spanning) {
        context_->proof = std::move(spanning);
        grow_all(*part);
      }
    }
    part->context = std::move(context_);
    finish(*part);
    return part;
  }

 private:
  std::shared_ptr<const routing::McProof> proof_of(const RoutePart& routes, bool without_ranking) const {
    if (!routes.lid_map) return std::make_shared<const routing::McProof>();
    const routing::Routes tables{.rows = context_->rows, .layers = routes.layers};
    return std::make_shared<const routing::McProof>(
        routing::prove_trees({topology_, *routes.lid_map, in_.parallel, in_.stop}, tables,
                             routes.verification, context_->places->ranking, without_ranking));
  }

  /// The context before as far as topology and routes are the same.
  void find_ground(const RoutePart& routes) {
    context_ = same_topology_ ? std::make_shared<MulticastContext>(*before_->context)
                              : std::make_shared<MulticastContext>();
    if (!same_topology_) context_->places = std::make_shared<const MulticastPlaces>(topology_);
    if (context_->proof && same_routes(*context_, routes)) return;
    context_->rows = rows_of(routes);
    context_->layers = routes.layers;
    context_->no_spanning = false;
    context_->proof = proof_of(routes, false);
  }

  bool proven(const routing::McTree& tree) const {
    return routing::keeps_to(*context_->proof, topology_, context_->places->ranking, tree);
  }

  /// Trees for all groups. False if one of them is not proven; trees without a group do not count.
  bool grow_all(McPart& part) {
    rows_.assign(topology_.switches(), McRow());
    loads_ = routing::McLoads(topology_);
    context_->trees = context_->not_proven = 0;
    part.unknown.clear();
    auto kept = held_trees();
    for (const auto& [mlid, tree] : kept) loads_.add(tree);
    for (const auto& group : *in_.multicast) {
      const auto mlid = routing::mlid_index(group.mlid);
      const auto before = kept.extract(mlid);
      if (before && stands(group) && (proven(before.mapped()) || !can_prove())) {
        put(mlid, before.mapped());
        continue;
      }
      const auto tree = grown(group, before ? before.mapped() : routing::McTree{});
      if (!before) loads_.add(tree);
      put(mlid, tree);
    }
    const bool all_proven = context_->not_proven == 0;
    // No group is there: it was one of ours that ended, or one of the time before us.
    std::erase_if(kept, [this](const auto& entry) { return was_ours(entry.first); });
    if (in_.keep_unknown_groups) {
      for (const auto& [mlid, tree] : kept) {
        put(mlid, tree);
        part.unknown.push_back(routing::mlid_at(mlid));
      }
    }
    return all_proven;
  }

  bool can_prove() const { return context_->proof->rule != routing::McRule::none && !context_->no_spanning; }

  /// What is left of the tree before is given up where that is not proven.
  routing::McTree grown(const GroupMembers& group, const routing::McTree& before) const {
    const bool spanning = context_->proof->rule == routing::McRule::spanning && !in_.adopting;
    const auto& topology = spanning ? context_->proof->cables : topology_;
    const auto& ranking = spanning ? context_->proof->ranking : context_->places->ranking;
    const auto all = members(group);
    auto tree = routing::grow_tree(topology, ranking, before, all, loads_);
    const bool hopeless = context_->proof->rule == routing::McRule::none;
    if (before.empty() || in_.adopting || hopeless || proven(tree)) return tree;
    auto fresh = routing::grow_tree(topology, ranking, {}, all, loads_);
    return proven(fresh) ? fresh : tree;
  }

  bool was_ours(std::size_t mlid) const {
    return before_ != nullptr &&
           std::ranges::binary_search(*before_->groups, routing::mlid_at(mlid), {}, &GroupMembers::mlid);
  }

  /// Neither its members nor the cables have changed since its tree was made.
  bool stands(const GroupMembers& group) const {
    if (!same_topology_ || in_.adopting) return false;
    const auto was = std::ranges::lower_bound(*before_->groups, group.mlid, {}, &GroupMembers::mlid);
    return was != before_->groups->end() && *was == group;
  }

  /// What was decided before is what is being written; else what the switch says that it has.
  const McRow* held_row(Guid guid) const {
    const auto* decided = before_ != nullptr ? before_->find(guid) : nullptr;
    if (decided != nullptr) return decided->get();
    const auto* node = in_.subnet.find(guid);
    return node != nullptr ? node->mft.row.get() : nullptr;
  }

  /// By entry.
  std::map<std::size_t, routing::McTree> held_trees() const {
    std::map<std::size_t, routing::McTree> trees;
    for (SwitchIndex s = 0; s < held_.size(); ++s) {
      for (const auto& entry : routing::entries_of(held_[s])) trees[entry.index].push_back({s, entry.ports});
    }
    return trees;
  }

  std::vector<routing::McMember> members(const GroupMembers& group) const {
    std::vector<routing::McMember> found;
    for (const auto& member : group.members) {
      const auto place = context_->places->ports.find(member.port);
      if (place != context_->places->ports.end())
        found.push_back({place->second.first, place->second.second, member.receives});
    }
    return found;
  }

  void put(std::size_t mlid, const routing::McTree& tree) {
    bool crosses = false;
    for (const auto& mask : tree) {
      rows_[mask.sw].set(mlid, mask.ports);
      for (unsigned p = 1; p <= topology_.ports(mask.sw) && !crosses; ++p) {
        const PortNum port{static_cast<std::uint8_t>(p)};
        crosses = mask.ports[p] && topology_.peer(mask.sw, port).sw != routing::kNoSwitch;
      }
    }
    context_->trees += crosses ? 1U : 0U;
    context_->not_proven += crosses && !proven(tree) ? 1U : 0U;
  }

  /// An equal row is dropped for the pointer that the switch's held table has.
  void finish(McPart& part) {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      const auto guid = topology_.guid(s);
      const auto* node = in_.subnet.find(guid);
      auto& row = rows_[s];
      part.top = std::max(part.top, row.end());
      const bool same = node != nullptr && node->mft.row && *node->mft.row == row;
      part.rows.push_back({guid, same ? node->mft.row : std::make_shared<const McRow>(std::move(row))});
    }
    std::ranges::sort(part.rows, {}, &McPart::Row::node);
  }

  const DecideInput& in_;
  const McPart* before_;  ///< may be null
  const routing::Topology& topology_;
  bool same_topology_;
  std::shared_ptr<MulticastContext> context_;
  routing::McLoads loads_;
  std::vector<const McRow*> held_;
  std::vector<McRow> rows_;
};

}  // namespace

MulticastPlaces::MulticastPlaces(const routing::Topology& topology) : ranking(routing::find_tree(topology)) {
  for (const auto& end : topology.end_ports()) {
    if (end.sw != routing::kNoSwitch) ports.emplace(end.guid, std::pair{end.sw, end.port});
  }
  for (SwitchIndex s = 0; s < topology.switches(); ++s)
    ports.emplace(topology.guid(s), std::pair{s, PortNum{0}});
}

const std::shared_ptr<const routing::McRow>* McPart::find(Guid node) const {
  const auto it = std::ranges::lower_bound(rows, node, {}, &Row::node);
  return it != rows.end() && it->node == node ? &it->row : nullptr;
}

std::shared_ptr<const McPart> decide_multicast(const DecideInput& in, const RoutePart& routes) {
  if (!in.multicast || !routes.topology) return nullptr;
  const auto* before = in.previous != nullptr ? in.previous->multicast.get() : nullptr;
  const bool same_members =
      before != nullptr && (before->groups == in.multicast || *before->groups == *in.multicast);
  // Without rows a standby computed it in advance: what the switches hold counts.
  const bool same = same_members && !before->rows.empty() && before->topology == routes.topology &&
                    before->keeps_unknown == in.keep_unknown_groups && !in.adopting &&
                    same_routes(*before->context, routes) && !may_be_proven(*before->context);
  if (same) return in.previous->multicast;
  return Multicast(in, routes).decide(routes);
}

std::size_t trees_not_proven(const McPart* part) {
  return part != nullptr && part->context ? part->context->not_proven : 0;
}

}  // namespace smd::sm::inline decisions
