// SPDX-License-Identifier: Apache-2.0
// /metrics: what the SM knows, by the names of github.com/treydock/infiniband_exporter where that has them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "smd/api/handlers.h"
#include "smd/api/scrape.h"
#include "smd/inventory/losses.h"
#include "smd/report/description.h"

namespace smd::api {
namespace {

using Form = Exposition::Kind;

/// Calls fn(subnet, node) for each node of the type; routers count as adapters.
template <class Fn>
void for_each_node(const Scrape& scrape, bool switches, Fn fn) {
  for (const auto& subnet : scrape.subnets) {
    if (subnet.now() == nullptr) continue;
    for (const auto& node : subnet.now()->subnet->nodes) {
      if (node->is_switch() == switches && scrape.wants(*node)) fn(subnet, *node);
    }
  }
}

std::string_view kind_of(const sm::Node& node) { return node.is_switch() ? "SW" : "CA"; }

std::string lid_text(const sm::Node& node, std::size_t port) {
  const auto index = node.is_switch() ? std::size_t{0} : port;
  return index < node.ports.size() ? fmt::format("{}", node.ports[index].info.lid.value()) : "0";
}

/// The first port with a LID.
std::string lid_text(const sm::Node& node) {
  for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
    if (node.ports[p].info.lid != Lid{}) return lid_text(node, p);
  }
  return "0";
}

void write_info(Scrape& scrape, bool switches) {
  const auto* name = switches ? "switch" : "hca";
  if (!scrape.out.family(fmt::format("infiniband_{}_info", name), Form::gauge,
                         switches ? "A switch of the fabric" : "An adapter or router of the fabric"))
    return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    const auto lid = lid_text(node);
    scrape.out.sample(
        {{subnet.label, subnet.view->name}, {"guid", guid}, {name, node.description}, {"lid", lid}}, 1);
  });
}

void write_uplinks(Scrape& scrape, bool switches) {
  const auto* name = switches ? "switch" : "hca";
  if (!scrape.out.family(fmt::format("infiniband_{}_uplink_info", name), Form::gauge,
                         "What is at the other end of a port's cable"))
    return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      const auto* other = peer && node.ports[p].linked() ? subnet.now()->subnet->find(peer->node) : nullptr;
      if (other == nullptr) continue;
      const auto port = fmt::format("{}", p), there = fmt::format("{}", peer->port.value());
      const auto other_guid = fmt::format("{}", other->guid());
      const auto lid = lid_text(*other, peer->port.value());
      scrape.out.sample({{subnet.label, subnet.view->name},
                         {"guid", guid},
                         {"port", port},
                         {name, node.description},
                         {"uplink", other->description},
                         {"uplink_guid", other_guid},
                         {"uplink_type", kind_of(*other)},
                         {"uplink_port", there},
                         {"uplink_lid", lid}},
                        1);
    }
  });
}

/// Of switches by port; of adapters, as the exporter has it, by node: that of the first port with a link.
void write_rates(Scrape& scrape, bool switches, double Rate::* member, std::string_view what,
                 std::string_view help) {
  const auto name = switches ? fmt::format("infiniband_switch_port_{}_bytes_per_second", what)
                             : fmt::format("infiniband_hca_{}_bytes_per_second", what);
  if (!scrape.out.family(name, Form::gauge, help)) return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto rate = port_rate(node.ports[p]);
      if (!rate) continue;
      const auto port = fmt::format("{}", p);
      scrape.out.sample({{subnet.label, subnet.view->name}, {"guid", guid}, {switches ? "port" : "", port}},
                        (*rate).*member);
      if (!switches) break;
    }
  });
}

/// Samples of one family that each subnet has one of.
template <class Fn>
void write_one(Scrape& scrape, std::string_view name, Form kind, std::string_view help, Fn value) {
  if (!scrape.out.family(name, kind, help)) return;
  for (const auto& subnet : scrape.subnets) {
    if (subnet.now() != nullptr)
      scrape.out.sample({{subnet.label, subnet.view->name}}, static_cast<double>(value(subnet)));
  }
}

