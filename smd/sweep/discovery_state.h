// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes and links while a sweep is finding them.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mad/suspend.h"
#include "mad/transport.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// A node that has not answered one request for an attribute does not get a hundred of them.
struct Probation {
  static constexpr unsigned kAtOnce = 4;
  unsigned open = 0, answered = 0, silent = 0;
  mad::WaitList waiting{};
  bool proven() const { return answered != 0; }                   ///< one was answered: all may be asked
  bool given_up() const { return answered == 0 && silent != 0; }  ///< none was answered: no more are asked
};

/// A node under construction and the directed route by which it is asked.
struct FoundNode {
  Node node;
  mad::DirectedPath path;
  bool silent = false;                             ///< was known, and answers no more
  bool read = false;                               ///< in this sweep; else it is as it was known before
  std::map<std::uint16_t, Probation> probation{};  ///< by attribute
  /// Ports whose PortInfo is of an earlier sweep although their link may have gone since: no probe leaves by
  /// them before they are read.
  std::set<PortNum> outdated{};
  std::vector<PortNum> arrivals{};  ///< of a CA or router: ports that a probe of this sweep came in by
};

/// A node or one more port of a CA that is to be read now.
struct ToRead {
  FoundNode* found = nullptr;
  mad::DirectedPath path;
  PortNum arrival;
  bool whole = true;  ///< else only the port `arrival`
};

/// What the probes have seen. Owns the nodes; pointers stay valid.
class DiscoveryState {
 public:
  /// `excluded`: ports behind which a newcomer shows a GUID that another place had before.
  /// `known` (may be null, outlives this): a node in it that is met is taken as it was until it is read.
  explicit DiscoveryState(std::set<std::pair<Guid, PortNum>> excluded, const Subnet* known = nullptr)
      : excluded_(std::move(excluded)), known_(known) {}

  /// NodeInfo came back along `path` by port `from` (nothing: ourselves). Says what is to be read now;
  /// nothing where the node is known or the answer makes no sense (then `reason` says why).
  std::optional<ToRead> arrived(const wire::NodeInfo& info, std::optional<PeerPort> from,
                                const mad::DirectedPath& path, std::string& reason);

  /// Nothing behind that port is looked at.
  bool excluded(const PeerPort& from) const { return excluded_.contains({from.node, from.port}); }
  /// In order of arrival.
  const std::vector<std::unique_ptr<FoundNode>>& nodes() const { return nodes_; }
  /// Null where it was not met in this sweep.
  FoundNode* find(Guid guid) const;
  /// The node, taken from what was known where it was not met yet; null where it is not known.
  FoundNode* touch(Guid guid);
  /// Removes the link at both ends; returns the other end.
  std::optional<PeerPort> unlink(FoundNode& found, PortNum port);
  const std::map<Guid, std::vector<PeerPort>>& conflicts() const { return conflicts_; }

 private:
  FoundNode& add(Node node, const mad::DirectedPath& path);
  void link(FoundNode& a, PortNum a_port, FoundNode& b, PortNum b_port);
  void conflict(Guid guid, const PeerPort& one, const PeerPort& other);

  std::set<std::pair<Guid, PortNum>> excluded_;
  const Subnet* known_ = nullptr;
  std::vector<std::unique_ptr<FoundNode>> nodes_;
  std::unordered_map<Guid, FoundNode*> by_guid_;  // looked up only, never walked
  std::map<Guid, std::vector<PeerPort>> conflicts_;
};

/// Ports of different nodes with one port GUID: the one that had it in `before` (may be null) keeps it;
/// without that history, and but for our own port, none of them can have a LID of its own.
void part_port_guids(Subnet& subnet, const Subnet* before);

/// The Subnet that the findings make: sorted, without nodes in conflict, port GUIDs each once. `self` is our
/// own port. Of several ports with one GUID the one that had it in `before` (may be null) stays.
Subnet make_subnet(DiscoveryState&& findings, PeerPort self, const Subnet* before);

}  // namespace smd::sm::inline sweeping
