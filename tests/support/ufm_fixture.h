// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tests of UFM's calls have in common.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/api/ufm.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd::test {

inline constexpr const char* kUfmSecret = "smd_00112233445566778899aabbccddeeff";

/// A subnet with a partition of a file, and a token for all that UFM's clients do.
class UfmFixture : public testing::Test {
 protected:
  UfmFixture() {
    auto policy_state = std::make_shared<api::PolicyState>();
    policy_state->config = std::make_shared<const config::SubnetConfig>(
        with_partitions({partition("filed", 0x20, {"h00001"}, {})}));
    auto policies = std::make_shared<policy::Policies>();
    policies->tokens["cloud"] = {.role = access::Role::admin, .hash = access::hash_of(kUfmSecret)};
    policy_state->policies = policies;
    policy_state->merged = policy::merged_policy(*policy_state->config, *policies);
    sim::World world(spec("ft2:4"));
    Managed manager(world, *policy_state->config, once());
    world.run(manager->run());
    auto snapshot = std::make_shared<sm::Snapshot>(manager.last());
    snapshot->state = wire::SmState::master;
    snapshot_ = snapshot;
    backend_.add({.name = "p", .port = "mlx5_3:1", .snapshot = snapshot, .policy_state = policy_state});
    document_ = api_document();
  }
  api::Answer call(std::string_view method, std::string target, std::string body = {},
                   std::string authorization = "Basic " + std::string(kUfmSecret)) {
    api::Request request{.method = std::string(method), .target = std::move(target), .body = std::move(body)};
    request.authorization = std::move(authorization);
    request.peer = {.local = false, .address = "10.0.0.1", .user = {}};
    request.time = 1000;
    return api::answer(request, backend_);
  }
  /// Exactly 200: ib-kubernetes takes no 201.
  boost::json::value good(std::string_view method, const std::string& target, const std::string& body = {}) {
    const auto answer = call(method, target, body);
    EXPECT_EQ(answer.status, 200U) << method << ' ' << target << ": " << answer.body;
    auto value = api::parse_json(whole(answer)).value_or(boost::json::value());
    expect_as_documented(method, target, value);
    return value;
  }
  /// What docs/openapi.json says of the call's answer holds.
  void expect_as_documented(std::string_view method, const std::string& target,
                            const boost::json::value& value) const {
    const auto path = api::ufm_path(target.substr(0, target.find('?')));
    for (const auto& [described, calls] : document_.at("paths").as_object()) {
      if (!is_path_of(described, path)) continue;
      std::string word(method);
      std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
      const auto& schema =
          calls.at(word).at("responses").at("200").at("content").at("application/json").at("schema");
      EXPECT_FALSE(schema.as_object().empty()) << method << ' ' << path << ": nothing is described";
      EXPECT_THAT(Schema(document_).wrong(value, schema), testing::IsEmpty()) << method << ' ' << target;
      return;
    }
    ADD_FAILURE() << path << " is not described";
  }
  /// "/pkeys/{pkey}" has the path "/pkeys/0x1"; one without braces comes before it in the document.
  static bool is_path_of(std::string_view described, std::string_view path) {
    while (!described.empty() && !path.empty()) {
      const auto a = described.substr(0, described.find('/', 1)), b = path.substr(0, path.find('/', 1));
      if (a != b && !a.starts_with("/{")) return false;
      described.remove_prefix(a.size());
      path.remove_prefix(b.size());
    }
    return described.empty() && path.empty();
  }
  /// The body with its rest. No piece is large.
  static std::string whole(const api::Answer& answer) {
    constexpr std::size_t kLargestPiece = std::size_t{160} * 1024;
    auto text = answer.body;
    EXPECT_LE(text.size(), kLargestPiece);
    while (answer.rest) {
      const auto piece = answer.rest->next(0, false);
      if (!piece) break;
      EXPECT_FALSE(piece->empty());
      EXPECT_LE(piece->size(), kLargestPiece);
      text += *piece;
    }
    return text;
  }
  /// What is refused with `status`, and why: the code.
  std::string refused(unsigned status, std::string_view method, const std::string& target,
                      const std::string& body = {}) {
    const auto answer = call(method, target, body);
    EXPECT_EQ(answer.status, status) << method << ' ' << target << ' ' << body << ": " << answer.body;
    const auto problem = api::parse_json(answer.body).value_or(boost::json::value());
    const auto* error = problem.is_object() ? problem.as_object().if_contains("error") : nullptr;
    if (error == nullptr) return "no error: " + answer.body;
    EXPECT_FALSE(error->at("message").as_string().empty());
    return std::string(error->at("code").as_string());
  }
  /// Port GUIDs that the key has, as UFM writes them.
  std::vector<std::string> guids_of(const std::string& key) {
    std::vector<std::string> guids;
    for (const auto& one : pkeys().at(key).at("guids").as_array())
      guids.emplace_back(one.at("guid").as_string());
    return guids;
  }
  const policy::Policies& policies() const { return *backend_.views[0]->policy_state->policies; }
  std::string members_of(const std::string& name) const {
    std::string text;
    for (const auto& rule : policies().api.at(name)->members)
      text += (text.empty() ? "" : " ") + to_string(rule.ports);
    return text;
  }
  /// The port GUID of a host.
  Guid port_of(std::string_view host) const {
    for (const auto& node : snapshot_->subnet->nodes) {
      if (node->description == host) return node->ports[1].guid;
    }
    return {};
  }
  boost::json::value pkeys() { return good("GET", "/ufmRest/resources/pkeys/?guids_data=true"); }

  FakeBackend backend_;
  boost::json::value document_;  ///< docs/openapi.json
  std::shared_ptr<const sm::Snapshot> snapshot_;
};

}  // namespace smd::test
