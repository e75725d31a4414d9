// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes that do not obey because they have an M_Key of another SM.

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "smd/base/m_keys.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// A port whose M_Key is set, hidden (M_KeyProtectBits above 0) and in the way.
struct UnknownMKey {
  PeerPort at;
  std::uint8_t protect = 0;     ///< M_KeyProtectBits, 1 to 3
  std::uint16_t lease = 0;      ///< M_KeyLeasePeriod in seconds; 0: the key stays for ever
  std::string_view evidence{};  ///< "Sets are not answered", "trap 256"
  friend bool operator==(const UnknownMKey&, const UnknownMKey&) = default;
};

/// How far end ports have their M_Keys of smd.
struct MKeyCounts {
  std::size_t ports = 0, done = 0;  ///< those that are known; that have key, level and lease
};
/// Zeroes where M_Keys are not ours. Pure.
MKeyCounts count_m_keys(const Subnet& subnet, const MKeySettings& settings);

/// By node GUID. `trapped`: nodes that have told of a wrong M_Key by trap 256 while we are their SM. Pure.
std::vector<UnknownMKey> unknown_m_keys(const Subnet& subnet, const std::set<Guid>& trapped = {});

/// `node.m_key_unknown`: a line for each node, or one for all where there are many.
void log_m_keys(const log::Log& log, const Subnet& subnet, const std::vector<UnknownMKey>& keys);

/// What to think of a place behind which nothing has ever answered; empty where a node was known there.
std::string_view silence_hint(const Unresponsive& lost);

}  // namespace smd::sm::inline reports
