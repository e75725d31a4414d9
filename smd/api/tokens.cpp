// SPDX-License-Identifier: Apache-2.0
// Tokens: made, listed and taken away on the Unix socket.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/policy_change.h"
#include "smd/base/unix_time.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

using access::Token;

/// A copy of another SM's state is not changed here.
std::optional<Answer> token_hindrance(const SubnetView& view) {
  if (auto why = store_hindrance(view)) return why;
  if (!replica::is_copy(view.replica.get()) || sm_state(view) == wire::SmState::master)
    return two_masters(view);
  return error_of(409, "not_master",
                  fmt::format("{}: this SM copies its tokens: change them at the master{}", view.name,
                              master_words(view)));
}

Json time_json(std::int64_t seconds) { return seconds != 0 ? unix_json(seconds) : Json{}; }

Json token_json(const std::string& name, const Token& token) {
  JsonArray partitions;
  for (const auto& one : token.partitions) partitions.push_back(text(one));
  return Json(JsonObject{{"name", text(name)},
                         {"role", text(to_string(token.role))},
                         {"partitions", Json(std::move(partitions))},
                         {"made", time_json(token.made)},
                         {"expires", time_json(token.expires)},
                         {"last_use", time_json(token.last_use)},
                         {"expired", Json(!token.is_valid(sm::unix_now()))}});
}

/// What the body of a new token says, and the secret that was made for it; empty: the client made one.
struct NewToken {
  Token token;
  std::string secret;
};

std::unexpected<Answer> bad_token(std::string_view message) { return std::unexpected(bad_body(message)); }

std::expected<void, Answer> read_partitions(const boost::json::value& value, Token& into) {
  const auto* list = value.if_array();
  if (list == nullptr) return bad_token("partitions: must be a list of names");
  for (const auto& one : *list) {
    const auto* name = one.if_string();
    const auto text = name != nullptr ? std::string_view(*name) : std::string_view();
    if (text.empty() || text.find('\n') != std::string_view::npos)
      return bad_token("partitions: must be a list of names");
    into.partitions.emplace_back(text);
  }
  return {};
}

std::expected<void, Answer> read_member(std::string_view key, const boost::json::value& value, Token& into) {
  if (key == "role" && value.is_string()) {
    const auto role = access::parse_role(std::string_view(value.get_string()));
    if (!role) return bad_token("role: allowed \"viewer\", \"tenant\", \"operator\" or \"admin\"");
    into.role = *role;
  } else if (key == "partitions") {
    return read_partitions(value, into);
  } else if (key == "expires_in" && value.is_int64() && value.get_int64() > 0) {
    constexpr std::int64_t kLongest = std::int64_t{100} * 366 * 86'400;
    into.expires = into.made + std::min(value.get_int64(), kLongest);
  } else if (key == "sha256" && value.is_string()) {
    into.hash = std::string_view(value.get_string());
    if (!access::is_hash(into.hash)) return bad_token("sha256: must be 64 lower-case hexadecimal digits");
  } else {
    return bad_token(fmt::format(
        "{}: allowed role (text), partitions (list), expires_in (seconds, more than 0) and sha256 (text)",
        key));
  }
  return {};
}

std::expected<boost::json::object, Answer> token_body(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return boost::json::object();
  auto value = parse_body(body);
  if (!value) return bad_token(value.error());
  if (!value->is_object()) return bad_token("the body must be an object");
  return std::move(value->get_object());
}

/// A secret of our own where the client gave no hash of one.
std::expected<void, Answer> complete(NewToken& wanted) {
  if (!wanted.token.hash.empty()) return {};
  wanted.secret = access::new_secret();
  wanted.token.hash = access::hash_of(wanted.secret);
  if (!wanted.secret.empty() && !wanted.token.hash.empty()) return {};
  return std::unexpected(error_of(500, "no_random_numbers", "the system gives no random numbers"));
}

std::expected<NewToken, Answer> new_token_of(std::string_view body) {
  const auto object = token_body(body);
  if (!object) return std::unexpected(object.error());
  NewToken wanted;
  wanted.token.made = sm::unix_now();
  if (!object->contains("role")) return bad_token("role: missing");
  for (const auto& [key, value] : *object) {
    if (auto good = read_member(key, value, wanted.token); !good) return std::unexpected(good.error());
  }
  const bool tenant = wanted.token.role == access::Role::tenant;
  if (tenant && wanted.token.partitions.empty()) return bad_token("partitions: a tenant needs at least one");
  if (!tenant && !wanted.token.partitions.empty()) return bad_token("partitions: of a tenant only");
  if (auto good = complete(wanted); !good) return std::unexpected(good.error());
  return wanted;
}

Answer done_of(const Question& question, const std::string& name, const Token& token,
               const std::string& secret, unsigned status, const std::string& warning = {}) {
  JsonObject done{{"subnet", text(question.part("subnet"))},
                  {"token", token_json(name, token)},
                  {"secret", secret.empty() ? Json{} : text(secret)}};
  if (!warning.empty()) done.emplace("warning", text(warning));
  return answer_of(Json(std::move(done)), status);
}

