// SPDX-License-Identifier: Apache-2.0
// The router with foreign requests: first line method, target and perhaps the text of the other headers, then
// the body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = text.substr(0, text.find('\n'));
  const auto space = line.find(' ');
  const auto body = line.size() < text.size() ? text.substr(line.size() + 1) : std::string_view{};
  smd::test::FakeBackend backend;
  const auto policy_state = std::make_shared<smd::api::PolicyState>();
  policy_state->config = std::make_shared<const smd::config::SubnetConfig>();
  policy_state->policies = std::make_shared<const smd::policy::Policies>();
  policy_state->merged = smd::policy::merged_policy(*policy_state->config, *policy_state->policies);
  backend.add({.name = "a", .port = "mlx5_0:1", .policy_state = policy_state});
  const auto rest = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
  const auto second = std::min(rest.size(), rest.find(' '));
  const bool follows = second != rest.size();
  backend.ring.publish("a", smd::events::log_event_of({.event = "link.down", .subnet = "a"}));
  const std::string header(follows ? rest.substr(second + 1) : "");
  const auto answer = smd::api::answer({.method = std::string(line.substr(0, space)),
                                        .target = std::string(rest.substr(0, second)),
                                        .body = std::string(body),
                                        .accept = follows ? "text/event-stream" : "",
                                        .last_event_id = header,
                                        .if_match = header,
                                        .if_none_match = header,
                                        .idempotency_key = header,
                                        .accept_encoding = header},
                                       backend);
  if (answer.stream && !answer.stream->next(1, true)) __builtin_trap();
  // Every answer is JSON, whatever was asked, or says that it is another thing.
  if (!answer.bundle && answer.type.empty() && !smd::api::parse_json(answer.body)) __builtin_trap();
  return 0;
}
