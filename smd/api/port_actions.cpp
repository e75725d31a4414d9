// SPDX-License-Identifier: Apache-2.0
// A port is disabled, enabled or reset by an operator. That it is to be disabled is kept before it is
// answered.
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/json_in.h"
#include "smd/api/json_out.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/policy_change.h"
#include "smd/api/port_order.h"
#include "smd/api/tag.h"
#include "smd/report/description.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

/// Nodes that an answer names.
constexpr std::size_t kMostCutOff = 100;

struct Asked {
  bool dry_run = false;
  std::string confirm;
};

std::expected<Asked, Answer> asked_of(std::string_view body) {
  const auto object = object_of(body, {"dry_run", "confirm"});
  if (!object) return std::unexpected(object.error());
  const auto dry_run = dry_run_in(*object);
  if (!dry_run) return std::unexpected(dry_run.error());
  const auto confirm = text_in(*object, "confirm");
  if (!confirm) return std::unexpected(confirm.error());
  return Asked{.dry_run = *dry_run, .confirm = confirm->value_or("")};
}

std::optional<Answer> port_hindrance(const SubnetView& view) {
  if (!view.snapshot || !view.policy_state) return not_read(view);
  return mastership_hindrance(view, "ask the master");
}

/// What all three begin with, of one state of the subnet.
struct Begun {
  const SubnetView& view;
  Asked asked;
  policy::PortAt named;
  const sm::Snapshot& now() const { return *view.snapshot; }
  const policy::DisabledPorts& kept() const { return view.policy_state->policies->disabled_ports; }
};

std::expected<Chosen, Answer> choose_for_order(const Question& question, Backend& backend) {
  auto chosen = choose(question, backend);
  if (!chosen) return std::unexpected(chosen.error());
  if (auto refused = port_hindrance(*chosen->view)) return std::unexpected(*std::move(refused));
  return *std::move(chosen);
}

/// `view` has no hindrance, and outlives what is returned.
std::expected<Begun, Answer> begin_order(const Question& question, const SubnetView& view) {
  const auto asked = asked_of(question.body);
  if (!asked) return std::unexpected(asked.error());
  const auto named = port_named(*view.snapshot, question.part("guid"), question.part("number"));
  if (!named) return std::unexpected(named.error());
  return Begun{.view = view, .asked = *asked, .named = *named};
}

Json port_end_json(const sm::Snapshot& now, const policy::PortAt& at) {
  return at.first == Guid{} ? Json{} : end_json(now, {at.first, at.second});
}

Answer done_of(const Begun& begun, std::string_view action, const PortOrder& order, bool changed,
               unsigned status = 200) {
  JsonArray cut_off;
  for (const auto* node : order.cut_off) {
    if (cut_off.size() == kMostCutOff) break;
    cut_off.push_back(Json(JsonObject{{"guid", guid(node->guid())},
                                      {"name", text(sm::raw_name(*node))},
                                      {"type", text(to_string(node->info.type))}}));
  }
  const auto confirm = confirmation(order);
  return answer_of(Json(JsonObject{{"subnet", text(begun.view.name)},
                                   {"action", text(action)},
                                   {"port", port_end_json(begun.now(), order.named)},
                                   {"at", port_end_json(begun.now(), order.at)},
                                   {"peer", port_end_json(begun.now(), order.peer)},
                                   {"dry_run", Json(begun.asked.dry_run)},
                                   {"changed", Json(changed)},
                                   {"cut_off_count", number(order.cut_off.size())},
                                   {"cut_off", Json(std::move(cut_off))},
                                   {"confirm", confirm.empty() ? Json{} : text(confirm)}}),
                   status);
}

PolicyChange::PortChange change_of(const Question& question, const Begun& begun, const policy::PortAt& at) {
  return {.at = at, .name = name_of(begun.now(), at.first), .by = question.access->name()};
}

/// Keeps `disabled` instead of what is kept, before the answer.
Step step_of(const Begun& begun, const PolicyChange::PortChange& port, std::string_view event, Answer done,
             policy::DisabledPorts disabled) {
  const auto& policy_state = begun.view.policy_state;
  auto after = std::make_shared<policy::Policies>(*policy_state->policies);
  after->disabled_ports = std::move(disabled);
  return {.change = {.before = nullptr,
                     .after = std::move(after),
                     .merged = policy_state->merged,
                     .what = std::string(event),
                     .partition = {},
                     .port = port},
          .done = std::move(done)};
}

Step nothing_to_keep(Answer done) {
  return {.change = {.before = nullptr, .after = nullptr, .merged = nullptr, .what = {}, .partition = {}},
          .done = std::move(done),
          .changes = false};
}

/// The order by which it was disabled; nothing: it was not.
std::optional<PortOrder> kept_order(const Begun& begun) {
  const auto at = find_disabled(begun.kept(), begun.named);
  if (at == begun.kept().end()) return std::nullopt;
  return PortOrder{.named = begun.named, .at = at->first, .peer = at->second.peer, .cut_off = {}};
}

