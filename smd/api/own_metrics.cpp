// SPDX-License-Identifier: Apache-2.0
#include "smd/api/own_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "mad/wire/mad.h"
#include "smd/api/handlers.h"
#include "smd/api/own_families.h"
#include "smd/inventory/losses.h"
#include "smd/report/description.h"

namespace smd::api {
namespace {

using prometheus::MetricType;

/// Samples of one family that each subnet has one of.
template <class Fn>
void write_one(const Scrape& scrape, OwnFamilies& own, std::string_view name, MetricType kind,
               std::string_view help, Fn value) {
  if (!own.family(name, kind, help)) return;
  for (const auto& subnet : scrape.subnets) {
    if (subnet.now() != nullptr)
      own.sample({{subnet.label, subnet.view->name}}, static_cast<double>(value(subnet)));
  }
}

void write_sm(const Scrape& scrape, OwnFamilies& own) {
  if (own.family("smd_sm_state", MetricType::Gauge, "1 for the state that this SM is in")) {
    for (const auto& subnet : scrape.subnets) {
      const auto is = !is_running(*subnet.view) ? wire::SmState::not_active
                      : subnet.view->sms        ? subnet.view->sms->state.sm
                                                : subnet.now()->state;
      for (const auto& [state, word] : {std::pair(wire::SmState::master, "master"),
                                        {wire::SmState::standby, "standby"},
                                        {wire::SmState::discovering, "discovering"},
                                        {wire::SmState::not_active, "not_active"}})
        own.sample({{subnet.label, subnet.view->name}, {"state", word}}, is == state ? 1 : 0);
    }
  }
  if (own.family("smd_sweeps_off", MetricType::Gauge, "1 while an operator keeps sweeps off, else 0")) {
    for (const auto& subnet : scrape.subnets)
      own.sample({{subnet.label, subnet.view->name}}, sweeps_are_off(*subnet.view) ? 1 : 0);
  }
  if (own.family("smd_subnet_state", MetricType::Gauge,
                 "1 for the state of the subnet after the last sweep")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      for (const auto state : {sm::SweepState::up, sm::SweepState::reduced, sm::SweepState::degraded,
                               sm::SweepState::failed, sm::SweepState::standby})
        own.sample({{subnet.label, subnet.view->name}, {"state", to_string(state)}},
                   subnet.now()->summary.state == state ? 1 : 0);
    }
  }
}

void write_sweep(const Scrape& scrape, OwnFamilies& own) {
  if (own.family("smd_sweep_duration_seconds", MetricType::Gauge, "The last sweep of each type")) {
    for (const auto& subnet : scrape.subnets) {
      for (const auto& [kind, ms] : activity_of(*subnet.view).sweeps.last_ms)
        own.sample({{subnet.label, subnet.view->name}, {"type", to_string(kind)}}, ms / 1e3);
    }
  }
  if (own.family("smd_sweep_phase_duration_seconds", MetricType::Gauge,
                 "The phases of the last heavy or incremental sweep")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      const auto& last = subnet.now()->summary;
      for (const auto& [phase, ms] :
           {std::pair("discover", last.discover_ms), {"decide", last.decide_ms}, {"apply", last.apply_ms}})
        own.sample({{subnet.label, subnet.view->name}, {"type", to_string(last.sweep)}, {"phase", phase}},
                   ms / 1e3);
    }
  }
  if (own.family("smd_routing_duration_seconds", MetricType::Gauge,
                 "Routing in the last sweep; 0: nothing to do")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() != nullptr)
        own.sample({{subnet.label, subnet.view->name}, {"engine", subnet.now()->summary.engine}},
                   subnet.now()->summary.route_ms / 1e3);
    }
  }
}

