// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a decision takes from P_Key tables, and what it adds.

#include <vector>

#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline planning {

struct KeyChange {
  PeerPort at;
  bool of_end_port = false;        ///< false: of a switch port that enforces
  std::vector<PKey> lost, gained;  ///< in the order of the table; another membership is lost and gained
};

/// Ports whose keys change, in the order of `part`; places of keys do not count. Pure.
std::vector<KeyChange> key_changes(const Subnet& subnet, const PKeyPart& part);

}  // namespace smd::sm::inline planning
