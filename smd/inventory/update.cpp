// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/update.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "mad/base/rate.h"
#include "smd/inventory/gone.h"

namespace smd::sm::inline inventory {
namespace {

/// What a port tells of its link: where that is as it was, nothing is updated.
bool same_link(const Port& a, const Port& b) {
  return a.linked() == b.linked() && a.known == b.known && a.peer == b.peer && rate_of(a) == rate_of(b);
}

bool is_slower(const LinkRate& rate, const LinkRate& best) {
  const auto mbps = link_mbps(rate.width, rate.speed);
  return mbps != 0 && mbps < link_mbps(best.width, best.speed);
}

/// A link of the Subnet, both of whose nodes are there.
struct Link {
  LinkEnd end, peer;  ///< the smaller end first
  const Port* a = nullptr;
  const Port* b = nullptr;
};

class Update {
 public:
  explicit Update(const UpdateInput& in) : in_(in), quiet_(in.known.empty()), result_{in.known, {}} {}

  InventoryUpdate run() {
    auto& after = result_.after;
    const bool was_complete = in_.known.lost().none();
    result_.changes.cut_off = is_cut_off(in_.now);
    for (const auto& node : in_.now.nodes) {
      const auto* old = old_of(*node);
      if (old != node.get() || contains(in_.restarts.nodes, node->guid())) look_at(*node, old);
    }
    for (const auto& end : in_.restarts.bounced) bounced(end);
    gather_hosts();
    if (!result_.changes.cut_off) look_for_gone();
    if (displaced_) forget_detached(after);
    if (was_complete && (quiet_ || !after.lost().none())) after.set_complete(in_.time);
    return std::move(result_);
  }

 private:
  static bool contains(const std::vector<Guid>& sorted, Guid guid) {
    return std::ranges::binary_search(sorted, guid);
  }
  const Node* old_of(const Node& node) {
    if (in_.before == nullptr) return nullptr;
    const auto& nodes = in_.before->nodes;
    while (at_ < nodes.size() && nodes[at_]->guid() < node.guid()) ++at_;
    return at_ < nodes.size() && nodes[at_]->guid() == node.guid() ? nodes[at_].get() : nullptr;
  }

  void look_at(const Node& node, const Node* old) {
    note_node(node);
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const LinkEnd end{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
      const auto& port = node.ports[p];
      if (old != nullptr && p < old->ports.size() && same_link(port, old->ports[p])) continue;
      if (port.known && !port.linked()) went_down(end, port.info.phys_state);
      if (const auto link = link_at(end, port)) is_up(*link, end);
    }
  }

  void note_node(const Node& node) {
    const auto* known = result_.after.find(node.guid());
    const bool lost = known != nullptr && known->lost();
    const bool rebooted = known != nullptr && contains(in_.restarts.nodes, node.guid());
    if (known == nullptr || lost || rebooted) {
      NodeChange change{.node = node.guid(), .type = node.info.type, .name = raw_name(node)};
      change.since = lost ? known->lost_at : 0;
      count_links(node, change);
      if (!quiet_) (rebooted ? result_.changes.rebooted : result_.changes.fresh).push_back(std::move(change));
      if (known == nullptr || lost) came_.insert(node.guid());
    }
    const bool is_adapter = node.info.type == NodeType::ca;  // only their images are stored
    const KnownNode now{.type = node.info.type,
                        .name = raw_name(node),
                        .image = is_adapter ? node.info.system_image : Guid{}};
    if (known == nullptr || *known != now) result_.after.put(node.guid(), now);
  }

  void count_links(const Node& node, NodeChange& change) const {
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const LinkEnd end{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
      const auto link = link_at(end, node.ports[p]);
      if (!link) continue;
      ++change.links;
      if (!change.behind) change.behind = link->end == end ? link->peer : link->end;
    }
  }

  std::optional<Link> link_at(const LinkEnd& end, const Port& port) const {
    if (!port.linked() || !port.peer) return std::nullopt;
    const auto* peer = in_.now.find(port.peer->node);
    if (peer == nullptr || port.peer->port.value() >= peer->ports.size()) return std::nullopt;
    const LinkEnd other{port.peer->node, port.peer->port};
    const auto* back = &peer->ports[other.port.value()];
    if (!back->linked() || other == end) return std::nullopt;
    return end < other ? Link{end, other, &port, back} : Link{other, end, back, &port};
  }

  bool is_switch(Guid guid) const {
    const auto* node = result_.after.find(guid);
    return node != nullptr && node->is_switch();
  }
  /// As it is told: of a host's link the switch's end first.
  LinkChange change_of(const LinkEnd& end, const LinkEnd& peer, const LinkRate& rate) const {
    const bool turned = is_switch(peer.node) && !is_switch(end.node);
    LinkChange change{.end = turned ? peer : end, .peer = turned ? end : peer, .rate = rate};
    return change;
  }

