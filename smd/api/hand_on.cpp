// SPDX-License-Identifier: Apache-2.0
#include "smd/api/hand_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/tag.h"
#include "smd/api/ufm.h"
#include "smd/base/unix_time.h"

namespace smd::api {
namespace {

constexpr std::string_view kType = "Content-Type", kAllow = "Allow";
/// ports_tag_of() of the state that a standby has compared If-Match with. An earlier master ignores it.
constexpr std::string_view kIfPorts = "X-SMD-If-Ports";

/// Of a use of a token: no path of the API, now or later.
constexpr std::string_view kUseMethod = "USE", kUseTarget = "token";

/// Where and when a question was asked that is handed on.
struct Origin {
  std::string name;  ///< of the subnet
  bool ufm = false;  ///< it is UFM's call
  std::int64_t time = 0;
};

/// `view`: a state that the request's If-Match names.
replica::Call call_of(const Route& route, const Question& question, const SubnetView& view) {
  const auto& request = *question.request;
  const auto& access = *question.access;
  const auto right = access.in(question.part("subnet"));
  replica::Call call{.has_token = !access.is_local(),
                     .caller = access.name(),
                     .role = std::string(to_string(right ? right->role : access::Role::viewer)),
                     .address = request.peer.address,
                     .method = request.method,
                     .target = request.target,
                     .body = request.body};
  // The state as a whole has another tag at each SM: it was compared here, and what has come since from
  // another client shows in what is kept.
  if (route.tag == Tag::policy && !request.if_match.empty())
    call.headers.emplace_back("If-Match", request.if_match);
  if (route.tag != Tag::policy && names_state(request.if_match))
    call.headers.emplace_back(kIfPorts, ports_tag_of(view));
  if (!request.if_none_match.empty()) call.headers.emplace_back("If-None-Match", request.if_none_match);
  if (!request.idempotency_key.empty()) call.headers.emplace_back("Idempotency-Key", request.idempotency_key);
  return call;
}

Answer no_master(const std::string& subnet, std::string_view reason, bool ufm) {
  auto refusal = error_of(503, "no_master", fmt::format("{}: {}", subnet, reason));
  return ufm ? as_ufm(std::move(refusal)) : refusal;
}

Answer answer_of_call(replica::CallAnswer made, const std::string& subnet, bool ufm) {
  if (made.status == 0) return no_master(subnet, made.body, ufm);
  Answer answer{.status = made.status, .body = std::move(made.body), .bundle = nullptr, .allow = {}};
  for (auto& [name, value] : made.headers) {
    if (name == kType) {
      answer.type = std::move(value);
    } else if (name == kAllow) {
      answer.allow = std::move(value);
    } else {
      answer.headers.emplace_back(std::move(name), std::move(value));
    }
  }
  return answer;
}

}  // namespace

bool hands_on(const SubnetView& view) {
  return view.replica && view.replica->forwards && sm_state(view) != wire::SmState::master;
}

Answer hand_on(const Route& route, const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;  // may be later than the one that the router has compared
  auto other = route.tag == Tag::policy ? std::nullopt : not_that_state(*question.request, view);
  if (other) return *std::move(other);
  const auto call = std::make_shared<const replica::Call>(call_of(route, question, view));
  Answer answer;
  // The master's memory of it ends where another SM takes over, and our If-Match is of the state before.
  const auto once = question.once != nullptr ? std::optional(*question.once) : std::nullopt;
  const Origin from{.name = view.name, .ufm = is_ufm(route.path), .time = question.request->time};
  answer.later = std::make_shared<const Later>([&backend, call, once, from,
                                                index = chosen->index](AnswerDone done) {
    backend.hand_on(index, *call, [answered = std::move(done), &backend, once, from](auto result) mutable {
      auto made = result ? answer_of_call(*std::move(result), from.name, from.ufm)
                         : no_master(from.name, result.error(), from.ufm);
      if (once) backend.answered().end(*once, made, from.time);
      made.headers.emplace_back(kRoleHeader, "standby");
      answered(std::move(made));
    });
  });
  return answer;
}

std::expected<Request, Answer> request_of(const replica::Call& call, const std::string& subnet,
                                          Guid standby) {
  const auto role = access::parse_role(call.role);
  if (!role) return std::unexpected(error_of(403, "forbidden", fmt::format("no role {}", call.role)));
  Request request{.method = call.method, .target = call.target, .body = call.body};
  request.peer = {.local = false,
                  .address = call.address,
                  .handed_on = HandedOn{.subnet = subnet,
                                        .by = fmt::format("{}", standby),
                                        .caller = call.caller,
                                        .has_token = call.has_token,
                                        .role = *role}};
  request.time = sm::unix_now();
  for (const auto& [name, value] : call.headers) {
    if (name == "If-Match") request.if_match = value;
    if (name == "If-None-Match") request.if_none_match = value;
    if (name == "Idempotency-Key") request.idempotency_key = value;
    if (name == kIfPorts) request.ports_tag = value;
  }
  return request;
}

replica::CallAnswer call_answer_of(const Answer& answer) {
  // No change is answered with more than one body.
  if (answer.bundle || answer.stream || answer.rest || answer.body.size() > replica::kLargestCall)
    return {.body = "the master's answer is too large for its standby"};
  replica::CallAnswer made{
      .status = static_cast<std::uint16_t>(answer.status), .headers = answer.headers, .body = answer.body};
  if (!answer.type.empty()) made.headers.emplace_back(kType, answer.type);
  if (!answer.allow.empty()) made.headers.emplace_back(kAllow, answer.allow);
  return made;
}

replica::Call call_of_use(const std::string& token, std::int64_t ago) {
  return {.has_token = true,
          .caller = token,
          .role = std::string(to_string(access::Role::viewer)),
          .method = std::string(kUseMethod),
          .target = std::string(kUseTarget),
          .body = std::to_string(std::max(ago, std::int64_t{0}))};
}

std::optional<TokenUse> used_token(const replica::Call& call) {
  if (call.method != kUseMethod || call.target != kUseTarget) return std::nullopt;
  constexpr std::uint64_t kYears = std::uint64_t{100} * 366 * 86'400;
  const auto ago = base::parse_number(call.body, kYears).value_or(0);
  return TokenUse{.token = call.caller, .ago = static_cast<std::int64_t>(ago)};
}

}  // namespace smd::api