void write_sm(Scrape& scrape) {
  if (scrape.out.family("smd_sm_state", Form::gauge, "1 for the state that this SM is in")) {
    for (const auto& subnet : scrape.subnets) {
      const auto is = !is_running(*subnet.view) ? wire::SmState::not_active
                      : subnet.view->sms        ? subnet.view->sms->state.sm
                                                : subnet.now()->state;
      for (const auto& [state, word] : {std::pair(wire::SmState::master, "master"),
                                        {wire::SmState::standby, "standby"},
                                        {wire::SmState::discovering, "discovering"},
                                        {wire::SmState::not_active, "not_active"}})
        scrape.out.sample({{subnet.label, subnet.view->name}, {"state", word}}, is == state ? 1 : 0);
    }
  }
  if (scrape.out.family("smd_sweeps_off", Form::gauge, "1 while an operator keeps sweeps off, else 0")) {
    for (const auto& subnet : scrape.subnets)
      scrape.out.sample({{subnet.label, subnet.view->name}}, sweeps_are_off(*subnet.view) ? 1 : 0);
  }
  if (scrape.out.family("smd_subnet_state", Form::gauge,
                        "1 for the state of the subnet after the last sweep")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      for (const auto state : {sm::SweepState::up, sm::SweepState::reduced, sm::SweepState::degraded,
                               sm::SweepState::failed, sm::SweepState::standby})
        scrape.out.sample({{subnet.label, subnet.view->name}, {"state", to_string(state)}},
                          subnet.now()->summary.state == state ? 1 : 0);
    }
  }
}

void write_sweep(Scrape& scrape) {
  if (scrape.out.family("smd_sweep_duration_seconds", Form::gauge, "The last sweep, and the phases of it")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      const auto& last = subnet.now()->summary;
      for (const auto& [phase, ms] : {std::pair("total", last.total_ms),
                                      {"discover", last.discover_ms},
                                      {"decide", last.decide_ms},
                                      {"apply", last.apply_ms}})
        scrape.out.sample(
            {{subnet.label, subnet.view->name}, {"type", to_string(last.sweep)}, {"phase", phase}}, ms / 1e3);
    }
  }
  if (scrape.out.family("smd_routing_duration_seconds", Form::gauge,
                        "Routing in the last sweep; 0: nothing to do")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() != nullptr)
        scrape.out.sample({{subnet.label, subnet.view->name}, {"engine", subnet.now()->summary.engine}},
                          subnet.now()->summary.route_ms / 1e3);
    }
  }
}