  /// `from`: the end that is looked at.
  void is_up(const Link& link, const LinkEnd& from) {
    auto& after = result_.after;
    for (const auto& [end, other] : {std::pair{link.end, link.peer}, std::pair{link.peer, link.end}}) {
      const auto* before = after.find(end);
      if (before == nullptr || before->peer == other) continue;
      displaced_ = true;
      went_down(end, PhysState::no_change);
      after.forget(end);
    }
    const auto* known = after.find(link.end);
    const auto rate = rate_of(*link.a);
    const auto best = best_rate(*link.a, *link.b);
    auto change = change_of(link.end, link.peer, rate);
    const bool came = known == nullptr || known->lost();
    const bool other_rate = known != nullptr && known->rate != rate;
    if (!came && !other_rate && (in_.before != nullptr || from != link.end)) return;
    if (known != nullptr && other_rate) change.was = known->rate;
    if (known != nullptr && known->lost()) change.since = known->lost_at;
    const bool of_new_switch = (came_.contains(link.end.node) && is_switch(link.end.node)) ||
                               (came_.contains(link.peer.node) && is_switch(link.peer.node));
    const bool faster = other_rate && is_slower(change.was, rate);
    if (!quiet_ && ((came && !of_new_switch) || (!came && faster))) result_.changes.up.push_back(change);
    change.best = best;
    if (is_slower(rate, best)) result_.changes.degraded.push_back(change);
    if (came || other_rate)
      after.put(link.end, {.peer = link.peer, .rate = rate, .up_since = came ? in_.time : known->up_since});
  }

  /// Nothing where no link is known there, or it was lost before.
  void went_down(const LinkEnd& end, PhysState phys) {
    const auto* known = result_.after.find(end);
    if (known == nullptr || known->lost()) return;
    auto change = change_of(end, known->peer, known->rate);
    change.since = known->up_since;
    change.phys = change.end == end ? phys : PhysState::no_change;
    result_.changes.down.push_back(change);
    auto lost = *known;
    lost.lost_at = in_.time;
    result_.after.put(end, lost);
  }

  void bounced(const LinkEnd& end) {
    const auto* known = result_.after.find(end);
    if (known == nullptr || known->lost() || known->up_since == in_.time) return;
    auto change = change_of(end, known->peer, known->rate);
    change.since = known->up_since;
    change.bounced = true;
    result_.changes.up.push_back(change);
    auto again = *known;
    again.up_since = in_.time;
    result_.after.put(end, again);
  }

  /// Hosts that came with their switch are told of with it.
  void gather_hosts() {
    auto& changes = result_.changes;
    std::map<Guid, std::vector<Guid>> hosts;
    std::erase_if(changes.fresh, [&](const NodeChange& change) {
      if (change.type == NodeType::switch_ || !change.behind) return false;
      bool otherwise = false;
      result_.after.for_each_link(change.node, [&](const LinkEnd&, const KnownLink& link) {
        otherwise = otherwise || !came_.contains(link.peer.node) || !is_switch(link.peer.node);
      });
      if (!otherwise) hosts[change.behind->node].push_back(change.node);
      return !otherwise;
    });
    for (auto* list : {&changes.fresh, &changes.rebooted}) {
      for (auto& change : *list) {
        const auto found = hosts.find(change.node);
        if (found != hosts.end()) change.hosts = std::move(found->second);
      }
    }
  }

  void look_for_gone() {
    auto& after = result_.after;
    if (after.nodes().size() - after.lost_nodes().size() == in_.now.nodes.size()) return;
    const auto gone = gone_nodes(after, in_.now, in_.time);
    result_.changes.gone = tell_gone(after, gone, in_.time);
    const auto of_gone_switch = [&](const LinkChange& change) {
      return (gone.contains(change.end.node) && is_switch(change.end.node)) ||
             (gone.contains(change.peer.node) && is_switch(change.peer.node));
    };
    for (const auto guid : gone) {
      std::vector<LinkEnd> ends;
      after.for_each_link(guid, [&](const LinkEnd& end, const KnownLink& link) {
        if (!link.lost()) ends.push_back(end);
      });
      for (const auto& end : ends) went_down(end, PhysState::no_change);
      auto node = *after.find(guid);
      node.lost_at = in_.time;
      after.put(guid, std::move(node));
    }
    std::erase_if(result_.changes.down, of_gone_switch);
  }

  const UpdateInput& in_;
  const bool quiet_;  ///< the first time: all is new
  std::size_t at_ = 0;
  std::set<Guid> came_;
  bool displaced_ = false;
  InventoryUpdate result_;
};

}  // namespace

bool Changes::empty() const {
  return down.empty() && up.empty() && degraded.empty() && gone.empty() && fresh.empty() && rebooted.empty();
}

InventoryUpdate update_inventory(const UpdateInput& in) { return Update(in).run(); }

}  // namespace smd::sm::inline inventory
