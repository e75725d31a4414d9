// SPDX-License-Identifier: Apache-2.0
#include "smd/report/faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "mad/wire/mad.h"
#include "smd/decide/route_chain.h"
#include "smd/decide/routes.h"
#include "smd/inventory/gone.h"
#include "smd/report/changes.h"
#include "smd/report/description.h"
#include "smd/report/m_keys.h"
#include "smd/report/multicast.h"
#include "smd/report/ports.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/unkept_entries.h"
#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline reports {
namespace {

void log_ports(const log::Log& log, const Subnet& subnet, const PartitionPart* partitions) {
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      if (!port.linked() || port.info.port_state == PortState::active) continue;
      const PortNum num{static_cast<std::uint8_t>(p)};
      log.warn("port.not_active")
          .port(node->guid(), node->description, num)
          .kv("state", port.info.port_state)
          .kv("reason", why_not_active(subnet, *node, num, partitions));
    }
  }
}

/// Who had the GUID before keeps it: where that one is.
std::string stays(const Subnet& subnet, const DuplicateGuid& duplicate) {
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const bool here = node->guid() == duplicate.guid || (!node->is_switch() && port.guid == duplicate.guid);
      if (here && port.peer)
        return fmt::format("{} behind {} {} port {}", node->description, port.peer->node,
                           description_of(subnet, port.peer->node), port.peer->port);
    }
  }
  return "none";
}

void log_duplicates(const log::Log& log, const Subnet& subnet) {
  for (const auto& duplicate : subnet.duplicates) {
    std::string places;
    for (const auto& place : duplicate.places) {
      fmt::format_to(std::back_inserter(places), "{}{} {} port {}", places.empty() ? "" : ", ", place.node,
                     description_of(subnet, place.node), place.port);
    }
    log.error("guid.duplicate")
        .kv("guid", duplicate.guid)
        .kv("behind", places)
        .kv("stays", stays(subnet, duplicate))
        .kv("action", "other nodes with this GUID stay out of service");
  }
}

/// Whose connections have an SL that is not proven.
std::string_view stale_words(const RoutePart& routes, bool replaced) {
  if (replaced)
    return "the paths of these pairs of switches have another SL than the file of adopt.path_sl says, as the "
           "tables of the subnet manager before were replaced: connections that were made before use an SL "
           "that is not proven";
  if (routes.host_pairs_moved == 0)
    return "the paths to or from LIDs of switches without hosts fit into another layer only, as links are "
           "lost or have fewer VLs, or classes leave fewer SLs: what manages these switches may use an SL "
           "that is not proven, connections of hosts do not";
  return "the paths of these pairs of switches fit into another layer only, as links are lost or have fewer "
         "VLs, or classes leave fewer SLs: connections that were made before use an SL that is not proven";
}

void log_stale_sls(const log::Log& log, const RoutePart& routes) {
  if (routes.pairs_moved == 0) return;
  const bool replaced = routes.sls_replaced && !lacks_any(routes);
  log.error("routing.sl_stale")
      .kv("pairs", routes.pairs_moved)
      .kv("with_hosts_at_both", routes.host_pairs_moved)
      .kv("reason", stale_words(routes, replaced))
      .kv("action", replaced
                        ? "make these connections again, then: smd resweep converge"
                        : "bring back the links, or the VLs or SLs, that are lost, or: smd resweep converge");
}

void log_routes(const log::Log& log, const Subnet& subnet, const RoutePart& routes) {
  for (const auto& refusal : routes.fell_back_from) {
    if (!routes.why.empty()) break;  // "auto" has compared engines: routing.chosen says how it went
    log.warn("routing.fell_back")
        .kv("from", refusal.engine)
        .kv("to", routes.engine)
        .kv("reason", refusal.reason);
  }
  if (const auto unused = options_without_use(routes); !unused.empty())
    log.info("routing.option_unused").kv("engine", routes.engine).kv("reason", unused);
  if (!routes.verification.ok()) {
    log.error("routing.not_proven")
        .kv("engine", routes.engine)
        .kv("found", routing::describe(routes.verification, *routes.topology));
  }
  log_stale_sls(log, routes);
  if (!routes.engine_waits.empty()) {
    log.warn("routing.engine_waits")
        .kv("engine", routes.engine)
        .kv("configured", routes.engine_waits)
        .kv("reason", "its layers would give paths other SLs, and connections use those that they have")
        .kv("action", "smd resweep converge --engine");
  }
  if (!routes.waiting.empty()) {
    log.warn("routing.switch_waits")
        .kv("switches", fmt::format("{}", fmt::join(routes.waiting, " ")))
        .kv("reason",
            fmt::format("with the links that they have {} cannot route them, and another engine would give "
                        "all paths other SLs",
                        routes.engine))
        .kv("action", "mend their links; after routing.converge_after another engine routes them");
  }
  const auto name = [&](Guid guid) { return description_of(subnet, guid); };
  if (routes.verification.aggregation_pairs_unreachable != 0)
    log.warn("routing.left_out")
        .kv("found", routing::describe_left_out(routes.verification, *routes.topology, name));
}

