// SPDX-License-Identifier: Apache-2.0
#pragma once
// What belongs to the fabric: every node and link that was there since the operator last accepted what is
// missing. What of it is not there now is lost.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "smd/base/shared_map.h"

namespace smd::sm::inline inventory {

/// Seconds since 1970, UTC; 0: not known.
using UnixTime = std::int64_t;

/// One end of a link.
struct LinkEnd {
  Guid node;
  PortNum port;
  friend auto operator<=>(const LinkEnd&, const LinkEnd&) = default;
};

struct LinkRate {
  LinkWidth width = LinkWidth::unknown;
  LinkSpeed speed = LinkSpeed::unknown;
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// Width and speed, "4x HDR"; "??" and "???" where unknown.
std::string to_string(const LinkRate& rate);

/// A link as one of its ends has it.
struct KnownLink {
  LinkEnd peer;
  LinkRate rate;      ///< when it was up last
  UnixTime up_since;  ///< at least as long, when it was up last
  UnixTime lost_at = 0;
  bool lost() const { return lost_at != 0; }  ///< it is not there now
  friend bool operator==(const KnownLink&, const KnownLink&) = default;
};

struct KnownNode {
  NodeType type = NodeType::none;
  std::string name;  ///< as raw_name() has it; a smd of before has stored blanks for control characters
  UnixTime lost_at = 0;
  Guid image{};  ///< SystemImageGUID of an adapter: those of one machine share it
  bool lost() const { return lost_at != 0; }                    ///< it is not there now
  bool is_switch() const { return type == NodeType::switch_; }  ///< by its NodeInfo
  friend bool operator==(const KnownNode&, const KnownNode&) = default;
};

/// A value; copies share what they have in common.
class Inventory {
 public:
  using Nodes = SharedMap<Guid, KnownNode>;
  using Links = SharedMap<LinkEnd, KnownLink>;

  /// How much of it is lost. `hosts`: adapters and routers.
  struct Counts {
    std::size_t switches = 0, hosts = 0;
    std::size_t links = 0;                                                   ///< of all kinds
    std::size_t switch_links = 0;                                            ///< between two switches
    bool none() const { return switches == 0 && hosts == 0 && links == 0; }  ///< nothing is lost
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  const Nodes& nodes() const { return nodes_; }
  /// Each link stands there by both its ends.
  const Links& links() const { return links_; }
  bool empty() const { return nodes_.empty(); }
  /// Null: never seen, or forgotten. Valid until this inventory is changed.
  const KnownNode* find(Guid node) const { return nodes_.find(node); }
  /// By either end; null: never seen, or forgotten. Valid until this inventory is changed.
  const KnownLink* find(const LinkEnd& end) const { return links_.find(end); }
  /// Calls visit(end, link) for each link of a node, lost ones too, by port.
  template <class Visit>
  void for_each_link(Guid node, Visit&& visit) const {
    for (auto at = links_.lower_bound({node, PortNum{0}}); at != links_.end() && at->first.node == node; ++at)
      visit(at->first, at->second);
  }
  /// By GUID; and by the smaller end.
  const std::map<Guid, UnixTime>& lost_nodes() const { return lost_nodes_; }
  const std::map<LinkEnd, UnixTime>& lost_links() const { return lost_links_; }
  /// Links are counted once. O(lost nodes and links).
  Counts lost() const;
  /// Adapters and routers, lost ones too.
  std::size_t hosts() const { return hosts_; }
  /// When it was last complete: now, as long as nothing is lost; 0: never.
  UnixTime complete_at() const { return complete_at_; }

  /// Adds or replaces the node; its links stay as they are.
  void put(Guid node, KnownNode known);
  /// By both ends; what either end led to before is forgotten.
  void put(const LinkEnd& end, const KnownLink& link);
  void forget(Guid node);  ///< with its links
  /// By either end, with the row of the other end.
  void forget(const LinkEnd& end);
  void set_complete(UnixTime when) { complete_at_ = when; }  ///< 0: it was never complete

  friend bool operator==(const Inventory& a, const Inventory& b) {
    return a.complete_at_ == b.complete_at_ && a.nodes_ == b.nodes_ && a.links_ == b.links_;
  }

 private:
  void put_end(const LinkEnd& end, const KnownLink& link);

  Nodes nodes_;
  Links links_;
  std::map<Guid, UnixTime> lost_nodes_;
  std::map<LinkEnd, UnixTime> lost_links_;
  std::size_t hosts_ = 0;
  UnixTime complete_at_ = 0;
};
using InventoryPtr = std::shared_ptr<const Inventory>;

/// Lost nodes that no known link connects with a node that is not lost, because other cables are in the ports
/// that led to them: they were replaced, and are forgotten.
void forget_detached(Inventory& inventory);

/// Without what is lost: of `node` (the node with what was behind it, or the links of one that is there), or
/// of all where it is 0. Returns what was forgotten.
Inventory::Counts accept_lost(Inventory& inventory, Guid node);

}  // namespace smd::sm::inline inventory
