// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tables would converge to if the operator asked for it now.

#include <cstdint>
#include <string>

#include "config/config.h"
#include "routing/parallel.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/report/json.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

struct ConvergePreviewInput {
  const Subnet& subnet;    ///< as it was read last
  const Decided& decided;  ///< what is in force, with routes
  const Stored& stored;
  const config::SubnetConfig& config;  ///< that in force
  PolicyPtr partitions;                ///< of it and of the API; may be null
  bool any_engine = false;             ///< another engine may make the tables
  const routing::Parallel& parallel;
};

struct ConvergePreview {
  std::string refused{};               ///< why the tables stay; figures are those of the others all the same
  std::string engine_now{}, engine{};  ///< `engine` is empty where there would be no tables
  double load_now = 0, load = 0;       ///< RouteLoad::max_link_time
  std::uint64_t entries_changed = 0;   ///< of forwarding tables
  std::uint64_t pairs_with_other_sl = 0;  ///< pairs of switches whose paths get another layer
  /// No order of writes keeps all working routes: they are taken only for much less load, or for the
  /// proof of multicast trees.
  bool interrupts = false;
};

/// Decides and compares; nothing is kept. What is said is of the tables in the end, to which steps lead.
/// Pure; as long as a sweep's computing takes.
ConvergePreview converge_preview(const ConvergePreviewInput& in);

Json converge_preview_json(const ConvergePreview& preview);

}  // namespace smd::sm::inline reports