/// A standby that copies nothing has tokens of its own. Empty: this SM is another one.
std::string standby_warning(const SubnetView& view) {
  const bool standby = view.snapshot && view.snapshot->state == wire::SmState::standby;
  const bool copies = view.replica && view.replica->role != replica::ReplicaView::Role::none;
  if (!standby || copies) return {};
  return fmt::format(
      "this SM is a standby that copies no state: the change is of its own tokens, the master{} "
      "has others",
      master_words(view));
}

std::string joined_warnings(std::string first, const std::string& second) {
  if (!first.empty() && !second.empty()) first += "; ";
  return first + second;
}

/// Which partitions of a tenant are not there; empty: all are, or it is not known.
std::string warning_of(const Token& token, const PolicyState& policy_state) {
  if (!policy_state.merged) return {};
  std::string names;
  for (const auto& name : token.partitions) {
    if (std::ranges::find(policy_state.merged->partitions, name, &config::PolicyPartition::name) ==
        policy_state.merged->partitions.end())
      names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return {};
  return fmt::format("no partition has the name {} at present: the tenant sees it when there is one", names);
}

/// Changes the tokens of the policy, and makes the answer.
using TokenEdit = std::function<std::expected<Answer, Answer>(const SubnetView&, access::Tokens&)>;

Answer change_tokens(const Question& question, Backend& backend, std::string_view what,
                     const TokenEdit& edit) {
  return change_policies(question, backend, token_hindrance,
                         [&](const SubnetView& view) -> std::expected<Step, Answer> {
                           const auto& policy_state = view.policy_state;
                           auto after = std::make_shared<policy::Policies>(*policy_state->policies);
                           auto done = edit(view, after->tokens);
                           if (!done) return std::unexpected(std::move(done.error()));
                           return Step{.change = {.before = nullptr,
                                                  .after = std::move(after),
                                                  .merged = policy_state->merged,
                                                  .what = std::string(what),
                                                  .partition = {},
                                                  .token = question.part("token")},
                                       .done = *std::move(done)};
                         });
}

Answer no_such_token(const std::string& name) {
  return error_of(404, "no_such_token", fmt::format("no token {}", name));
}

}  // namespace

Answer get_tokens(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  if (!page->after.empty() && !access::is_name(page->after)) return bad_cursor(page->after);
  const auto* policies = known_policies(*chosen->view);
  if (policies == nullptr) return not_yet(*chosen->view, "the store is not open yet");
  std::vector<Entry> tokens;
  for (const auto& [name, token] : policies->tokens) tokens.push_back({token_json(name, token), name});
  return short_listing("tokens", *page, std::move(tokens),
                       {.before = {{"subnet", text(chosen->view->name)}}, .after = {}});
}

Answer put_token(const Question& question, Backend& backend) {
  const auto name = question.part("token");
  if (!access::is_name(name))
    return error_of(400, "bad_name", "a token's name: 1 to 64 letters, digits and . _ -, no dot first");
  const auto wanted = new_token_of(question.body);
  if (!wanted) return wanted.error();
  return change_tokens(
      question, backend, "add",
      [&](const SubnetView& view, access::Tokens& tokens) -> std::expected<Answer, Answer> {
        const auto [there, added] = tokens.emplace(name, wanted->token);
        if (!added)
          return std::unexpected(error_of(409, "exists",
                                          fmt::format("there is a token {}{}", name,
                                                      there->second.is_valid(question.request->time)
                                                          ? ""
                                                          : ", which has expired: revoke it first")));
        return done_of(question, name, wanted->token, wanted->secret, 201,
                       joined_warnings(standby_warning(view), warning_of(wanted->token, *view.policy_state)));
      });
}

Answer delete_token(const Question& question, Backend& backend) {
  const auto name = question.part("token");
  return change_tokens(question, backend, "revoke",
                       [&](const SubnetView& view, access::Tokens& tokens) -> std::expected<Answer, Answer> {
                         const auto at = tokens.find(name);
                         if (at == tokens.end()) return std::unexpected(no_such_token(name));
                         const auto token = at->second;
                         tokens.erase(at);
                         return done_of(question, name, token, {}, 200, standby_warning(view));
                       });
}

Answer post_rotate(const Question& question, Backend& backend) {
  const auto name = question.part("token");
  const auto object = token_body(question.body);
  if (!object) return object.error();
  NewToken wanted;
  for (const auto& [key, value] : *object) {
    if (key != "sha256") return bad_body(fmt::format("{}: allowed sha256", std::string_view(key)));
    if (auto good = read_member(key, value, wanted.token); !good) return good.error();
  }
  if (auto good = complete(wanted); !good) return good.error();
  return change_tokens(
      question, backend, "rotate",
      [&](const SubnetView& view, access::Tokens& tokens) -> std::expected<Answer, Answer> {
        const auto at = tokens.find(name);
        if (at == tokens.end()) return std::unexpected(no_such_token(name));
        if (!at->second.is_valid(question.request->time))
          return std::unexpected(
              error_of(409, "expired", fmt::format("token {} has expired: revoke it, and add one", name)));
        at->second.hash = wanted.token.hash;
        return done_of(question, name, at->second, wanted.secret, 200, standby_warning(view));
      });
}

}  // namespace smd::api
