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
  auto ground = std::make_shared<api::PolicyState>();
  ground->config =
      std::make_shared<const config::SubnetConfig>(with_partitions({partition("filed", 0x20, {"h00001"})}));
  ground->policies = std::make_shared<const policy::Policies>();
  ground->merged = policy::merged_policy(*ground->config, *ground->policies);
  sim::World world(spec("ft2:4"));
  Managed manager(world, *ground->config, once());
  world.run(manager->run());
  auto snapshot = std::make_shared<sm::Snapshot>(manager.last());
  snapshot->state = wire::SmState::master;
  backend.add({.name = "p", .port = "mlx5_3:1", .snapshot = snapshot, .ground = ground});
  return snapshot;
}

}  // namespace smd::test
