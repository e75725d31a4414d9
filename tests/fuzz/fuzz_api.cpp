// SPDX-License-Identifier: Apache-2.0
// The router with foreign requests: first line method and target, then the body.
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
  const auto ground = std::make_shared<smd::api::PolicyGround>();
  ground->config = std::make_shared<const smd::config::SubnetConfig>();
  ground->policies = std::make_shared<const smd::policy::Policies>();
  ground->merged = smd::policy::merged_policy(*ground->config, *ground->policies);
  backend.add({.name = "a", .port = "mlx5_0:1", .ground = ground});
  const auto answer =
      smd::api::answer({.method = std::string(line.substr(0, space)),
                        .target = std::string(space == std::string_view::npos ? "" : line.substr(space + 1)),
                        .body = std::string(body)},
                       backend);
  // Every answer is JSON, whatever was asked.
  if (!answer.bundle && !smd::api::parse_json(answer.body)) __builtin_trap();
  return 0;
}
