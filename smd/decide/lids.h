// SPDX-License-Identifier: Apache-2.0
#pragma once
// Base LIDs of all end ports: kept when valid and unique, else new.

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct LidOptions {
  /// The ports of the last decision; others that are in service were another master's. Of two ports with one
  /// LID that of the part with more adapters in service keeps it, ours where they have equally many. Null:
  /// all is one part.
  const LidPart* ours = nullptr;
  std::uint8_t lmc = 0;  ///< 0 to 7, for CA and router ports; switches have one LID each
  Lid first{1};          ///< range for new LIDs; valid ones outside it stay
  Lid last = kLastUnicastLid;
  Lid cap = kLastUnicastLid;  ///< no port keeps or gets one above; also bounded by the switches' tables
  Lid switch_cap = kLastUnicastLid;  ///< the same for switches; set by decide_lids
  bool adopting = false;             ///< LIDs of ports in service come before stored ones
  bool reassign = false;             ///< while adopting: forget what ports hold and what is stored
};

/// The LMC that a fabric goes on with where the configuration gives none: the highest of its CA and router
/// ports in service (where none is, of the stored ones) with which all ports have LIDs. Pure.
std::uint8_t kept_lmc(const Subnet& subnet, const LidOptions& options, const Stored& stored);

/// Pure: depends on GUIDs, links, held and stored LIDs only. New LIDs of the hosts of one leaf lie in one
/// block aligned to the next power of two of their number, as long as the space allows it.
LidPart decide_lids(const Subnet& subnet, const LidOptions& options, const Stored& stored);

}  // namespace smd::sm::inline decisions
