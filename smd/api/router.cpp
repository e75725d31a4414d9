// SPDX-License-Identifier: Apache-2.0
#include "smd/api/router.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <expected>
#include <iterator>
#include <utility>

#include "smd/api/answer_once.h"
#include "smd/api/audit.h"
#include "smd/api/caller.h"
#include "smd/api/hand_on.h"
#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/listing.h"
#include "smd/api/tag.h"
#include "smd/api/ufm.h"
#include "smd/api/ufm_session.h"

namespace smd::api {
namespace {

constexpr std::array kRoutes{
    Route{"GET", "/v1/status", get_status, Needs::viewer},
    Route{"GET", "/v1/subnets", get_subnets, Needs::tenant, Tag::body},
    Route{"GET", "/v1/subnets/{subnet}/status", get_subnet_status, Needs::viewer},
    Route{"GET", "/v1/subnets/{subnet}/ports", get_ports, Needs::tenant, Tag::epoch, At::any,
          "not_active lost degraded all node match type state limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/partitions", get_partitions, Needs::tenant, Tag::epoch, At::any,
          "name match limit cursor state"},
    Route{"POST", "/v1/subnets/{subnet}/partitions/reindex", post_reindex, Needs::operator_, Tag::none,
          At::master},
    Route{"GET", "/v1/subnets/{subnet}/partitions/{partition}", get_partition, Needs::tenant, Tag::epoch,
          At::any, "state"},
    Route{"PUT", "/v1/subnets/{subnet}/partitions/{partition}", put_partition, Needs::operator_, Tag::policy,
          At::master, "create"},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}", delete_partition, Needs::operator_,
          Tag::policy, At::master},
    Route{"POST", "/v1/subnets/{subnet}/partitions/{partition}/members", post_members, Needs::operator_,
          Tag::policy, At::master},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}/members", delete_members, Needs::operator_,
          Tag::policy, At::master},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}/members/{member}", delete_member,
          Needs::operator_, Tag::policy, At::master},
    Route{"POST", "/v1/subnets/{subnet}/ports/{guid}/{number}/disable", post_port_disable, Needs::operator_,
          Tag::none, At::master, "dry_run"},
    Route{"POST", "/v1/subnets/{subnet}/ports/{guid}/{number}/enable", post_port_enable, Needs::operator_,
          Tag::none, At::master, "dry_run"},
    Route{"POST", "/v1/subnets/{subnet}/ports/{guid}/{number}/reset", post_port_reset, Needs::operator_,
          Tag::none, At::master, "dry_run"},
    Route{"POST", "/v1/subnets/{subnet}/resweep", post_resweep, Needs::operator_, Tag::none, At::any,
          "dry_run"},
    Route{"PUT", "/v1/subnets/{subnet}/sweeps", put_sweeps, Needs::operator_, Tag::none, At::master,
          "dry_run"},
    Route{"POST", "/v1/subnets/{subnet}/accept", post_accept, Needs::operator_, Tag::none, At::master},
    Route{"GET", "/v1/subnets/{subnet}/nodes", get_nodes, Needs::viewer, Tag::epoch, At::any,
          "type match limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/nodes/{node}", get_node, Needs::tenant, Tag::epoch},
    Route{"GET", "/v1/subnets/{subnet}/links", get_links, Needs::viewer, Tag::epoch, At::any,
          "node degraded type state limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/balance", get_balance, Needs::viewer, Tag::epoch, At::any,
          "node limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/path", get_path, Needs::tenant, Tag::epoch, At::any,
          "src dst sl pkey"},
    Route{"GET", "/v1/subnets/{subnet}/services", get_services, Needs::tenant, Tag::epoch, At::any,
          "node pkey match limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/switches", get_switches, Needs::viewer, Tag::epoch, At::any,
          "match level limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/routing", get_routing, Needs::viewer, Tag::epoch, At::any, "quality"},
    Route{"GET", "/v1/subnets/{subnet}/why", get_why, Needs::tenant, Tag::body, At::any, "port node"},
    Route{"GET", "/v1/subnets/{subnet}/ports/{port}", get_port, Needs::tenant, Tag::epoch},
    Route{"GET", "/v1/subnets/{subnet}/changes", get_changes, Needs::tenant, Tag::body, At::any,
          "match limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/groups", get_groups, Needs::viewer, Tag::epoch, At::any,
          "pkey limit cursor"},
    Route{"GET", "/v1/subnets/{subnet}/qos", get_qos, Needs::viewer, Tag::body},
    Route{"GET", "/v1/subnets/{subnet}/events", get_events, Needs::tenant, Tag::body, At::any,
          "since limit match"},
    Route{"GET", "/v1/events", get_all_events, Needs::tenant, Tag::body, At::any, "since limit match"},
    Route{"GET", "/v1/subnets/{subnet}/sms", get_sms, Needs::viewer, Tag::body, At::any, "limit cursor"},
    Route{"POST", "/v1/subnets/{subnet}/handover", post_handover, Needs::operator_, Tag::none, At::master,
          "dry_run"},
    Route{"PUT", "/v1/subnets/{subnet}/priority", put_priority, Needs::operator_, Tag::none, At::any,
          "dry_run"},
    Route{"GET", "/v1/subnets/{subnet}/dump", get_dump, Needs::viewer, Tag::none, At::any, "files"},
    Route{"POST", "/v1/reload", post_reload, Needs::admin, Tag::none, At::any, "dry_run"},
    Route{"GET", "/v1/log", get_log, Needs::viewer},
    Route{"PUT", "/v1/log", put_log, Needs::admin, Tag::none, At::any, "dry_run"},
    Route{"GET", "/v1/subnets/{subnet}/tokens", get_tokens, Needs::local, Tag::body, At::any, "limit cursor"},
    Route{"PUT", "/v1/subnets/{subnet}/tokens/{token}", put_token, Needs::local, Tag::policy},
    Route{"DELETE", "/v1/subnets/{subnet}/tokens/{token}", delete_token, Needs::local, Tag::policy},
    Route{"POST", "/v1/subnets/{subnet}/tokens/{token}/rotate", post_rotate, Needs::local, Tag::policy},
    Route{"GET", "/ufmRest/app/ufm_version", ufm_version, Needs::viewer},
    Route{"GET", "/ufmRest/app/smconf", ufm_smconf, Needs::admin},
    Route{"GET", "/ufmRest/resources/pkeys", ufm_pkeys, Needs::tenant},
    Route{"POST", "/ufmRest/resources/pkeys", ufm_add_guids, Needs::operator_, Tag::policy, At::master},
    Route{"PUT", "/ufmRest/resources/pkeys", ufm_set_guids, Needs::operator_, Tag::policy, At::master},
    Route{"POST", "/ufmRest/resources/pkeys/add", ufm_add_pkey, Needs::operator_, Tag::policy, At::master},
    Route{"PUT", "/ufmRest/resources/pkeys/qos_conf", ufm_qos_conf, Needs::operator_, Tag::policy,
          At::master},
    Route{"POST", "/ufmRest/resources/pkeys/qos_conf", ufm_qos_conf, Needs::operator_, Tag::policy,
          At::master},
    Route{"POST", "/ufmRest/resources/pkeys/hosts", ufm_add_hosts, Needs::operator_, Tag::policy, At::master},
    Route{"DELETE", "/ufmRest/resources/pkeys/hosts", ufm_remove_hosts, Needs::operator_, Tag::policy,
          At::master},
    Route{"GET", "/ufmRest/resources/pkeys/{pkey}", ufm_pkey_of, Needs::tenant},
    Route{"DELETE", "/ufmRest/resources/pkeys/{pkey}", ufm_delete_pkey, Needs::operator_, Tag::policy,
          At::master},
    Route{"DELETE", "/ufmRest/resources/pkeys/{pkey}/guids/{guids}", ufm_delete_guids, Needs::operator_,
          Tag::policy, At::master},
    Route{"DELETE", "/ufmRest/resources/pkeys/{pkey}/hosts/{hosts}", ufm_delete_hosts, Needs::operator_,
          Tag::policy, At::master},
    Route{"POST", "/ufmRest/actions/remove_guids_from_pkey", ufm_remove_guids, Needs::operator_, Tag::policy,
          At::master},
    Route{"GET", "/ufmRest/resources/ports", ufm_ports, Needs::viewer},
    Route{"GET", "/ufmRest/resources/ports/{port}", ufm_port, Needs::viewer},
    Route{"GET", "/ufmRest/resources/systems", ufm_systems, Needs::viewer},
    Route{"GET", "/ufmRest/resources/systems/{system}", ufm_system, Needs::viewer},
    Route{"GET", "/ufmRest/resources/links", ufm_links, Needs::viewer},
    Route{"GET", "/ufmRest/app/sharp/resources", ufm_sharp, Needs::viewer},
    Route{"POST", "/ufmRest/app/sharp/resources", ufm_no_sharp, Needs::operator_},
    Route{"GET", "/ufmRest/app/sharp/resources/{resource}", ufm_no_sharp, Needs::viewer},
    Route{"DELETE", "/ufmRest/app/sharp/resources/{resource}", ufm_no_sharp, Needs::operator_},
    Route{"POST", "/dologin", ufm_login, Needs::nothing},
    Route{"GET", "/healthcheck", get_healthz, Needs::nothing},
    Route{"GET", "/metrics", get_metrics, Needs::viewer, Tag::none, At::any, "family node"},
    Route{"GET", "/metrics/guilbaults", get_guilbaults, Needs::viewer, Tag::none, At::any, "family node"},
    Route{"GET", "/healthz", get_healthz, Needs::nothing},
    Route{"GET", "/readyz", get_readyz, Needs::nothing, Tag::none, At::any, "role subnet"},
};