void write_counts(Scrape& scrape) {
  const auto summary = [&](std::string_view name, std::uint64_t sm::SweepSummary::* member,
                           std::string_view help) {
    write_one(scrape, name, Form::gauge, help,
              [&](const Scraped& subnet) { return subnet.now()->summary.*member; });
  };
  summary("smd_switches", &sm::SweepSummary::switches, "Switches of the fabric");
  summary("smd_hcas", &sm::SweepSummary::cas, "Adapters of the fabric");
  summary("smd_routers", &sm::SweepSummary::routers, "Routers of the fabric");
  summary("smd_links", &sm::SweepSummary::links, "Cables, each counted once");
  summary("smd_lids", &sm::SweepSummary::lids, "LIDs in use");
  summary("smd_unresponsive_nodes", &sm::SweepSummary::unresponsive, "Nodes that do not answer");
  if (scrape.out.family("smd_ports", Form::gauge, "Ports with a link, by whether they are Active")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      const auto& last = subnet.now()->summary;
      scrape.out.sample({{subnet.label, subnet.view->name}, {"state", "active"}},
                        static_cast<double>(last.ports_active));
      scrape.out.sample({{subnet.label, subnet.view->name}, {"state", "not_active"}},
                        static_cast<double>(last.ports_not_active));
    }
  }
  if (scrape.out.family("smd_links_degraded", Form::gauge, "Links that run at less than both ends can")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      const auto links = sm::degraded_links(*subnet.now()->subnet);
      const auto narrow = std::ranges::count_if(links, &sm::DegradedLink::is_narrow);
      scrape.out.sample({{subnet.label, subnet.view->name}, {"reason", "width"}},
                        static_cast<double>(narrow));
      scrape.out.sample({{subnet.label, subnet.view->name}, {"reason", "speed"}},
                        static_cast<double>(links.size()) - static_cast<double>(narrow));
    }
  }
  const auto lost = [](const Scraped& subnet) { return subnet.now()->summary.lost; };
  write_one(scrape, "smd_lost_switches", Form::gauge, "Switches that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).switches; });
  write_one(scrape, "smd_lost_hosts", Form::gauge, "Adapters and routers that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).hosts; });
  write_one(scrape, "smd_lost_links", Form::gauge, "Links that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).links; });
  write_one(scrape, "smd_mcast_groups", Form::gauge, "Multicast groups", [](const Scraped& subnet) {
    return subnet.view->registry ? subnet.view->registry->groups().size() : std::size_t{0};
  });
}

void write_totals(Scrape& scrape) {
  write_one(scrape, "smd_traps_received_total", Form::counter, "Traps since the start",
            [](const Scraped& subnet) { return activity_of(*subnet.view).traps; });
  write_one(scrape, "smd_smps_total", Form::counter, "SMPs sent since the start",
            [](const Scraped& subnet) { return activity_of(*subnet.view).smps; });
  write_one(scrape, "smd_smp_timeouts_total", Form::counter, "SMPs without an answer since the start",
            [](const Scraped& subnet) { return activity_of(*subnet.view).smp_timeouts; });
  if (scrape.out.family("smd_replica_lag_transactions", Form::gauge,
                        "Transactions that a standby (guid) lacks of what this SM has committed")) {
    for (const auto& subnet : scrape.subnets) {
      if (!subnet.view->replica) continue;
      for (const auto& standby : subnet.view->replica->standbys) {
        const auto port = fmt::format("{}", standby.port);
        scrape.out.sample({{subnet.label, subnet.view->name}, {"guid", port}},
                          static_cast<double>(standby.behind));
      }
    }
  }
}

void write_process(Scrape& scrape) {
  if (scrape.out.family("smd_info", Form::gauge, "The version of smd"))
    scrape.out.sample({{"version", scrape.info.version}}, 1);
  if (scrape.out.family("smd_start_time_seconds", Form::gauge, "When smd began, in seconds since 1970"))
    scrape.out.sample({}, std::chrono::duration<double>(scrape.info.started.time_since_epoch()).count());
}

template <bool switches>
void write_data_rates(Scrape& scrape) {
  write_rates(scrape, switches, &Rate::data, "rate", "Bytes a second that the link carries");
}
template <bool switches>
void write_raw_rates(Scrape& scrape) {
  write_rates(scrape, switches, &Rate::raw, "raw_rate",
              "Bytes a second on the wire, with the code's overhead");
}

constexpr std::array<Families, 13> kAllFamilies{write_process,
                                                write_sm,
                                                write_sweep,
                                                write_counts,
                                                write_totals,
                                                [](Scrape& scrape) { write_info(scrape, true); },
                                                [](Scrape& scrape) { write_uplinks(scrape, true); },
                                                write_data_rates<true>,
                                                write_raw_rates<true>,
                                                [](Scrape& scrape) { write_info(scrape, false); },
                                                [](Scrape& scrape) { write_uplinks(scrape, false); },
                                                write_data_rates<false>,
                                                write_raw_rates<false>};

}  // namespace

Answer get_metrics(const Question& question, Backend& backend) {
  return scrape(question, backend, kAllFamilies);
}

}  // namespace smd::api
