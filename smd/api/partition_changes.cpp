// SPDX-License-Identifier: Apache-2.0
// Changes of partitions: kept in the store before they are answered; members are programmed afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/not_master.h"
#include "smd/api/partition_edits.h"
#include "smd/api/policy_change.h"
#include "smd/apply/table_baseline.h"
#include "smd/decide/policy_ports.h"
#include "smd/policy/definition_json.h"
#include "smd/policy/edits.h"
#include "smd/report/partitions.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

Answer refusal_of(const policy::EditError& error) {
  using Kind = policy::EditError::Kind;
  const unsigned status = error.kind == Kind::bad ? 400 : error.kind == Kind::not_found ? 404 : 409;
  return error_of(status, error.code, error.text);
}

/// Why partitions cannot be changed here now.
std::optional<Answer> hindrance(const SubnetView& view) {
  if (auto why = mastership_hindrance(view, "change partitions at the master")) return why;
  if (auto why = store_hindrance(view)) return why;
  if (!view.policy_state->merged)
    return error_of(
        409, "contradiction",
        fmt::format("{}: files and the API's partitions contradict each other: mend the files", view.name));
  return std::nullopt;
}

policy::ForeignKeys foreign_keys_of(const SubnetView& view) {
  return [&view]() -> std::vector<PKey> {
    if (!view.snapshot || !view.snapshot->subnet) return {};
    const auto* policy = view.policy_state->merged.get();
    auto keys = sm::foreign_keys(*view.snapshot->subnet, policy).keys;
    if (view.snapshot->stored) sm::add_foreign_keys(*view.snapshot->stored, policy, keys);
    return keys;
  };
}

/// `before` is without the change.
Answer done_of(const Question& question, const policy::Edited& edited,
               const config::PartitionPolicy& before) {
  JsonObject done{{"subnet", text(question.part("subnet"))},
                  {"partition", text(question.part("partition"))},
                  {"pkey", pkey(edited.pkey)},
                  {"changed", Json(edited.changed)}};
  const auto& others = (edited.merged ? *edited.merged : before).sls_of_class;
  const auto other = std::ranges::find_if(
      others, [&](const config::SlOfClass& one) { return one.pkey.same_partition(edited.pkey); });
  if (other != others.end()) done.emplace("warning", text(sm::to_string(*other)));
  return answer_of(Json(std::move(done)), edited.created ? 201 : 200);
}

/// The caller may have given the P_Key: events are found by the name.
std::string partition_name(const Question& question, const policy::Edited& edited,
                           const config::PartitionPolicy& before) {
  const auto* now = edited.merged ? edited.merged->find(edited.pkey) : nullptr;
  if (now == nullptr) now = before.find(edited.pkey);  // it was taken out
  return now != nullptr ? now->name : question.part("partition");
}

}  // namespace

Answer change_partition(const Question& question, Backend& backend, std::string_view what,
                        const PartitionEdit& edit) {
  return change_policies(
      question, backend, hindrance, [&](const SubnetView& view) -> std::expected<Step, Answer> {
        const auto& policy_state = view.policy_state;
        const auto config = policy::with_kept(policy_state->config, *policy_state->policies);
        const auto files = policy::sources_of(*config);
        auto edited = edit({files, *policy_state->policies, *policy_state->merged, foreign_keys_of(view)});
        if (!edited) return std::unexpected(refusal_of(edited.error()));
        edited = policy::in_classes(*policy_state->config, *policy_state->policies, *std::move(edited));
        if (!edited) return std::unexpected(refusal_of(edited.error()));
        return Step{.change = {.before = nullptr,
                               .after = edited->policies,
                               .merged = edited->merged,
                               .what = std::string(what),
                               .partition = partition_name(question, *edited, *policy_state->merged),
                               .pkey = edited->pkey},
                    .done = done_of(question, *edited, *policy_state->merged),
                    .changes = edited->changed};
      });
}