/// The first part of a path and what follows its '/'.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

using Parts = decltype(Question::path);

/// Whether `path` is of the form `pattern`; then what stands in the place of each "{name}".
std::optional<Parts> match(std::string_view pattern, std::string_view path) {
  Parts found;
  while (!pattern.empty() || !path.empty()) {
    const auto [wanted, patterns] = split(pattern);
    const auto [part, parts] = split(path);
    if (wanted.starts_with('{')) {
      auto value = percent_decoded(part);
      if (!value || value->empty()) return std::nullopt;
      found.emplace(wanted.substr(1, wanted.size() - 2), *std::move(value));
    } else if (wanted != part) {
      return std::nullopt;
    }
    pattern = patterns;
    path = parts;
  }
  return found;
}

using Query = decltype(Question::query);

/// Keys that may stand more than once: their values are joined by commas.
bool is_list(std::string_view key) { return key == "family"; }

/// What follows the '?'.
std::string_view query_text(std::string_view target) {
  const auto mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

/// The error is what is wrong with it.
std::expected<Query, std::string> parse_query(std::string_view query) {
  Query found;
  while (!query.empty()) {
    const auto item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), item.size() + 1));
    const auto equals = item.find('=');
    auto key = percent_decoded(item.substr(0, equals));
    auto value = percent_decoded(equals == std::string_view::npos ? "" : item.substr(equals + 1));
    if (!key || !value) return std::unexpected("the query has a '%' without two hexadecimal digits");
    if (key->empty()) continue;
    const auto [at, is_new] = found.try_emplace(*key, *value);
    if (is_new) continue;
    if (!is_list(*key)) return std::unexpected(fmt::format("the query has {} twice", *key));
    at->second += ',' + *value;
  }
  return found;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}",
                     static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

