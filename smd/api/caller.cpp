// SPDX-License-Identifier: Apache-2.0
#include "smd/api/caller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mad/base/counted.h"
#include "smd/api/ufm.h"

namespace smd::api {
namespace {

using access::Access;
using access::Role;

std::vector<std::string> names_of(const Backend& backend) {
  std::vector<std::string> names;
  for (const auto& view : backend.subnets()) names.push_back(view->name);
  return names;
}

/// What a secret is good for in the subnets whose stores are open.
struct SecretFound {
  Access access;
  bool all_open = true;             ///< but for those that were refused
  std::vector<access::Use> uses{};  ///< to be kept
};

SecretFound found_by(std::string_view secret, std::int64_t now, const Backend& backend) {
  const auto views = backend.subnets();
  SecretFound found;
  std::vector<access::TokensOf> tokens;
  for (const auto& view : views) {
    const auto* policies = known_policies(*view);
    found.all_open = found.all_open && !tokens_may_come(*view);
    if (policies != nullptr) tokens.push_back({.subnet = view->name, .tokens = &policies->tokens});
  }
  found.access = access::access_of(secret, tokens, now, found.uses);
  return found;
}

/// Whether the caller would have this role in all subnets if those had it whose tokens are not known yet.
bool may_have(const Access& access, Role least, const Backend& backend) {
  std::vector<std::string> open;
  const auto views = backend.subnets();
  for (const auto& view : views) {
    if (!tokens_may_come(*view)) open.push_back(view->name);
  }
  return open.size() < views.size() && access.in_all(open) >= least;
}

Access local_access(const Request& request) {
  return Access::local(request.peer.user.empty() ? "local" : request.peer.user);
}

Answer unauthorized(std::string_view message) {
  auto refusal = error_of(401, "unauthorized", message);
  refusal.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="smd", Basic realm="smd")");
  return refusal;
}

/// "role admin in east, none in 1 other subnet": subnets that the caller does not see have no name.
std::string roles_in(const Access& access, const std::vector<std::string>& subnets) {
  std::string words;
  std::uint64_t others = 0;
  for (const auto& name : subnets) {
    if (const auto right = access.in(name)) {
      words += fmt::format("{}{} in {}", words.empty() ? "role " : ", ", to_string(right->role), name);
    } else {
      ++others;
    }
  }
  if (others == 0) return words;
  return fmt::format("{}{} in {}", words, words.empty() ? "no role" : ", none",
                     base::counted(others, words.empty() ? "subnet" : "other subnet"));
}

Role least_of(Needs needs) {
  if (needs == Needs::viewer) return Role::viewer;
  if (needs == Needs::operator_) return Role::operator_;
  return needs == Needs::admin || needs == Needs::local ? Role::admin : Role::tenant;
}

/// A standby that has proved who it is says which role its caller has; a token is looked up here again, so
/// that one that was revoked or has lost rights has none at either SM.
std::expected<Access, Answer> handed_on_access(const HandedOn& from, std::int64_t now,
                                               const Backend& backend) {
  Access access;
  if (!from.has_token) {
    access.add(from.subnet, from.caller, {.role = from.role});
    return access;
  }
  for (const auto& view : backend.subnets()) {
    if (view->name != from.subnet || !view->policy_state) continue;
    const auto& tokens = view->policy_state->policies->tokens;
    const auto at = tokens.find(from.caller);
    if (at == tokens.end() || !at->second.is_valid(now)) break;
    access.add(from.subnet, from.caller,
               {.role = std::min(from.role, at->second.role), .partitions = at->second.partitions});
    return access;
  }
  return std::unexpected(unauthorized("the token is unknown, revoked or expired at the master"));
}

}  // namespace

Access access_now(const Request& request, std::int64_t now, const Backend& backend) {
  if (request.peer.local) return local_access(request);
  const auto secret = access::secret_of(request.authorization);
  return secret ? found_by(*secret, now, backend).access : Access();
}

std::expected<Access, Answer> caller_of(const Request& request, Backend& backend) {
  if (const auto& from = request.peer.handed_on) return handed_on_access(*from, request.time, backend);
  if (request.peer.local) return local_access(request);
  auto& guard = backend.guard();
  if (const auto seconds = guard.waits(request.peer.address, request.time); seconds > 0) {
    auto refusal = error_of(429, "too_many_failures",
                            fmt::format("too many wrong tokens from this address: again in {} s", seconds));
    refusal.headers.emplace_back("Retry-After", std::to_string(seconds));
    return std::unexpected(std::move(refusal));
  }
  const auto secret = access::secret_of(request.authorization);
  if (!secret) return std::unexpected(unauthorized("a token is needed: Authorization: Bearer smd_..."));
  auto found = found_by(*secret, request.time, backend);
  if (!found.access.is_known()) {
    if (!found.all_open) return std::unexpected(tokens_not_read());
    const bool first = guard.failed(request.peer.address, request.time);
    backend.login_failed(request.peer.address, first);
    return std::unexpected(unauthorized("the token is unknown, revoked or expired"));
  }
  for (const auto& use : found.uses) backend.token_used(use, request.time);
  return std::move(found.access);
}

std::optional<Answer> refused_caller(const Request& request, Backend& backend) {
  auto access = caller_of(request, backend);
  if (access) return std::nullopt;
  const auto path = ufm_path(request.target.substr(0, request.target.find('?')));
  return is_ufm(path) ? as_ufm(std::move(access.error())) : std::move(access.error());
}

std::optional<Answer> forbidden(Needs needs, const Question& question, const Backend& backend) {
  const auto& access = *question.access;
  if (needs == Needs::nothing || access.is_local()) return std::nullopt;
  if (needs == Needs::local)
    return error_of(403, "forbidden", "tokens are managed on the Unix socket only: `smd token`");
  auto role = Role::tenant;
  if (question.path.contains("subnet")) {
    const auto right = access.in(question.part("subnet"));
    if (!right) return std::nullopt;
    role = right->role;
  } else {
    role = access.in_all(names_of(backend));
  }
  const auto least = least_of(needs);
  if (role >= least) return std::nullopt;
  const bool of_one = question.path.contains("subnet");
  if (!of_one && may_have(access, least, backend)) return tokens_not_read();
  const auto has = of_one ? fmt::format("role {}", to_string(role)) : roles_in(access, names_of(backend));
  return error_of(403, "forbidden",
                  fmt::format("token {} has {}; this needs {}{}", access.name(), has, to_string(least),
                              of_one ? "" : " in each subnet"));
}

}  // namespace smd::api