namespace {

std::expected<boost::json::value, Answer> body_of(const Question& question) {
  auto value = parse_body(question.body);
  if (!value) return std::unexpected(bad_body(value.error()));
  return *std::move(value);
}

std::expected<config::MemberRules, Answer> members_of(const Question& question) {
  const auto body = body_of(question);
  if (!body) return std::unexpected(body.error());
  auto members = policy::parse_members(*body);
  if (!members) return std::unexpected(bad_body(members.error()));
  return *std::move(members);
}

std::expected<config::PartitionDefinition, Answer> definition_in(const Question& question) {
  const auto body = body_of(question);
  if (!body) return std::unexpected(body.error());
  auto definition = policy::parse_definition(*body, question.part("partition"));
  if (!definition) return std::unexpected(bad_body(definition.error()));
  return *std::move(definition);
}

Answer remove(const Question& question, Backend& backend, const std::vector<config::PortTerm>& terms) {
  return change_partition(question, backend, "remove members", [&](const policy::EditContext& context) {
    return policy::remove_members(context, question.part("partition"), terms);
  });
}

/// Port GUIDs of the end ports that {"ports": …} names; without it of all.
std::expected<std::set<Guid>, Answer> ports_of(const Question& question, const sm::Snapshot& now) {
  auto term = config::PortTerm{.kind = config::PortTermKind::all};
  const auto body = object_of(question.body, {"ports"});
  if (!body) return std::unexpected(body.error());
  const auto ports_asked = text_in(*body, "ports");
  if (!ports_asked) return std::unexpected(ports_asked.error());
  if (*ports_asked) {
    auto parsed = config::parse_port_term(**ports_asked);
    if (!parsed) return std::unexpected(bad_body(fmt::format("ports: allowed {}", parsed.error().expected)));
    term = *std::move(parsed);
  }
  static const config::PortGroups kNone;
  const auto* partitions = now.decided.partitions.get();
  const auto& groups = partitions != nullptr && partitions->policy ? partitions->policy->groups : kNone;
  if (const auto error = config::check_references({{term}}, groups))
    return std::unexpected(bad_body(fmt::format("ports: {}", to_string(*error))));
  const sm::PolicyPorts fabric(*now.subnet, now.stored.get(), groups, partitions);
  std::set<Guid> ports;
  for (const auto port : fabric.resolve({{term}}).ports) ports.insert(fabric.views()[port].port_guid);
  if (ports.empty())
    return std::unexpected(
        error_of(404, "no_such_port", fmt::format("no port of the fabric is {}", to_string(term))));
  return ports;
}

}  // namespace

Answer put_partition(const Question& question, Backend& backend) {
  const auto definition = definition_in(question);
  if (!definition) return definition.error();
  const auto create = question.query.find("create");
  const bool creates = create != question.query.end();
  if (creates && create->second != "true") return bad_query("create", create->second, "true");
  const auto& none_match = question.request->if_none_match;
  if (!none_match.empty() && none_match != "*")
    return error_of(400, "bad_header", "If-None-Match of a PUT: allowed is *");
  const bool fresh = creates || !none_match.empty();
  const bool only_there = question.request->if_match == "*";
  bool exists = false, missing = false;
  auto answered = change_partition(question, backend, "put", [&](const policy::EditContext& context) {
    missing = only_there && !context.policies.api.contains(question.part("partition"));
    if (missing) return policy::EditResult(std::unexpected(policy::EditError{}));
    auto edited =
        policy::put_partition(context, *definition, fresh ? policy::Put::fresh : policy::Put::replace);
    exists = edited ? !edited->created : edited.error().code == "exists";
    return edited;
  });
  if (missing)
    return error_of(412, "no_such_partition",
                    fmt::format("If-Match: the API has no partition {}", question.part("partition")));
  if (exists && !none_match.empty())
    return error_of(412, "exists", fmt::format("partition {} is there", question.part("partition")));
  return answered;
}

Answer delete_partition(const Question& question, Backend& backend) {
  return change_partition(question, backend, "delete", [&](const policy::EditContext& context) {
    return policy::erase_partition(context, question.part("partition"));
  });
}

Answer post_members(const Question& question, Backend& backend) {
  const auto members = members_of(question);
  if (!members) return members.error();
  return change_partition(question, backend, "add members", [&](const policy::EditContext& context) {
    return policy::add_members(context, question.part("partition"), *members);
  });
}

Answer delete_members(const Question& question, Backend& backend) {
  const auto members = members_of(question);
  if (!members) return members.error();
  std::vector<config::PortTerm> terms;
  for (const auto& member : *members) terms.push_back(member.ports.terms.front());
  return remove(question, backend, terms);
}

Answer delete_member(const Question& question, Backend& backend) {
  const auto term = config::parse_port_term(question.part("member"));
  if (!term) return error_of(400, "bad_member", fmt::format("the member: allowed {}", term.error().expected));
  return remove(question, backend, {*term});
}

Answer post_reindex(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  if (auto refused = hindrance(*chosen->view)) return *std::move(refused);
  if (!chosen->view->snapshot) return not_read(*chosen->view);
  const auto& part = chosen->view->snapshot->decided.partitions;
  if (!part || !part->managed)
    return error_of(409, "not_managed", "no partition is configured: P_Key tables of ports stay as they are");
  const auto ports = ports_of(question, *chosen->view->snapshot);
  if (!ports) return ports.error();
  backend.reindex(chosen->index, *ports);
  return answer_of(Json(JsonObject{{"subnet", text(chosen->view->name)}, {"ports", number(ports->size())}}),
                   202);
}

}  // namespace smd::api
