// SPDX-License-Identifier: Apache-2.0
// The M_Keys of one part of a fabric that is cut are changed meanwhile. Ports that have them answer nothing
// else, and their lease never ends: the other SM cannot read them by what it knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kFirstKey = 0x1122334455667788, kSecondKey = 0x99aabbccddeeff01;

/// On leaf000, which is cut off with its two hosts; and on leaf001. The first ranks higher.
constexpr auto* kHigher = "h00000";
constexpr auto* kLower = "h00003";

class SplitMKeys : public testing::TestWithParam<const char*> {
 protected:
  static config::SubnetConfig with_key(const std::string& host, std::uint64_t key) {
    config::SubnetConfig config;
    config.sm.priority = host == kHigher ? 5 : 3;
    config.keys.m_key_file = "m_key";
    config.keys.m_key = key;
    config.keys.m_key_level = 2;
    config.keys.m_key_lease = seconds(0);
    return config;
  }
  void start(const char* host, const char* other) {
    site_.start(host, with_key(host, kFirstKey), {other});
    site_.world.run_for(seconds(3));
  }
  void set_links(bool up) {
    for (const auto port : {PortNum{3}, PortNum{4}}) {
      const sim::Place place{"leaf000", port};
      if (up) site_.world.fabric().faults().link_up(place);
      if (!up) site_.world.fabric().faults().link_down(place);
    }
  }
  bool is_whole(const std::string& host) {
    const auto& now = site_[host].last();
    return site_[host].is_master() && now.subnet->unresponsive.empty() && now.summary.cas == 8;
  }

  test::ReplicaSite site_{"ft2:4"};
};

TEST_P(SplitMKeys, AreKnownToTheMasterOfTheWholeFabric) {
  start(kHigher, kLower);
  start(kLower, kHigher);
  site_.world.run_for(seconds(10));
  set_links(false);
  site_.world.run_for(seconds(10));
  ASSERT_TRUE(site_[kHigher].is_master());
  ASSERT_TRUE(site_[kLower].is_master());

  const std::string changed = GetParam();
  site_[changed].manager().requests().reload(with_key(changed, kSecondKey));
  site_.world.run_for(seconds(20));
  set_links(true);
  site_.world.run_for(seconds(45));

  const bool higher = is_whole(kHigher), lower = is_whole(kLower);
  EXPECT_NE(higher, lower) << "one master that reads all ports";
}

INSTANTIATE_TEST_SUITE_P(ChangedAt, SplitMKeys, testing::Values(kHigher, kLower),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace smd
