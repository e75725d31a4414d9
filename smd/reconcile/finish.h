// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a sweep has read to the Subnet that all else goes by.

#include <cstddef>
#include <map>
#include <string>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/apply/table_baseline.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reconciling {

struct FinishInput {
  const Subnet* before = nullptr;  ///< the last finished one; null: none
  const Stored& stored;
  const std::map<Guid, std::string>& names;  ///< of the node name map, by node GUID
  /// Entries of multicast forwarding tables that are in use, and read of every switch.
  std::size_t multicast_entries = 0;
  bool adopting = false;       ///< another SM may have written since `before`
  bool adaptive_anew = false;  ///< ARInfo is read of all switches of NVIDIA, else of new ones
};

/// The finished Subnet: notes on nodes, names, unmanaged switches, what sweeps read after all else (multicast
/// forwarding tables, ARInfo), and tables that smd does not decide compared with `baseline`. Gets only. `tx`,
/// `baseline` and what `in` refers to outlive the coroutine.
asio::awaitable<Subnet> finish(mad::Transactions* tx, TableBaseline* baseline, Subnet found, FinishInput in);

/// The Subnet with the names of the map for its nodes, their own descriptions (printable) for the others, and
/// these names for the nodes of other SMs. Pure.
Subnet with_names(Subnet subnet, const std::map<Guid, std::string>& names);

}  // namespace smd::sm::inline reconciling
