// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/part_kind.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "smd/decide/multicast.h"
#include "smd/plan/client_rounds.h"
#include "smd/plan/mft_rounds.h"
#include "smd/plan/pkey_rounds.h"
#include "smd/plan/qos_rounds.h"
#include "smd/plan/retrain.h"
#include "smd/plan/table_rounds.h"
#include "smd/plan/top_round.h"
#include "smd/plan/vl_moves.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline reconciling {
namespace {

using Result = std::expected<Decision, routing::RouteError>;

Decision as_before(const DecideInput& in) {
  return {.decided = in.previous != nullptr ? *in.previous : Decided{}, .times = {}};
}

Plan of_round(Round round) {
  Plan plan;
  plan.append(std::move(round));
  return plan;
}

Result decide_fabric(const DecideInput& in, const PartRequests& /*requests*/) { return decide(in); }

/// A port that is to be disabled goes down before any other is brought up.
Plan plan_fabric(const PlanInput& in, const PartRequests& requests, const routing::Parallel& parallel,
                 const std::stop_token& stop) {
  auto made = plan(in, parallel, stop);
  auto disabled = port_orders_round(in, {.disabled = requests.ports.disabled, .train = {}});
  if (disabled.sets() != 0) made.rounds.insert(made.rounds.begin(), std::move(disabled));
  return made;
}

Result decide_partitions_alone(const DecideInput& in, const PartRequests& requests) {
  auto decision = as_before(in);
  decide_partitions(in, in.previous != nullptr ? *in.previous : Decided{}, decision.decided,
                    requests.reindex);
  return decision;
}

Plan plan_partitions(const PlanInput& in, const PartRequests& /*requests*/,
                     const routing::Parallel& /*parallel*/, const std::stop_token& /*stop*/) {
  Plan plan;
  auto pkeys = pkey_rounds(in);
  for (auto& round : pkeys.widen) plan.append(std::move(round));
  plan.append(enforcement_round(in));
  for (auto& round : pkeys.narrow) plan.append(std::move(round));
  return plan;
}

Result decide_qos_alone(const DecideInput& in, const PartRequests& /*requests*/) {
  auto decision = as_before(in);
  if (decision.decided.links)
    decide_qos_tables(in, in.previous != nullptr ? *in.previous : Decided{}, decision.decided);
  return decision;
}

Plan plan_qos(const PlanInput& in, const PartRequests& /*requests*/, const routing::Parallel& parallel,
              const std::stop_token& stop) {
  Plan plan;
  auto rounds = qos_rounds(in);
  append_in_steps(plan, std::move(rounds.before), vl_moves(in, parallel, stop));
  plan.append(std::move(rounds.after));
  return plan;
}

Result decide_groups(const DecideInput& in, const PartRequests& /*requests*/) {
  auto decision = as_before(in);
  auto& decided = decision.decided;
  if (decided.routes) decided.multicast = decide_multicast(in, *decided.routes);
  return decision;
}

Plan plan_groups(const PlanInput& in, const PartRequests& /*requests*/, const routing::Parallel& /*parallel*/,
                 const std::stop_token& /*stop*/) {
  auto plan = of_round(top_round(in));
  for (auto& round : mft_rounds(in)) plan.rounds.push_back(std::move(round));
  return plan;
}

Result decide_alias_guids(const DecideInput& in, const PartRequests& requests) {
  auto decision = as_before(in);
  decision.decided.part<wire::GuidInfo>() =
      std::make_shared<const TablePart<wire::GuidInfo>>(decide_guids(in.subnet, requests.guids));
  return decision;
}

Plan plan_alias_guids(const PlanInput& in, const PartRequests& /*requests*/,
                      const routing::Parallel& /*parallel*/, const std::stop_token& /*stop*/) {
  return of_round(table_round(in, Phase::guid_info));
}

Result decide_nothing(const DecideInput& in, const PartRequests& /*requests*/) { return as_before(in); }

Plan plan_clients(const PlanInput& in, const PartRequests& requests, const routing::Parallel& /*parallel*/,
                  const std::stop_token& /*stop*/) {
  return of_round(reregister_round(in, requests.clients));
}

Plan plan_links_down(const PlanInput& /*in*/, const PartRequests& requests,
                     const routing::Parallel& /*parallel*/, const std::stop_token& /*stop*/) {
  return of_round(retrain_round(requests.links_down));
}

Plan plan_ports(const PlanInput& in, const PartRequests& requests, const routing::Parallel& /*parallel*/,
                const std::stop_token& /*stop*/) {
  return of_round(port_orders_round(in, requests.ports));
}

void take_reindex(PartRequests& requests, const Subnet& /*subnet*/) { requests.reindex.clear(); }

void take_clients(PartRequests& requests, const Subnet& /*subnet*/) { requests.clients.clear(); }

void take_links_down(PartRequests& requests, const Subnet& /*subnet*/) { requests.links_down.clear(); }

/// Ports to be trained whose node is not there wait for it.
void take_ports(PartRequests& requests, const Subnet& subnet) {
  std::erase_if(requests.ports.train, [&](const auto& port) { return subnet.find(port.first) != nullptr; });
}

constexpr std::array kKinds{
    PartKind{.part = Part::fabric,
             .name = "fabric",
             .attempts = 3,
             .whole = true,
             .uses_groups = true,
             .decide = decide_fabric,
             .plan = plan_fabric},
    PartKind{.part = Part::partitions,
             .name = "partitions",
             .attempts = 3,
             .binds = true,
             .logs_changes = true,
             .gives_way = false,
             .take = take_reindex,
             .decide = decide_partitions_alone,
             .plan = plan_partitions},
    PartKind{.part = Part::qos,
             .name = "qos",
             .attempts = 3,
             .logs_changes = true,
             .gives_way = false,
             .decide = decide_qos_alone,
             .plan = plan_qos},
    PartKind{.part = Part::multicast,
             .name = "multicast",
             .attempts = 3,
             .uses_groups = true,
             .gives_way = false,
             .decide = decide_groups,
             .plan = plan_groups},
    PartKind{.part = Part::guids,
             .name = "guids",
             .is_asked = [](const PartRequests& requests) { return !requests.guids.empty(); },
             .decide = decide_alias_guids,
             .plan = plan_alias_guids},
    PartKind{.part = Part::clients,
             .name = "clients",
             .is_asked = [](const PartRequests& requests) { return !requests.clients.empty(); },
             .take = take_clients,
             .decide = decide_nothing,
             .plan = plan_clients},
    PartKind{.part = Part::ports,
             .name = "ports",
             .gives_way = false,
             .is_asked = [](const PartRequests& requests) { return !requests.ports.none(); },
             .take = take_ports,
             .decide = decide_nothing,
             .plan = plan_ports},
    PartKind{.part = Part::retraining,
             .name = "retraining",
             .gives_way = false,
             .take = take_links_down,
             .decide = decide_nothing,
             .plan = plan_links_down},
};

/// The key of a block in GuidRequests.
std::pair<Guid, std::uint8_t> request_of(const Node& node, PortNum port, std::size_t block) {
  return {port_guid(node, port), static_cast<std::uint8_t>(block)};
}

}  // namespace

