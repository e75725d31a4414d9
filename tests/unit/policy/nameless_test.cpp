// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/nameless.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "config/load.h"
#include "config/partitions.h"
#include "smd/policy/accepted.h"
#include "smd/policy/policies.h"

namespace smd::policy {
namespace {

/// They are known by their members: a line above them, or a member more or less, gives them no other number.
TEST(NamelessPartitions, KeepTheNumbersOfTheirMembers) {
  Policies policies;
  const auto numbers = [&](const std::string& conf) -> std::string {
    config::ConfigContext context;
    context.read = [&](const std::filesystem::path&) { return conf; };
    const auto loaded = config::load_text("[partitions]\nfile = \"p.conf\"\n", "smd.toml", {}, context);
    if (!loaded) return to_string(loaded.error().front());
    const auto merged = merged_policy(loaded->base, policies);
    policies.accepted = accepted_text(loaded->base, merged.get());
    EXPECT_EQ(merged_policy(loaded->base, policies)->digest, merged->digest) << conf;
    std::string found;  // in the order of the numbers
    for (const auto& partition : merged->partitions) {
      if (!partition.automatic) continue;
      found += fmt::format("{}:", partition.pkey.value());
      for (const auto& rule : partition.members) found += ' ' + to_string(rule.ports).substr(17);
      found += "; ";
    }
    return found;
  };
  EXPECT_EQ(numbers(":0x1,0x2;\n:0x3,0x4=full;\n"), "1: 1 2; 2: 3 4; ");
  EXPECT_EQ(numbers(":0x5,0x6;\n:0x1,0x2;\n:0x3,0x4=full;\n"), "1: 1 2; 2: 3 4; 3: 5 6; ")
      << "one more above";
  EXPECT_EQ(numbers(":0x3,0x4,0x9;\n:0x5;\n:0x1,0x2;\n"), "1: 1 2; 2: 3 4 9; 3: 5; ") << "other members";
  EXPECT_EQ(numbers(":0x5;\n:0x1,0x2;\n"), "1: 1 2; 3: 5; ") << "one that goes";
  EXPECT_EQ(numbers(":0x5;\n:0x1,0x7;\n"), "2: 1 7; 3: 5; ") << "another one at the place of one that goes";
  EXPECT_EQ(numbers("New:0x8;\n:0x1,0x7;\n:0x5;\n:0x5;\n"), "1: 8; 2: 1 7; 3: 5; 4: 5; ");
}

}  // namespace
}  // namespace smd::policy