bool is_disabled_there(const Begun& begun, const policy::PortAt& at) {
  const auto* node = begun.now().subnet->find(at.first);
  if (node == nullptr || at.second.value() >= node->ports.size()) return false;
  const auto& port = node->ports[at.second.value()];
  return port.known && port.info.phys_state == PhysState::disabled;
}

/// What is cut off depends on the orders that are kept by then: it is decided from those which it is added
/// to.
std::expected<Step, Answer> disable_in(const Question& question, const SubnetView& view) {
  const auto begun = begin_order(question, view);
  if (!begun) return std::unexpected(begun.error());
  if (const auto kept = kept_order(*begun)) return nothing_to_keep(done_of(*begun, "disable", *kept, false));
  const auto order = port_order(begun->now(), begun->kept(), begun->named);
  if (!order) return std::unexpected(order.error());
  auto done = done_of(*begun, "disable", *order, true);
  if (begun->asked.dry_run) return nothing_to_keep(std::move(done));
  if (begun->asked.confirm != confirmation(*order) && !order->cut_off.empty())
    return std::unexpected(
        error_of(409, "needs_confirmation",
                 fmt::format("this cuts off {}, which takes the value of confirm that a dry run gives",
                             cut_off_words(*order))));
  auto ports = begun->kept();
  ports.emplace(order->at,
                policy::DisabledPort{
                    .peer = order->peer, .by = question.access->name(), .since = question.request->time});
  return step_of(*begun, change_of(question, *begun, order->at), "port.disabled", std::move(done),
                 std::move(ports));
}

/// Takes out the order that is kept.
std::expected<Step, Answer> enable_in(const Question& question, const SubnetView& view) {
  const auto begun = begin_order(question, view);
  if (!begun) return std::unexpected(begun.error());
  const auto kept = kept_order(*begun);
  if (!kept)  // another call has enabled it since
    return nothing_to_keep(done_of(*begun, "enable", {.named = begun->named, .at = begun->named}, false));
  auto ports = begun->kept();
  ports.erase(kept->at);
  return step_of(*begun, change_of(question, *begun, kept->at), "port.enabled",
                 done_of(*begun, "enable", *kept, true), std::move(ports));
}

/// Of two callers that have decided by the same state the second one is told: the router has compared the tag
/// before the order of the first was kept.
Answer keep_order(const Question& question, Backend& backend,
                  std::expected<Step, Answer> (*make)(const Question&, const SubnetView&)) {
  return change_policies(question, backend, port_hindrance,
                         [&](const SubnetView& view) -> std::expected<Step, Answer> {
                           if (auto other = not_that_state(*question.request, view))
                             return std::unexpected(*std::move(other));
                           return make(question, view);
                         });
}

}  // namespace

Answer post_port_disable(const Question& question, Backend& backend) {
  const auto chosen = choose_for_order(question, backend);
  if (!chosen) return chosen.error();
  const auto begun = begin_order(question, *chosen->view);
  if (!begun) return begun.error();
  if (!begun->asked.dry_run) return keep_order(question, backend, disable_in);
  const auto step = disable_in(question, *chosen->view);
  return step ? step->done : step.error();
}

Answer post_port_enable(const Question& question, Backend& backend) {
  const auto chosen = choose_for_order(question, backend);
  if (!chosen) return chosen.error();
  const auto begun = begin_order(question, *chosen->view);
  if (!begun) return begun.error();
  const auto kept = kept_order(*begun);
  const auto order = kept.value_or(PortOrder{.named = begun->named, .at = begun->named});
  const bool changes = kept || is_disabled_there(*begun, begun->named);
  auto done = done_of(*begun, "enable", order, changes);
  if (begun->asked.dry_run || !changes) return done;
  auto answer = kept ? keep_order(question, backend, enable_in) : done;
  if (answer.status == 200)
    backend.train(chosen->index, change_of(question, *begun, order.at), "port.enabled");
  return answer;
}

Answer post_port_reset(const Question& question, Backend& backend) {
  const auto chosen = choose_for_order(question, backend);
  if (!chosen) return chosen.error();
  const auto begun = begin_order(question, *chosen->view);
  if (!begun) return begun.error();
  if (kept_order(*begun)) return error_of(409, "disabled", "the port is disabled: enable it");
  const auto order = port_order(begun->now(), begun->kept(), begun->named);
  if (!order) return order.error();
  if (order->peer.first == Guid{}) return error_of(409, "no_link", "the port has no link");
  auto done = done_of(*begun, "reset", *order, true, begun->asked.dry_run ? 200 : 202);
  if (!begun->asked.dry_run)
    backend.train(chosen->index, change_of(question, *begun, order->at), "port.reset");
  return done;
}

}  // namespace smd::api
