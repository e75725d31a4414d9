// SPDX-License-Identifier: Apache-2.0
// A peer of the replica asks for changes, as a standby does, and answers them, as a master does: frames of
// the replica protocol.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "smd/api/hand_on.h"
#include "smd/api/json_in.h"
#include "smd/replica/frames.h"
#include "tests/support/changeable_subnet.h"

namespace {

using namespace smd;
using access::Role;

void expect(bool good) {
  if (!good) __builtin_trap();
}

/// The master's subnet "p" with a token of each role, named as the role is.
api::SubnetView subnet() {
  test::FakeBackend backend;
  test::add_changeable_subnet(backend);
  auto view = *backend.views.back();
  auto policies = std::make_shared<policy::Policies>(*view.policy_state->policies);
  for (const auto role : {Role::viewer, Role::operator_, Role::admin}) {
    const std::string name(to_string(role));
    policies->tokens[name] = {.role = role, .hash = access::hash_of("smd_" + name)};
  }
  view.policy_state = std::make_shared<const api::PolicyState>(
      api::PolicyState{view.policy_state->config, std::move(policies), view.policy_state->merged});
  return view;
}

bool may_change(const std::string& role) {
  const auto parsed = access::parse_role(role);
  return parsed && (*parsed == Role::operator_ || *parsed == Role::admin);
}

/// Frames that are read are those that were written.
template <class T>
void expect_same_when_read(const T& frame) {
  replica::FrameReader reader;
  reader.add(replica::encode(frame));
  const auto read = reader.next();
  expect(read && *read && std::get_if<T>(&**read) != nullptr && std::get<T>(**read) == frame);
}

void at_master(const replica::Call& call, test::FakeBackend& master) {
  expect_same_when_read(call);
  const auto before = master.views.back()->policy_state;
  const auto request = api::request_of(call, "p", Guid{0xb});
  const auto answer = api::call_answer_of(request ? api::answer(*request, master) : request.error());
  expect_same_when_read(answer);
  expect(answer.status == 0 || (answer.status >= 200 && answer.status < 600));
  const auto& after = master.views.back()->policy_state;
  expect(after->policies->tokens == before->policies->tokens);
  expect(after == before || (may_change(call.role) && answer.status < 300));
  expect(master.reloads == 0 && master.priorities.empty());
}

/// A client's change is answered by what the master says, whatever it is.
void at_standby(const replica::CallAnswer& answer, api::SubnetView view) {
  expect_same_when_read(answer);
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  view.snapshot = std::move(snapshot);
  view.replica = std::make_shared<replica::ReplicaView>();
  test::FakeBackend standby;
  standby.add(std::move(view));
  standby.master = [&](const replica::Call&) { return answer; };
  const auto asked = api::answer({.method = "PUT",
                                  .target = "/v1/subnets/p/partitions/blue",
                                  .body = "{}",
                                  .peer = {.local = true, .user = "root"}},
                                 standby);
  expect(asked.later != nullptr);
  std::optional<api::Answer> made;
  (*asked.later)([&](api::Answer later) { made = std::move(later); });
  expect(made && made->status == (answer.status == 0 ? 503U : unsigned{answer.status}));
  expect(answer.status != 0 || api::parse_json(made->body).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto view = subnet();  // it takes a sweep
  test::FakeBackend master;
  master.add(view);
  replica::FrameReader reader;
  reader.add(std::span(data, size));
  for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
    if (const auto* call = std::get_if<replica::Call>(&**frame)) at_master(*call, master);
    if (const auto* answer = std::get_if<replica::CallAnswer>(&**frame)) at_standby(*answer, view);
  }
  return 0;
}
