// SPDX-License-Identifier: Apache-2.0
#pragma once
// What subnet administration asks of the subnet manager.

#include <functional>
#include <memory>
#include <vector>

#include "smd/base/guid_block.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// Makes the list of groups with their members; called on a thread of `compute` whenever that is needed.
using Groups = std::function<std::shared_ptr<const GroupList>()>;

/// Requests that the manager serves soon, between two sweeps. On the io_context's thread; return at once.
class FabricRequests {
 public:
  FabricRequests(const FabricRequests&) = delete;
  FabricRequests& operator=(const FabricRequests&) = delete;

  /// Groups have changed, and this tells of them from now on; before the first call MFTs are left as they
  /// are.
  virtual void set_groups(Groups groups) = 0;
  /// Clients of these ports are asked by PortInfo.ClientReregister to register anew with subnet
  /// administration, each once. A port that cannot be asked is forgotten: ask again after the next sweep.
  virtual void reregister(const std::vector<Guid>& ports) = 0;
  /// These blocks of GUIDInfo are written to their ports; what is not answered, again with the next light
  /// sweep.
  virtual void set_guids(const std::vector<GuidBlock>& blocks) = 0;
  /// The SL to VL and VL arbitration tables of this node are read before those of others, and published as
  /// soon as they are there; of 8 nodes at a time.
  virtual void read_vl_tables_first(Guid node) = 0;

 protected:
  FabricRequests() = default;
  ~FabricRequests() = default;
};

}  // namespace smd::sm::inline decisions
