// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/plan_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "smd/plan/key_changes.h"
#include "smd/report/disruption.h"
#include "smd/report/qos_explanation.h"
#include "smd/report/tally.h"

namespace smd::daemon {
namespace {

constexpr std::size_t kShown = 10;  ///< lines of one kind

void print_sms(std::ostream& out, const sm::Subnet& subnet) {
  for (const auto& other : subnet.other_sms) {
    fmt::print(out, "other SM: {} {} port {}: {}, priority {}, GUID {}, LID {}\n", other.at.node,
               other.node_description, other.at.port, to_string(other.info.state), other.info.priority,
               other.info.guid, other.lid);
  }
}

void print_lids(std::ostream& out, const sm::Subnet& subnet, const sm::Decided& decided) {
  std::size_t new_ones = 0, changed = 0;
  for (const auto& [at, from, to] : sm::lid_changes(subnet, *decided.lids)) {
    new_ones += !from.unicast() ? 1U : 0U;
    if (from.unicast() && changed++ < kShown)
      fmt::print(out, "LID {} would become {}: {}\n", from, to,
                 sm::port_text(*subnet.find(at.node), at.port));
  }
  fmt::print(out, "LIDs in all: {} in use, {} new, {} changed\n", decided.lids->entries.size(), new_ones,
             changed);
}

/// What each end port would lose of its P_Keys; of those that only get some, how many they are.
void print_keys(std::ostream& out, const sm::Subnet& subnet, const sm::Decided& decided) {
  const auto& part = decided.part<wire::PKeyTable>();
  if (!part) return;
  std::size_t losing = 0, gaining = 0;
  for (const auto& change : sm::key_changes(subnet, *part)) {
    if (!change.of_end_port) continue;
    if (change.lost.empty()) {
      ++gaining;
      continue;
    }
    ++losing;
    fmt::print(out, "P_Keys of {}: would lose {}{}{}\n",
               sm::port_text(*subnet.find(change.at.node), change.at.port), fmt::join(change.lost, ","),
               change.gained.empty() ? "" : " and get ", fmt::join(change.gained, ","));
  }
  if (losing + gaining != 0)
    fmt::print(out, "P_Keys in all: {} end ports lose some, {} only get some\n", losing, gaining);
}

/// As `smd qos` of a daemon that has done it.
void print_decided_qos(std::ostream& out, const sm::Subnet& subnet, const sm::Decided& decided) {
  const auto found =
      sm::explain_qos({.subnet = subnet,
                       .decided = decided,
                       .partitions = decided.partitions ? decided.partitions->policy.get() : nullptr});
  if (found.enabled) sm::print_qos(out, found);
}

}  // namespace

void print_plan(std::ostream& out, const sm::Subnet& subnet, const sm::Decided& decided,
                const sm::Plan& plan) {
  out << to_string(sm::disruption_of(subnet, decided, plan));
  print_sms(out, subnet);
  print_lids(out, subnet, decided);
  print_keys(out, subnet, decided);
  print_decided_qos(out, subnet, decided);
  fmt::print(out, "engine: {}; {}\n", decided.routes->engine,
             routing::describe(decided.routes->verification, *decided.routes->topology));
  fmt::print(out,
             "plan: {} Sets in {} rounds, {} LFT blocks, {} known LFT entries changed; nothing is sent\n",
             plan.sets(), plan.rounds.size(), plan.lft_blocks(), plan.lft_entries_changed);
  for (const auto& round : plan.rounds) {
    fmt::print(out, "  {}: {} Sets\n", to_string(round.phase), round.sets());
    for (std::size_t i = 0; i < round.ports.size() && i < kShown; ++i) {
      const auto& item = round.ports[i];
      const auto& node = *subnet.nodes[item.node];
      fmt::print(
          out, "    {}: {}\n", sm::port_text(node, item.port),
          item.target == PortState::no_change ? "PortInfo" : fmt::format("to {}", to_string(item.target)));
    }
    if (round.ports.size() > kShown) fmt::print(out, "    and {} ports more\n", round.ports.size() - kShown);
    const auto& tables = round.items<wire::PKeyTable>();
    for (std::size_t i = 0; i < tables.size() && i < kShown; ++i) {
      fmt::print(out, "    {}: P_Key block {}\n",
                 sm::port_text(*subnet.nodes[tables[i].node], tables[i].port), tables[i].block);
    }
    if (tables.size() > kShown) fmt::print(out, "    and {} P_Key blocks more\n", tables.size() - kShown);
    for (std::size_t i = 0; i < round.ar_infos.size() && i < kShown; ++i) {
      const auto& node = *subnet.nodes[round.ar_infos[i]];
      fmt::print(out, "    {} {}: adaptive routing off\n", node.guid(), node.description);
    }
    if (round.ar_infos.size() > kShown)
      fmt::print(out, "    and {} switches more\n", round.ar_infos.size() - kShown);
    for (std::size_t i = 0; i < round.lfts.size() && i < kShown; ++i) {
      const auto& node = *subnet.nodes[round.lfts[i].node];
      fmt::print(out, "    {} {}: {} blocks\n", node.guid(), node.description, round.lfts[i].writes());
    }
    if (round.lfts.size() > kShown) fmt::print(out, "    and {} switches more\n", round.lfts.size() - kShown);
  }
}

}  // namespace smd::daemon
