// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports of one fabric as policies name them: groups, partitions and their members, SELF.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/port_set.h"
#include "smd/decide/port_views.h"

namespace smd::sm::inline decisions {

struct PartitionPart;

class PolicyPorts {
 public:
  /// `partitions` null: all end ports are members of the default partition. `stored`: as port_views() takes
  /// it. `subnet` and `groups` outlive it.
  PolicyPorts(const Subnet& subnet, const Stored* stored, const config::PortGroups& groups,
              const PartitionPart* partitions, ViewedPorts which = ViewedPorts::end_ports);

  /// The ports of the subnet; place(): node and port of the view with this index; index(): the views by name,
  /// GUID and the like.
  const std::vector<config::PortView>& views() const { return ports_.views; }
  const PeerPort& place(std::size_t view) const { return ports_.places[view]; }
  const config::PortIndex& index() const { return *index_; }
  Guid self() const { return self_; }
  /// Nothing: there is none of this name.
  std::optional<PKey> partition_named(const std::string& name) const;
  /// Any with a P_Key of these, both ends included, without the bit of full members.
  bool has_partition(std::uint16_t first, std::uint16_t last) const;
  /// Ports that are full members of this partition; the bit of full members in `pkey` does not count.
  std::size_t full_members(PKey pkey) const;
  /// The ports that `set` names, by the groups and partitions of the policy. Ports are indices into views().
  config::ResolvedPorts resolve(const config::PortSet& set) const;

 private:
  void add_members(const PartitionPart* partitions);

  PortViews ports_;
  const config::PortGroups& groups_;
  std::map<std::string, PKey, std::less<>> names_{};
  std::map<std::uint16_t, std::size_t> full_members_{};
  std::vector<std::vector<PKey>> keys_{};  ///< of the views
  std::optional<config::PortIndex> index_{};
  Guid self_;
};

}  // namespace smd::sm::inline decisions