void log_vl_limit(const log::Log& log, const Decided& decided) {
  const auto* sls = decided.service_levels.get();
  if (sls == nullptr || sls->limit.waits == 0) return;
  log.warn("qos.max_vls_waits")
      .kv("max_vls", sls->limit.waits)
      .kv("layers", decided.routes->layers.vl_indexes())
      .kv("in_force", sls->limit.vls)
      .kv("reason",
          "with fewer VLs between switches than routes have layers paths would get other SLs, and "
          "connections use those that they have")
      .kv("action", "smd resweep converge; with --engine where the engine needs more layers");
}

std::string small_table_action(const LidPart& lids, const RoutePart& routes, const Node& node) {
  const bool beyond = std::ranges::binary_search(routes.beyond, node.guid());
  if (beyond) return "routed round; hosts on it are not reached, and not activated";
  if (lids.not_held_from != 0) return fmt::format("LIDs from {} on are not routed", lids.not_held_from);
  return "goes by what it holds";
}

/// Switches whose table is smaller than the LIDs need, or smaller than what it holds.
void log_small_tables(const log::Log& log, const Subnet& subnet, const Decided& decided,
                      std::set<Guid>& named) {
  const auto& lids = *decided.lids;
  std::size_t needed = lids.without_lid.size() << lids.lmc;
  for (const auto& entry : lids.entries) needed += std::size_t{1} << entry.lmc;
  const auto before = std::exchange(named, {});
  for (const auto& node : subnet.nodes) {
    if (!node->switch_info) continue;
    const auto& info = *node->switch_info;
    if (std::ranges::find(decided.routes->waiting, node->guid()) != decided.routes->waiting.end()) continue;
    const bool left_out = decided.routes->find(node->guid()) == nullptr;
    const bool too_small = lids.not_held_from != 0 && lft_capacity(*node) <= needed;
    if (!left_out && !too_small && info.linear_fdb_cap > info.linear_fdb_top) continue;
    named.insert(node->guid());
    auto&& event = log.warn("switch.small_table");
    if (!before.contains(node->guid())) event.always();
    event.port(node->guid(), node->description, PortNum{0})
        .kv("linear_fdb_cap", info.linear_fdb_cap)
        .kv("linear_fdb_top", info.linear_fdb_top)
        .kv("needed", std::max<std::size_t>(needed, decided.routes->top.value()) + 1U)
        .kv("action", small_table_action(lids, *decided.routes, *node));
  }
}

/// One line that says how many are too few, then the ports.
void log_without_lid(const log::Log& log, const Subnet& subnet, const LidPart& lids) {
  if (lids.without_lid.empty()) return;
  log.error("lid.space_full")
      .kv("ports_with_lid", lids.entries.size())
      .kv("ports_without", lids.without_lid.size())
      .kv("action", "widen lids.first to lids.last, or lower lids.lmc");
  const std::set<Guid> without(lids.without_lid.begin(), lids.without_lid.end());
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto guid = port_guid(*node, port);
      if (!is_end_port(*node, port) || !without.contains(guid)) continue;
      log.error("lid.none_left").port(node->guid(), node->description, port).kv("port_guid", guid);
    }
  }
}

/// About the node that does not answer; `via`: the port that leads to it, where that is another one's.
void log_silent(const log::Log& log, const Subnet& subnet, const Silent& silent, const Inventory* known) {
  const auto& lost = *silent.first;
  auto&& event = log.warn("node.unresponsive");
  if (lost.node != Guid{}) event.node(lost.node, lost.description);
  if (lost.behind.node != Guid{} && lost.behind.node != lost.node) {
    event.kv("via_guid", lost.behind.node)
        .kv("via_name", description_of(subnet, lost.behind.node))
        .kv("via_port", lost.behind.port);
    if (lost.node == Guid{}) event.subject(fmt::format("{} {}", lost.behind.node, lost.behind.port));
  }
  event.kv("links", silent.places);
  if (known != nullptr && lost.node != Guid{}) {
    const auto hosts = hosts_behind(*known, lost.node, subnet);
    if (!hosts.empty()) event.kv("hosts_behind", hosts.size()).kv("host_names", names_text(hosts, *known));
  }
  event.kv("reason", lost.reason + std::string(silence_hint(lost)));
}

constexpr std::string_view kEntries = "entries";

/// Entries of tables are counted, not named.
std::string shown_field(const NotKept& note) {
  return std::string(unkept_lid(note) || unkept_mask(note) ? kEntries : std::string_view(note.field));
}

