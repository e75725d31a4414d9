// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables of the ports of a fabric, from [qos]. Rules and defaults are OpenSM's
// (osm_qos.c), so that its options can be taken over as they are.

#include <optional>
#include <vector>

#include "config/config.h"
#include "config/partitions.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct Stored;

struct QosTablesInput {
  const Subnet& subnet;
  const config::SubnetConfig& config;
  const LinkPart& links;  ///< the VLs that links are to use
  PolicyPtr policy;       ///< names groups of ports; may be null
  /// Names partitions and their members; null: all ports are in the default one.
  const PartitionPart* partitions = nullptr;
  const config::QosPolicy* qos = nullptr;  ///< its classes; null: none
  const SlPart* sls = nullptr;             ///< null: clients do not ask for SLs
  std::vector<unsigned> loads{};           ///< of its layers, or of VL indexes that depend on ports
  const RoutePart* routes = nullptr;       ///< says which ports; null: no index depends on them
  const Stored* stored = nullptr;          ///< as port_views() takes it
};

/// Where there are SLs for several layers each has VLs of its own between switches, and all share those of
/// their class at end ports.
/// Nothing where [qos] is not enabled and there is one layer: tables stay as they are. Pure; O(ports).
std::optional<QosPart> decide_qos_tables(const QosTablesInput& in);

}  // namespace smd::sm::inline decisions
