// SPDX-License-Identifier: Apache-2.0
#pragma once
// Upper-layer protocols by name, as service IDs, P_Keys or ports; and the lines of OpenSM's qos-ulps.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/import/conf_notes.h"
#include "config/qos_policy.h"

namespace smd::config {

/// A protocol whose service ID is a base and a port number.
struct QosPortUlp {
  std::string_view name;
  std::uint64_t base = 0;           ///< of the service IDs
  std::optional<QosRange> usual{};  ///< ports that it has where none are given; nothing: they are mandatory
  bool in_opensm = false;           ///< a word of qos-policy.conf, too
};

/// Null where the name is none of sdp, rds, iser of OpenSM and lustre, nvmeof, nfsrdma, gpfs, beegfs of
/// smd.toml; case does not count.
const QosPortUlp* find_port_ulp(std::string_view name);

inline constexpr std::uint64_t kMostPort = 0xFFFF;
/// The P_Key of `ipoib` without one.
inline constexpr std::uint64_t kIpoibPKey = 0x7fff;

/// Port numbers, at most kMostPort, as the service IDs of this protocol.
QosRanges service_ids_of(const QosPortUlp& ulp, const QosRanges& ports);

/// A line of the section qos-ulps: "default : 0", "sdp, port-num 1-5 : 2", "any, pkey 0x1 : 3". Adds to
/// `policy`; what is wrong is noted. The line is notes.line().
void read_qos_ulp(std::string_view text, ConfNotes& notes, QosPolicy& policy);

}  // namespace smd::config
