// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet of the API whose partitions can be changed.

#include <memory>

#include "smd/policy/policies.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd::test {

/// Adds the subnet "p" to the backend: it is master, the partition "filed" is of a file, and nothing is
/// decided by changes. Returns what was swept and decided.
inline std::shared_ptr<sm::Snapshot> add_changeable_subnet(FakeBackend& backend) {
  auto policy_state = std::make_shared<api::PolicyState>();
  policy_state->config =
      std::make_shared<const config::SubnetConfig>(with_partitions({partition("filed", 0x20, {"h00001"})}));
  policy_state->policies = std::make_shared<const policy::Policies>();
  policy_state->merged = policy::merged_policy(*policy_state->config, *policy_state->policies);
  sim::World world(spec("ft2:4"));
  Managed manager(world, *policy_state->config, once());
  world.run(manager->run());
  auto snapshot = std::make_shared<sm::Snapshot>(manager.last());
  snapshot->state = wire::SmState::master;
  backend.add({.name = "p", .port = "mlx5_3:1", .snapshot = snapshot, .policy_state = policy_state});
  return snapshot;
}

}  // namespace smd::test
