// SPDX-License-Identifier: Apache-2.0
// Partitions that the API makes while each tenant has a class of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/changeable_subnet.h"

namespace smd {
namespace {

/// A subnet "p" with `[qos] preset = "tenants-equal"` and the partition 0x20 of a file.
class ApiTenants : public testing::Test {
 protected:
  ApiTenants() {
    test::add_changeable_subnet(backend_);
    auto view = *backend_.views.back();
    auto policy_state = *view.policy_state;
    auto config = *policy_state.config;
    config.qos.enabled = true;
    config.qos.preset = config::QosPreset::tenants_equal;
    policy_state.config = std::make_shared<const config::SubnetConfig>(config);
    policy_state.merged = policy::merged_policy(config, *policy_state.policies);
    view.policy_state = std::make_shared<const api::PolicyState>(policy_state);
    backend_.views.back() = std::make_shared<const api::SubnetView>(view);
  }
  void call(const std::string& method, const std::string& target, unsigned status, std::string body = {}) {
    const auto answer = api::answer({.method = method,
                                     .target = target,
                                     .body = std::move(body),
                                     .peer = {.local = true, .user = "root"},
                                     .time = 1000},
                                    backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
  }
  const api::PolicyState& policy_state() { return *backend_.views.back()->policy_state; }
  /// Of no partition: SL 15.
  Sl sl(std::uint16_t pkey) {
    const auto* found = policy_state().merged->find(PKey{pkey});
    return found != nullptr ? found->sl : Sl{15};
  }
  test::FakeBackend backend_;
};

TEST_F(ApiTenants, HaveSlsThatStay) {
  EXPECT_EQ(sl(0x20), Sl{1});
  call("PUT", "/v1/subnets/p/partitions/m", 201, R"({"pkey": "0x8030"})");
  EXPECT_EQ(sl(0x30), Sl{2});
  call("PUT", "/v1/subnets/p/partitions/b", 201, R"({"pkey": "0x8031"})");
  EXPECT_EQ(sl(0x31), Sl{3}) << "m comes behind it, and keeps its own";
  call("POST", "/ufmRest/resources/pkeys/add", 200, R"({"pkey": "0x32"})");
  EXPECT_EQ(sl(0x32), Sl{4});
  EXPECT_EQ(policy_state().policies->class_sls.size(), 4U) << "kept with the partition";

  call("DELETE", "/v1/subnets/p/partitions/b", 200);
  EXPECT_EQ(sl(0x20), Sl{1});
  EXPECT_EQ(sl(0x30), Sl{2});
  EXPECT_EQ(sl(0x32), Sl{4});
  EXPECT_EQ(policy_state().policies->class_sls.at("b"), Sl{3}) << "if it comes back";
}

/// Also where the name of the new one comes first.
TEST_F(ApiTenants, MoreThanThereAreSlsForTakeNoneAway) {
  const auto put = [&](const std::string& name, unsigned pkey) {
    call("PUT", "/v1/subnets/p/partitions/" + name, 201,
         fmt::format(R"({{"pkey": "0x{:x}"}})", 0x8000 + pkey));
  };
  for (unsigned i = 0; i < 14; ++i) put(fmt::format("m{:02}", i), 0x30 + i);
  std::map<unsigned, Sl> before;
  for (unsigned pkey = 0x30; pkey < 0x3e; ++pkey) before[pkey] = sl(static_cast<std::uint16_t>(pkey));
  put("a", 0x50);
  put("b", 0x51);
  for (const auto& [pkey, had] : before) EXPECT_EQ(sl(static_cast<std::uint16_t>(pkey)), had) << pkey;
  EXPECT_EQ(sl(0x51), Sl{0}) << "of the default class";

  call("DELETE", "/v1/subnets/p/partitions/m03", 200);
  for (const auto& [pkey, had] : before) {
    if (pkey != 0x33) EXPECT_EQ(sl(static_cast<std::uint16_t>(pkey)), had) << pkey;
  }
}

}  // namespace
}  // namespace smd