void write_counts(const Scrape& scrape, OwnFamilies& own) {
  const auto summary = [&](std::string_view name, std::uint64_t sm::SweepSummary::* member,
                           std::string_view help) {
    write_one(scrape, own, name, MetricType::Gauge, help,
              [&](const Scraped& subnet) { return subnet.now()->summary.*member; });
  };
  summary("smd_switches", &sm::SweepSummary::switches, "Switches of the fabric");
  summary("smd_hcas", &sm::SweepSummary::cas, "Adapters of the fabric");
  summary("smd_routers", &sm::SweepSummary::routers, "Routers of the fabric");
  summary("smd_links", &sm::SweepSummary::links, "Cables, each counted once");
  summary("smd_lids", &sm::SweepSummary::lids, "LIDs in use");
  summary("smd_unresponsive_nodes", &sm::SweepSummary::unresponsive, "Nodes that do not answer");
  if (own.family("smd_links_degraded", MetricType::Gauge, "Links that run at less than both ends can")) {
    for (const auto& subnet : scrape.subnets) {
      if (subnet.now() == nullptr) continue;
      const auto links = sm::degraded_links(*subnet.now()->subnet);
      const auto narrow = std::ranges::count_if(links, &sm::DegradedLink::is_narrow);
      own.sample({{subnet.label, subnet.view->name}, {"reason", "width"}}, static_cast<double>(narrow));
      own.sample({{subnet.label, subnet.view->name}, {"reason", "speed"}},
                 static_cast<double>(links.size()) - static_cast<double>(narrow));
    }
  }
  const auto lost = [](const Scraped& subnet) { return subnet.now()->summary.lost; };
  write_one(scrape, own, "smd_lost_switches", MetricType::Gauge, "Switches that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).switches; });
  write_one(scrape, own, "smd_lost_hosts", MetricType::Gauge,
            "Adapters and routers that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).hosts; });
  write_one(scrape, own, "smd_lost_links", MetricType::Gauge, "Links that were there and are missing",
            [&](const Scraped& subnet) { return lost(subnet).links; });
  write_one(scrape, own, "smd_mcast_groups", MetricType::Gauge, "Multicast groups",
            [](const Scraped& subnet) {
              return subnet.view->registry ? subnet.view->registry->groups().size() : std::size_t{0};
            });
}

void write_totals(const Scrape& scrape, OwnFamilies& own) {
  const auto total = [&](std::string_view name, std::string_view help, auto value) {
    write_one(scrape, own, name, MetricType::Counter, help,
              [&](const Scraped& subnet) { return value(activity_of(*subnet.view)); });
  };
  total("smd_sweeps_total", "Sweeps since the start",
        [](const sm::Activity& all) { return all.sweeps.sweeps; });
  total("smd_lft_blocks_written_total", "Blocks of 64 entries of forwarding tables that were written",
        [](const sm::Activity& all) { return all.lft_blocks; });
  total("smd_smps_total", "SMPs sent since the start", [](const sm::Activity& all) { return all.smps; });
  write_one(scrape, own, "smd_smp_outstanding", MetricType::Gauge, "SMPs that wait for their answer now",
            [](const Scraped& subnet) {
              const auto open = activity_of(*subnet.view).smps_open;
              return open ? open->get() : 0;
            });
}

void write_replica(const Scrape& scrape, OwnFamilies& own) {
  if (own.family("smd_replica_standbys", MetricType::Gauge, "Standbys that copy the state of this master")) {
    for (const auto& subnet : scrape.subnets) {
      const auto& replica = subnet.view->replica;
      if (!replica || sm_state(*subnet.view) != wire::SmState::master) continue;
      const auto copying = std::ranges::count_if(replica->standbys, [&](const auto& standby) {
        return standby.acked.epoch == replica->latest.epoch;  // else it has nothing of this mastership yet
      });
      own.sample({{subnet.label, subnet.view->name}}, static_cast<double>(copying));
    }
  }
  if (own.family("smd_replica_lag_transactions", MetricType::Gauge,
                 "Transactions that a standby (guid) lacks of what this SM has committed")) {
    for (const auto& subnet : scrape.subnets) {
      if (!subnet.view->replica) continue;
      for (const auto& standby : subnet.view->replica->standbys) {
        const auto port = fmt::format("{}", standby.port);
        own.sample({{subnet.label, subnet.view->name}, {"guid", port}}, static_cast<double>(standby.behind));
      }
    }
  }
}

void write_process(const Scrape& scrape, OwnFamilies& own) {
  if (own.family("smd_info", MetricType::Gauge, "The version of smd"))
    own.sample({{"version", scrape.info.version}}, 1);
  if (own.family("smd_start_time_seconds", MetricType::Gauge, "When smd began, in seconds since 1970"))
    own.sample({}, std::chrono::duration<double>(scrape.info.started.time_since_epoch()).count());
}

/// Attributes without a name together: what we send has one.
void write_smp_timeouts(const Scrape& scrape, OwnFamilies& own) {
  if (!own.family("smd_smp_timeouts_total", MetricType::Counter,
                  "SMPs without an answer in time since the start"))
    return;
  for (const auto& subnet : scrape.subnets) {
    const auto timeouts = activity_of(*subnet.view).timeouts;
    if (!timeouts) continue;
    std::map<std::string, std::uint64_t> by_name;
    for (const auto& one : *timeouts) {
      const auto name = wire::attribute_name(one.attribute);
      by_name[name.starts_with("attribute ") ? "other" : name] += one.count;
    }
    for (const auto& [name, count] : by_name)
      own.sample({{subnet.label, subnet.view->name}, {"attr", name}}, static_cast<double>(count));
  }
}

void write_traps(const Scrape& scrape, OwnFamilies& own) {
  if (!own.family("smd_traps_received_total", MetricType::Counter,
                  "Traps since the start, by number and by the GUID of the node they are about"))
    return;
  for (const auto& subnet : scrape.subnets) {
    const auto traps = activity_of(*subnet.view).traps_by;
    if (!traps) continue;
    for (const auto& row : traps->rows()) {
      const auto number = row.trap == sm::TrapCounts::kOtherTrap ? "other" : fmt::format("{}", row.trap);
      const auto node = row.node == Guid{} ? "other" : fmt::format("{}", row.node);
      own.sample({{subnet.label, subnet.view->name}, {"num", number}, {"node", node}},
                 static_cast<double>(row.count));
    }
  }
}

constexpr std::array<std::string_view, 3> kNodeWords{"ca", "switch", "router"};
constexpr std::array<std::string_view, 4> kStateWords{"active", "armed", "initialize", "down"};

std::size_t word_of(const sm::Node& node) {
  if (node.is_switch()) return 1;
  return node.info.type == NodeType::router ? 2 : 0;
}

std::size_t word_of(const sm::Port& port) {
  if (!port.known) return 3;
  switch (port.info.port_state) {
    case PortState::active:
      return 0;
    case PortState::armed:
      return 1;
    case PortState::init:
      return 2;
    case PortState::down:
    case PortState::no_change:
      break;
  }
  return 3;
}

void write_ports(const Scrape& scrape, OwnFamilies& own) {
  if (!own.family("smd_ports", MetricType::Gauge,
                  "Ports by their state and the type of their node, without port 0 of switches"))
    return;
  for (const auto& subnet : scrape.subnets) {
    if (subnet.now() == nullptr) continue;
    std::array<std::array<std::uint64_t, kStateWords.size()>, kNodeWords.size()> counts{};
    for (const auto& node : subnet.now()->subnet->nodes) {
      for (std::size_t p = 1; p < node->ports.size(); ++p)
        ++counts.at(word_of(*node)).at(word_of(node->ports[p]));
    }
    for (std::size_t type = 0; type < kNodeWords.size(); ++type) {
      for (std::size_t state = 0; state < kStateWords.size(); ++state)
        own.sample({{subnet.label, subnet.view->name},
                    {"state", kStateWords.at(state)},
                    {"type", kNodeWords.at(type)}},
                   static_cast<double>(counts.at(type).at(state)));
    }
  }
}

/// Those that an operator has disabled: smd isolates none by itself.
void write_isolated(const Scrape& scrape, OwnFamilies& own) {
  write_one(scrape, own, "smd_isolated_ports", MetricType::Gauge, "Ports that smd keeps disabled",
            [](const Scraped& subnet) {
              return subnet.now()->disabled ? subnet.now()->disabled->size() : std::size_t{0};
            });
}

void write_sa_requests(const Scrape& scrape, OwnFamilies& own) {
  if (!own.family("smd_sa_requests_total", MetricType::Counter,
                  "Requests to subnet administration since the start, by what came of them"))
    return;
  for (const auto& subnet : scrape.subnets) {
    if (!subnet.view->sa_counts) continue;
    for (const auto& row : subnet.view->sa_counts->rows())
      own.sample({{subnet.label, subnet.view->name},
                  {"attr", row.attribute},
                  {"method", row.method},
                  {"status", row.status}},
                 static_cast<double>(row.count));
  }
}

void write_sa_latency(const Scrape& scrape, OwnFamilies& own) {
  if (!own.family("smd_sa_latency_seconds", MetricType::Histogram,
                  "From the arrival of a request to subnet administration to its answer"))
    return;
  for (const auto& subnet : scrape.subnets) {
    if (!subnet.view->sa_counts) continue;
    const auto times = subnet.view->sa_counts->times();
    OwnFamilies::Histogram took{.sample_count = 0, .sample_sum = times.seconds, .bucket = {}};
    for (std::size_t i = 0; i < times.took.size(); ++i) {
      took.sample_count += times.took.at(i);
      const auto& bounds = sa::RequestCounts::kBounds;
      const auto bound = i < bounds.size() ? static_cast<double>(bounds.at(i)) / 1e9
                                           : std::numeric_limits<double>::infinity();
      took.bucket.push_back({.cumulative_count = took.sample_count, .upper_bound = bound});
    }
    own.sample({{subnet.label, subnet.view->name}}, std::move(took));
  }
}

void write_reloads(const Scrape& scrape, OwnFamilies& own) {
  if (own.family("smd_config_reload_total", MetricType::Counter,
                 "Reloads of the configuration since the start, also those that were refused"))
    own.sample({}, static_cast<double>(scrape.info.reloads));
  if (own.family("smd_config_reload_failed_total", MetricType::Counter,
                 "Reloads that were refused: the configuration before stays in force"))
    own.sample({}, static_cast<double>(scrape.info.reloads_failed));
}

}  // namespace

void write_own_families(Scrape& scrape) {
  OwnFamilies own(scrape.out);
  for (const auto write :
       {write_process, write_reloads, write_sm, write_sweep, write_counts, write_ports, write_isolated,
        write_totals, write_replica, write_smp_timeouts, write_traps, write_sa_requests, write_sa_latency})
    write(scrape, own);
  scrape.out.append(own.text());
}

}  // namespace smd::api
