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
  if (!view.snapshot || !view.policy_state) return not_read();
  return mastership_hindrance(view, "ask the master");
}

/// What all three begin with.
struct Begun {
  Chosen chosen;
  Asked asked;
  policy::PortAt named;
  const sm::Snapshot& now() const { return *chosen.view->snapshot; }
};

std::expected<Begun, Answer> begin_order(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return std::unexpected(chosen.error());
  if (auto refused = port_hindrance(*chosen->view)) return std::unexpected(*std::move(refused));
  const auto asked = asked_of(question.body);
  if (!asked) return std::unexpected(asked.error());
  const auto named = port_named(*chosen->view->snapshot, question.part("guid"), question.part("number"));
  if (!named) return std::unexpected(named.error());
  return Begun{.chosen = *chosen, .asked = *asked, .named = *named};
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
                                      {"name", text(node->description)},
                                      {"type", text(to_string(node->info.type))}}));
  }
  const auto confirm = confirmation(order);
  return answer_of(Json(JsonObject{{"subnet", text(begun.chosen.view->name)},
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

/// Keeps it, or its end, before the answer.
Answer keep_order(const Question& question, Backend& backend, const PolicyChange::PortChange& port,
                  std::string_view event, const Answer& done,
                  const std::function<bool(policy::DisabledPorts&)>& edit) {
  return change_policies(question, backend, port_hindrance,
                         [&](const SubnetView& view) -> std::expected<Step, Answer> {
                           const auto& policy_state = view.policy_state;
                           auto after = std::make_shared<policy::Policies>(*policy_state->policies);
                           const bool changes = edit(after->disabled_ports);
                           return Step{.change = {.before = nullptr,
                                                  .after = std::move(after),
                                                  .merged = policy_state->merged,
                                                  .what = std::string(event),
                                                  .partition = {},
                                                  .port = port},
                                       .done = done,
                                       .changes = changes};
                         });
}

/// The order by which it was disabled; nothing: it was not.
std::optional<PortOrder> kept_order(const Begun& begun) {
  const auto& disabled = begun.chosen.view->policy_state->policies->disabled_ports;
  const auto at = find_disabled(disabled, begun.named);
  if (at == disabled.end()) return std::nullopt;
  return PortOrder{.named = begun.named, .at = at->first, .peer = at->second.peer, .cut_off = {}};
}

bool is_disabled_there(const Begun& begun, const policy::PortAt& at) {
  const auto* node = begun.now().subnet->find(at.first);
  if (node == nullptr || at.second.value() >= node->ports.size()) return false;
  const auto& port = node->ports[at.second.value()];
  return port.known && port.info.phys_state == PhysState::disabled;
}

}  // namespace

Answer post_port_disable(const Question& question, Backend& backend) {
  const auto begun = begin_order(question, backend);
  if (!begun) return begun.error();
  if (const auto kept = kept_order(*begun)) return done_of(*begun, "disable", *kept, false);
  const auto order = port_order(begun->now(), begun->named);
  if (!order) return order.error();
  auto done = done_of(*begun, "disable", *order, true);
  if (begun->asked.dry_run) return done;
  if (begun->asked.confirm != confirmation(*order) && !order->cut_off.empty())
    return error_of(409, "needs_confirmation",
                    fmt::format("this cuts off {}, which takes the value of confirm that a dry run gives",
                                cut_off_words(*order)));
  const policy::DisabledPort port{
      .peer = order->peer, .by = question.access->name(), .since = question.request->time};
  return keep_order(question, backend, change_of(question, *begun, order->at), "port.disabled", done,
                    [&](policy::DisabledPorts& ports) { return ports.emplace(order->at, port).second; });
}

Answer post_port_enable(const Question& question, Backend& backend) {
  const auto begun = begin_order(question, backend);
  if (!begun) return begun.error();
  const auto kept = kept_order(*begun);
  const auto order = kept.value_or(PortOrder{.named = begun->named, .at = begun->named});
  const bool changes = kept || is_disabled_there(*begun, begun->named);
  auto done = done_of(*begun, "enable", order, changes);
  if (begun->asked.dry_run || !changes) return done;
  const auto port = change_of(question, *begun, order.at);
  auto answer = kept ? keep_order(question, backend, port, "port.enabled", done,
                                  [&](policy::DisabledPorts& ports) { return ports.erase(order.at) != 0; })
                     : done;
  if (answer.status == 200) backend.train(begun->chosen.index, port, "port.enabled");
  return answer;
}

Answer post_port_reset(const Question& question, Backend& backend) {
  const auto begun = begin_order(question, backend);
  if (!begun) return begun.error();
  if (kept_order(*begun)) return error_of(409, "disabled", "the port is disabled: enable it");
  const auto order = port_order(begun->now(), begun->named);
  if (!order) return order.error();
  if (order->peer.first == Guid{}) return error_of(409, "no_link", "the port has no link");
  auto done = done_of(*begun, "reset", *order, true, begun->asked.dry_run ? 200 : 202);
  if (!begun->asked.dry_run)
    backend.train(begun->chosen.index, change_of(question, *begun, order->at), "port.reset");
  return done;
}

}  // namespace smd::api
