// SPDX-License-Identifier: Apache-2.0
#pragma once
// Alias GUIDs: blocks of GUIDInfo that clients have changed through subnet administration.

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// By port GUID and block: blocks that are to be written, and were not acknowledged yet.
using GuidRequests = std::map<std::pair<Guid, std::uint8_t>, std::array<Guid, 8>>;

/// The blocks of those ports that are in the Subnet, in the order of the requests. Pure.
TablePart<wire::GuidInfo> decide_guids(const Subnet& subnet, const GuidRequests& requests);

}  // namespace smd::sm::inline decisions
