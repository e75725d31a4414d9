// SPDX-License-Identifier: Apache-2.0
// What the API says of service levels: those that partitions ask for, and QoS that is not decided here.
#include <boost/json.hpp>
#include <functional>
#include <sstream>

#include "smd/report/qos_explanation.h"
#include "tests/support/api_asker.h"
#include "tests/support/changeable_subnet.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// A subnet whose partitions can be changed; it is master, and nothing is decided by the changes.
class ApiSls : public test::ApiAsker {
 protected:
  ApiSls() { snapshot_ = test::add_changeable_subnet(backend_); }
  json::value change(const std::string& method, const std::string& what, unsigned status = 200,
                     std::string body = {}) {
    return ask(method, "/v1/subnets/p/partitions/" + what, "PartitionChange", status, std::move(body));
  }
  /// As a reload does. `edit` changes the configuration.
  void reload(const std::function<void(config::SubnetConfig&)>& edit) {
    auto view = *backend_.views.back();
    auto policy_state = std::make_shared<api::PolicyState>(*view.policy_state);
    auto config = *policy_state->config;
    edit(config);
    policy_state->config = std::make_shared<const config::SubnetConfig>(std::move(config));
    policy_state->merged = policy::merged_policy(*policy_state->config, *policy_state->policies);
    view.policy_state = policy_state;
    backend_.views.back() = std::make_shared<api::SubnetView>(std::move(view));
  }
  std::shared_ptr<sm::Snapshot> snapshot_;
};

TEST_F(ApiSls, AChangeOfOneWhoseSlItsClassHasReplacedSaysSo) {
  const auto first = change("PUT", "blue", 201, R"({"sl": 5})");
  EXPECT_EQ(first.as_object().if_contains("warning"), nullptr);
  reload([](config::SubnetConfig& config) {
    config.qos.enabled = true;
    config.qos.traffic_classes = {{.name = "storage", .ulps = {"lustre"}}};
  });

  const auto same = change("PUT", "blue", 200, R"({"sl": 5})");
  EXPECT_EQ(same.at("changed"), false);
  EXPECT_THAT(std::string(same.at("warning").as_string()), HasSubstr("asks for SL 5 and has SL 0"));
  const auto more = change("PUT", "blue", 200, R"({"sl": 5, "members": ["h00001"]})");
  EXPECT_EQ(more.at("changed"), true);
  EXPECT_THAT(std::string(more.at("warning").as_string()), HasSubstr("asks for SL 5 and has SL 0"));
  EXPECT_EQ(change("PUT", "blue", 200, "{}").as_object().if_contains("warning"), nullptr);
}

/// A standby without a copy of its master's state.
TEST_F(ApiSls, QosThatIsNotDecidedHereIsNotOff) {
  EXPECT_EQ(ask("GET", "/v1/subnets/p/qos", "Qos").at("enabled"), false);
  reload([](config::SubnetConfig& config) { config.qos.enabled = true; });
  snapshot_->state = wire::SmState::standby;

  const auto found = ask("GET", "/v1/subnets/p/qos", "Qos");

  EXPECT_EQ(found.at("enabled"), true);
  EXPECT_TRUE(found.at("sls").as_array().empty());
  std::ostringstream out;
  sm::print_qos(out, *sm::qos_explanation_of(found));
  EXPECT_EQ(out.str(), "warning: QoS is on, and this SM is a standby that decides nothing: ask the master\n");
}

}  // namespace
}  // namespace smd
