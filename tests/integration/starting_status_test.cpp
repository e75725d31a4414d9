// SPDX-License-Identifier: Apache-2.0
// What `smd status` says of an SM that reads its fabric for the first time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

/// A switch answers late, and is waited for: the first sweep takes seconds.
TEST(StartingStatus, SaysThatTheFirstReadingGoesOn) {
  sim::World world(test::spec("ft2:4"));
  world.fabric().faults().slow("leaf000", std::chrono::seconds(2));
  config::SubnetConfig config;
  config.mad.timeout = std::chrono::seconds(3);
  test::Managed manager(world, config);
  mad::TaskGroup running(world.io().get_executor());
  running.spawn(manager->run());
  world.run_for(std::chrono::milliseconds(1500));
  ASSERT_EQ(manager->published(), nullptr);

  test::FakeBackend backend;
  backend.add({.name = "a", .port = "p", .activity = manager->activity()});
  const auto answer = api::answer({.method = "GET", .target = "/v1/status", .body = {}}, backend);
  std::ostringstream text;
  cli::print_status(text, *api::parse_json(answer.body));
  EXPECT_THAT(text.str(),
              testing::ContainsRegex("why +reads its fabric for the first time: [1-9][0-9]* SMPs"));
  world.run(running.stop());
}

}  // namespace
}  // namespace smd