namespace {

/// The route of a request, and what stands in the place of each "{name}".
struct Found {
  const Route* route = nullptr;  ///< null: there is none
  Parts parts;
  std::string allow;  ///< methods of the path, where none of them is the request's
};

Found find(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  Found found;
  for (const auto& route : kRoutes) {
    auto parts = match(route.path, path);
    if (!parts) continue;
    if (route.method == method) return {.route = &route, .parts = *std::move(parts), .allow = {}};
    found.allow += (found.allow.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

/// The error names a key that the route does not have: one that was mistyped would ask for something else.
std::expected<Query, std::string> known_query(const Route& route, Query query) {
  const auto keys = fmt::format(" {} ", route.query);
  for (const auto& [key, value] : query) {
    if (keys.find(fmt::format(" {} ", key)) != std::string::npos) continue;
    return std::unexpected(route.query.empty()
                               ? fmt::format("{} {} takes no query: {}", route.method, route.path, key)
                               : fmt::format("{}: the keys of the query are {}", key, route.query));
  }
  return query;
}

/// `dry_run` of the query where the body would have it.
std::expected<Request, Answer> with_body_of_query(Request request, const Query& query) {
  const auto& word = query.at("dry_run");
  if (word != "true" && word != "false") return std::unexpected(bad_query("dry_run", word, "true or false"));
  // Blanks are no body to the routes, which must not lose the word.
  const bool blank = request.body.find_first_not_of(" \t\r\n") == std::string::npos;
  auto body = parse_body(blank ? "{}" : std::string_view(request.body));
  if (!body || !body->is_object()) return request;  // the route says what is wrong with it
  auto& object = body->as_object();
  const auto* there = object.if_contains("dry_run");
  const boost::json::value asked = word == "true";
  if (there != nullptr && *there != asked)
    return std::unexpected(bad_body("dry_run: the query and the body say different things"));
  object["dry_run"] = asked;
  request.body = boost::json::serialize(*body);
  return request;
}

Answer no_route(std::string_view path, std::string allow) {
  if (allow.empty())
    return error_of(404, "no_such_path", fmt::format("no {}; docs/openapi.json has the paths", path));
  auto refusal = error_of(405, "method_not_allowed", fmt::format("{} takes {}", path, allow));
  refusal.allow = std::move(allow);
  return refusal;
}

/// Whose word the answer is: where that is one subnet's, or the SMs of all subnets that the caller sees are
/// alike.
void add_role(Answer& answer, const Question& question, const Backend& backend) {
  const auto subnet = question.part("subnet");
  std::string_view role;
  for (const auto& view : backend.subnets()) {
    const bool meant = (subnet.empty() || view->name == subnet) && question.access->in(view->name);
    if (!meant || (!view->sms && !view->snapshot)) continue;
    const std::string_view is = sm_state(*view) == wire::SmState::master ? "master" : "standby";
    if (!role.empty() && role != is) return;
    role = is;
  }
  if (!role.empty()) answer.headers.emplace_back(kRoleHeader, role);
}

std::string_view path_of(const Request& request) {
  return std::string_view(request.target).substr(0, request.target.find('?'));
}

/// Taken before the answer is made: of the state that it shows, or of one before.
std::string current_tag(const Route& route, const Question& question, const Backend& backend) {
  if (route.tag != Tag::epoch) return {};
  const auto chosen = choose(question, backend);
  return chosen && chosen->view->snapshot ? tag_of(*chosen->view) : std::string();
}

/// A tenant is not told that something has changed that it does not see.
bool is_tagged_by_body(const Route& route, const Question& question) {
  if (route.tag == Tag::body) return true;
  return route.tag == Tag::epoch && question.access->only_partitions(question.part("subnet")).has_value();
}

/// With its tag, or 304; one that comes in pieces has none.
Answer tagged_by_body(Answer answered, const Request& request) {
  if (answered.status != 200 || answered.rest || answered.stream) return answered;
  const auto tag = tag_of_body(answered.body);
  if (is_known_tag(request.if_none_match, tag)) {
    answered.status = 304;
    answered.body.clear();
  }
  add_tag(answered, tag);
  return answered;
}

/// What is current is not sent again.
Answer not_modified() { return {.status = 304, .body = {}, .bundle = nullptr, .allow = {}}; }

/// What names something, or filters, may be refused: whether it is known is to be seen in the answer.
bool is_list_of_all(const Question& question) {
  return question.query.empty() && question.path.size() == 1 && question.path.contains("subnet");
}

/// 412 of a change that is not compared when it is kept.
std::optional<Answer> refused_by_tag(const Route& route, const Question& question, const Backend& backend) {
  const auto& request = *question.request;
  const bool has_tag = !request.if_match.empty() || !request.ports_tag.empty();
  if (route.method == "GET" || route.tag == Tag::policy || !has_tag) return std::nullopt;
  if (!question.path.contains("subnet")) return not_that_state(request, {});
  const auto chosen = choose(question, backend);
  return chosen ? not_that_state(request, *chosen->view) : chosen.error();
}

/// Whether another SM of the subnet is to do it.
bool is_for_master(const Route& route, const Question& question, const Backend& backend) {
  if (route.at != At::master || question.request->peer.handed_on) return false;
  const auto chosen = choose(question, backend);
  return chosen && hands_on(*chosen->view);
}

Answer run(const Route& route, Parts parts, const Request& request, Query query, const access::Access& access,
           Backend& backend) {
  Question question{.path = std::move(parts),
                    .query = std::move(query),
                    .body = request.body,
                    .access = &access,
                    .request = &request};
  const auto& from = request.peer.handed_on;
  if (from) question.path.insert_or_assign("subnet", from->subnet);
  if (is_ufm(route.path)) question.path.emplace("subnet", ufm_subnet(question, backend));
  if (auto refused = forbidden(route.needs, question, backend)) return *std::move(refused);
  const bool by_body = is_tagged_by_body(route, question);
  const auto tag = by_body ? std::string() : current_tag(route, question, backend);
  const bool is_same = route.tag == Tag::epoch && !tag.empty() && is_known_tag(request.if_none_match, tag);
  const bool for_master = is_for_master(route, question, backend);
  auto answered = answer_once(route, question, for_master, backend, [&] {
    if (is_same && is_list_of_all(question)) return not_modified();
    if (auto refused = refused_by_tag(route, question, backend)) return *std::move(refused);
    return for_master ? hand_on(route, question, backend) : route.answer(question, backend);
  });
  if (!for_master && by_body) answered = tagged_by_body(std::move(answered), request);
  if (!for_master && is_same && answered.status == 200) answered = not_modified();
  const bool is_current = answered.status == 200 || answered.status == 304;
  if (!for_master && is_current && !tag.empty()) add_tag(answered, tag);
  const bool said = std::ranges::any_of(
      answered.headers, [](const auto& one) { return one.first == kRoleHeader; });  // by the master
  const bool says_role = route.needs != Needs::nothing && !request.peer.handed_on && !said;
  if (says_role) add_role(answered, question, backend);
  return answered;
}

Answer run_with_query(const Route& route, Parts parts, const Request& request, const access::Access& access,
                      Backend& backend) {
  auto query = parse_query(query_text(request.target));
  if (query && !is_ufm(route.path)) query = known_query(route, *std::move(query));
  if (!query) return error_of(400, "bad_query", query.error());
  Request with_dry_run;  // where the query says that
  if (query->contains("dry_run")) {
    auto merged = with_body_of_query(request, *query);
    if (!merged) return merged.error();
    with_dry_run = *std::move(merged);
  }
  return run(route, std::move(parts), query->contains("dry_run") ? with_dry_run : request, *std::move(query),
             access, backend);
}

/// The call says only what it would do.
bool is_dry_run(const Route& route, const Request& request) {
  if (!route.query.contains("dry_run")) return false;
  const auto query = parse_query(query_text(request.target));
  if (query && query->contains("dry_run")) return query->at("dry_run") == "true";
  const auto body = parse_json(request.body);
  const auto* object = body ? body->if_object() : nullptr;
  const auto* word = object != nullptr ? object->if_contains("dry_run") : nullptr;
  return word != nullptr && word->is_bool() && word->as_bool();
}

/// That a call names; empty: it is of the process, or of a subnet that is not here.
std::string subnet_of(const Found& found, const Request& request, const access::Access& access,
                      const Backend& backend) {
  std::string name;
  if (is_ufm(found.route->path)) {
    auto query = parse_query(query_text(request.target));
    if (!query) return {};
    const Question question{
        .path = {}, .query = *std::move(query), .body = {}, .access = &access, .request = &request};
    name = ufm_subnet(question, backend);
  }
  if (const auto at = found.parts.find("subnet"); at != found.parts.end()) name = at->second;
  if (request.peer.handed_on) name = request.peer.handed_on->subnet;
  const bool here =
      std::ranges::any_of(backend.subnets(), [&](const auto& view) { return view->name == name; });
  return here ? name : std::string();
}

Answer answer_at(const std::string& path, const Request& request, Backend& backend) {
  auto found = find(request.method, path);
  if (request.peer.handed_on && (found.route == nullptr || found.route->at != At::master))
    return error_of(403, "forbidden", fmt::format("{} {}: not for a standby to ask", request.method, path));
  if (found.route != nullptr && found.route->needs == Needs::nothing)
    return run_with_query(*found.route, std::move(found.parts), request, {}, backend);
  const auto access = caller_of(request, backend);
  if (!access) return access.error();
  if (found.route == nullptr) {
    const auto asked = path_of(request);
    // Of UFM's other prefixes too, as /ufmRestKrb.
    if (asked.starts_with("/ufmRest")) backend.unknown_ufm(fmt::format("{} {}", request.method, asked));
    return no_route(asked, std::move(found.allow));
  }
  const bool audited = found.route->method != "GET";
  const auto subnet = audited ? subnet_of(found, request, *access, backend) : std::string();
  auto answered = run_with_query(*found.route, std::move(found.parts), request, *access, backend);
  if (audited) {
    const auto& from = request.peer.handed_on;
    audit(answered,
          {.by = access->name(),
           .address = request.peer.address,
           .via = from ? from->by : std::string(),
           .method = request.method,
           .path = path,
           .subnet = subnet,
           .dry_run = is_dry_run(*found.route, request)},
          backend);
  }
  return answered;
}

}  // namespace

bool is_for_all(const Request& request) {
  const auto found = find(request.method, ufm_path(path_of(request)));
  return found.route != nullptr && found.route->needs == Needs::nothing;
}

Answer answer(const Request& request, Backend& backend) {
  const auto path = ufm_path(path_of(request));
  auto answered = answer_at(std::string(path), request, backend);
  return is_ufm(path) ? as_ufm(std::move(answered)) : answered;
}

}  // namespace smd::api
