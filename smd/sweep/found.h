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

#include "mad/transport.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// A node under construction and the directed route by which it is asked.
struct FoundNode {
  Node node;
  mad::DirectedPath path;
};

/// A node or one more port of a CA that is to be read now.
struct ToRead {
  FoundNode* found = nullptr;
  mad::DirectedPath path;
  PortNum arrival;
  bool whole = true;  ///< else only the port `arrival`
};

/// What the probes have seen. Owns the nodes; pointers stay valid.
class Findings {
 public:
  /// `excluded`: ports behind which a newcomer shows a GUID that another place had before.
  explicit Findings(std::set<std::pair<Guid, PortNum>> excluded) : excluded_(std::move(excluded)) {}

  /// NodeInfo came back along `path` by port `from` (nothing: ourselves). Says what is to be read now;
  /// nothing where the node is known or the answer makes no sense (then `trouble` says why).
  std::optional<ToRead> arrived(const wire::NodeInfo& info, std::optional<PeerPort> from,
                                const mad::DirectedPath& path, std::string& trouble);

  bool excluded(const PeerPort& from) const { return excluded_.contains({from.node, from.port}); }
  /// In order of arrival.
  const std::vector<std::unique_ptr<FoundNode>>& nodes() const { return nodes_; }
  FoundNode* find(Guid guid) const;
  const std::map<Guid, std::vector<PeerPort>>& conflicts() const { return conflicts_; }

 private:
  void link(FoundNode& a, PortNum a_port, FoundNode& b, PortNum b_port);
  void conflict(Guid guid, const PeerPort& one, const PeerPort& other);

  std::set<std::pair<Guid, PortNum>> excluded_;
  std::vector<std::unique_ptr<FoundNode>> nodes_;
  std::unordered_map<Guid, FoundNode*> by_guid_;  // looked up only, never walked
  std::map<Guid, std::vector<PeerPort>> conflicts_;
};

/// The Subnet that the findings make: sorted, without nodes in conflict, port GUIDs each once. `self` is our
/// own port. Of several ports with one GUID the one that had it in `before` (may be null) stays.
Subnet make_subnet(Findings&& findings, PeerPort self, const Subnet* before);

}  // namespace smd::sm