const PartKind& part_kind(Part part) {
  static_assert([] {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (kKinds[i].part != static_cast<Part>(i)) return false;
    }
    return true;
  }());
  return kKinds[static_cast<std::size_t>(part)];
}

GuidRequests remaining(GuidRequests requests, const GuidRequests& decided_on,
                       const TablePart<wire::GuidInfo>& part, const Subnet& subnet,
                       const TableAnswers<wire::GuidInfo>& answers) {
  std::set<std::pair<Guid, std::uint8_t>> pending;
  for (const auto& block : part.blocks) {
    const auto& node = *subnet.find(block.at.node);
    const auto& held = node.ports[block.at.port.value()].held<wire::GuidInfo>();
    // A Set that was not sent leaves what was written earlier: known, and not what is asked for now.
    const bool holds = held && held->known.test(block.block) && held->row[block.block] == block.content;
    if (!holds) pending.insert(request_of(node, block.at.port, block.block));
  }
  for (const auto& answer : answers) {
    if (answer.held) pending.erase(request_of(*subnet.nodes[answer.node], answer.port, answer.block));
  }
  for (const auto& [key, guids] : decided_on) {
    const auto now = requests.find(key);
    if (now != requests.end() && now->second == guids && !pending.contains(key)) requests.erase(now);
  }
  return requests;
}

}  // namespace smd::sm::inline reconciling
