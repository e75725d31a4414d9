// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two SMs of a fabric, of which the lower one copies the state of the other.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd::test {

class ReplicaPair : public testing::Test {
 protected:
  static constexpr auto* kA = "h00000";
  static constexpr auto* kB = "h00003";

  static config::SubnetConfig ranked(std::uint8_t priority) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    return config;
  }
  void start_pair(replica::Mode mode = replica::Mode::async) {
    site_.start(kA, ranked(5), {kB}, mode);
    site_.start(kB, ranked(3), {kA}, mode);
    site_.world.run_for(std::chrono::seconds(3));
    ASSERT_TRUE(site_[kA].is_master());
    ASSERT_FALSE(site_[kB].is_master());
  }
  std::string story() {
    std::string text;
    for (const auto* host : {kA, kB}) {
      text += std::string("--- ") + host + "\n";
      if (!site_.runs(host)) continue;
      for (const auto& line : site_[host].lines.all) text += line + "\n";
      for (const auto& line : site_[host].managed().lines().all) text += line + "\n";
    }
    return text;
  }
  void expect_equal() {
    const auto a = on_disk(site_.disks[kA]), b = on_disk(site_.disks[kB]);
    EXPECT_EQ(a, b) << testing::PrintToString(replica::differing(a, b)) << story();
  }

  ReplicaSite site_{"ft2:4"};
};

}  // namespace smd::test
