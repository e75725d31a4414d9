// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another configuration would change of a fabric, before it is in force.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "routing/parallel.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/plan/key_changes.h"
#include "smd/report/disruption.h"
#include "smd/report/json.h"
#include "smd/report/partitions.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

struct PreviewInput {
  const Subnet& subnet;    ///< as it was read last
  const Decided& decided;  ///< what is in force, with routes
  const Stored& stored;
  const config::SubnetConfig& config;  ///< the other one
  PolicyPtr partitions;                ///< of it and of the API; may be null
  const routing::Parallel& parallel;
};

struct Preview {
  std::string refused{};  ///< why there would be no routes; all else is empty then
  Decided decided{};      ///< what would be in force
  Disruption disruption{};
  std::string engine_now{}, engine{};
  std::string engine_waits{};                               ///< RoutePart::engine_waits
  std::vector<KeyChange> keys{};                            ///< of end ports
  std::vector<LostForeignKey> lost_foreign{};               ///< of them those that another SM had given
  std::vector<std::pair<std::string, std::size_t>> sets{};  ///< by what they write, in the order of writes
  bool vls_unproven = false;                                ///< Plan::vls_unproven
  /// Something in use changes, or an end port loses a P_Key.
  bool disturbs() const;
};

/// Decides and plans; nothing is kept. Multicast tables stay as they are. Pure; as long as a sweep's
/// computing takes.
Preview preview(const PreviewInput& in);

/// The limit of [qos] that waits (VlLimit::waits), and the layers that need more; null: none does.
Json max_vls_waits_json(const Decided& decided);

/// With the names of ports.
Json preview_json(const Preview& preview, const Subnet& subnet);

}  // namespace smd::sm::inline reports