std::string_view action_of(std::uint16_t attribute, std::string_view field) {
  if (field == kEntries && attribute == wire::LinearForwardingTable::kAttribute)
    return "not set again until the node restarts; routes lead round them where there is another way";
  if (field == kEntries) return "not set again until the node restarts or other ports are decided";
  if (field == blocks_above_top().field) return "LinearFDBTop is raised before the blocks are written";
  return "not set again until the node restarts or the desired value changes";
}

/// What a port has not taken holds back what rests on it: a line for each kind of table.
void log_held_back(const log::Log& log, const Subnet& subnet, const Applied& applied, std::uint16_t attribute,
                   std::string_view reason) {
  std::set<std::pair<NodeIndex, PortNum>> ports;
  std::size_t sets = 0;
  for (const auto& set : applied.held_back) {
    if (set.attribute != attribute) continue;
    ports.emplace(set.node, set.port);
    ++sets;
  }
  if (ports.empty()) return;
  const auto& [index, port] = *ports.begin();
  const auto& node = *subnet.nodes[index];
  log.warn("set.skipped")
      .port(node.guid(), node.description, port)
      .kv("attribute", wire::attribute_name(attribute))
      .kv("sets", sets)
      .kv("ports", ports.size())
      .kv("reason", reason);
}

}  // namespace

void log_faults(const log::Log& log, const Subnet& subnet, const Decided* decided,
                std::set<Guid>& small_tables, const Inventory* known) {
  for (const auto& silent : silent_nodes(subnet)) log_silent(log, subnet, silent, known);
  log_duplicates(log, subnet);
  log_ports(log, subnet, decided != nullptr ? decided->partitions.get() : nullptr);
  if (decided == nullptr) return;
  log_without_lid(log, subnet, *decided->lids);
  if (!decided->routes) return;
  log_small_tables(log, subnet, *decided, small_tables);
  log_routes(log, subnet, *decided->routes);
  log_vl_limit(log, *decided);
  log_multicast(log, *decided);
}

void log_failed(const log::Log& log, const Subnet& subnet, const Applied& applied) {
  for (const auto& set : applied.failed) {
    if (set.given_up) continue;  // the sweep that follows asks it again
    const auto& node = *subnet.nodes[set.node];
    log.warn("set.failed")
        .port(node.guid(), node.description, set.port)
        .kv("attribute", wire::attribute_name(set.attribute))
        .kv("reason", set.reason);
  }
  if (applied.skipped != 0)
    log.warn("set.skipped").kv("sets", applied.skipped).kv("reason", "an earlier Set failed");
  log_held_back(log, subnet, applied, wire::SlToVl::kAttribute,
                "VLArbitrationTable was not taken: SLs would move to VLs without turns");
  log_held_back(log, subnet, applied, wire::VlArbitration::kAttribute,
                "SLtoVLMappingTable was not taken: VLs that SLs still have keep their turns");
}

void log_not_kept(const log::Log& log, const Subnet& before, const Subnet& after) {
  struct Sum {
    std::size_t ports = 0;
    const Node* first = nullptr;
    PortNum port;
    std::uint64_t desired = 0;
  };
  std::map<std::tuple<std::uint16_t, std::string, Guid>, Sum> sums;  // of tables by switch
  for (std::size_t i = 0; i < after.nodes.size(); ++i) {
    const auto& old = before.nodes[i]->not_kept;
    for (const auto& item : after.nodes[i]->not_kept) {
      if (std::ranges::find(old, item) != old.end()) continue;
      const auto field = shown_field(item);
      auto& sum = sums[{item.attribute, field, field == kEntries ? after.nodes[i]->guid() : Guid{}}];
      if (sum.ports++ == 0)
        sum.first = after.nodes[i].get(), sum.port = item.port, sum.desired = item.desired;
    }
  }
  for (const auto& [key, sum] : sums) {
    const auto& [attribute, field, node] = key;
    log.warn("field.not_kept")
        .port(sum.first->guid(), sum.first->description, sum.port)
        .kv("attribute", wire::attribute_name(attribute))
        .kv("field", field)
        .kv("desired", sum.desired)
        .kv(field == kEntries ? "entries" : "ports", sum.ports)
        .kv("action", action_of(attribute, field))
        .subject(fmt::format("{} {} {}", attribute, field, node));
  }
}

void log_summary(const log::Log& log, const SweepSummary& summary, log::Level level) {
  auto&& event = level == log::Level::debug ? log.debug("sweep") : log.info("sweep");
  for_each_field(summary, [&](std::string_view key, const auto& value) {
    if (key != "subnet") event.kv(key, value);
  });
  event.always();
}

}  // namespace smd::sm::inline reports
