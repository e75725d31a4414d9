// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/wire/drop_vl.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"
#include "smd/decide/service_levels.h"
#include "smd/report/qos_uses.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kSls = 16, kTableLines = 10;
constexpr std::uint8_t kAllVlsCode = 5;  ///< OperationalVLs: VL 0 to 14
using Sls = std::bitset<kSls>;

Sls used_sls(const Decided& decided, const config::PartitionPolicy* partitions) {
  Sls used;
  for (const auto& [sl, use] : qos_uses(decided, partitions)) used.set(sl.value());
  return used;
}

/// The number of a class and, between switches, of the VL index of a layer. Nothing where no path has that.
std::optional<std::size_t> lane_asked(const QosPart::Kind& kind, std::size_t of_class, std::size_t layer) {
  if (kind.loads.empty()) return of_class * kSls;
  const auto index = kind.index(layer, false);
  if (index >= kind.loads.size() || kind.loads[index] == 0) return std::nullopt;
  return of_class * kSls + index;
}

/// By SL: those with different numbers would have different VLs if a port had enough of everything. SLs of no
/// class belong to the first one. With lists it is the VL.
std::array<std::optional<std::size_t>, kSls> lanes_asked(const QosPart::Kind& kind) {
  std::array<std::optional<std::size_t>, kSls> lanes;
  for (std::size_t sl = 0; sl < kSls; ++sl)
    lanes[sl] = kind.classes.empty() ? std::size_t{kind.sl_to_vl[sl].value()} : lane_asked(kind, 0, 0);
  for (std::size_t i = 0; i < kind.classes.size(); ++i) {
    const auto& one = kind.classes[i];
    if (one.sls.empty()) lanes[one.sl.value()] = lane_asked(kind, i, 0);
    for (std::size_t layer = 0; layer < one.sls.size(); ++layer) {
      for (std::size_t sl = 0; sl < kSls; ++sl) {
        if ((one.sls[layer] >> sl & 1U) != 0) lanes[sl] = lane_asked(kind, i, layer);
      }
    }
  }
  return lanes;
}

/// "1, 9 on VL 1", for each VL that SLs in use share although another was asked for each.
std::vector<std::string> shared(const QosPart& part, const QosPart::Tables& tables, const Sls& used) {
  const auto asked = lanes_asked(part.kinds[tables.kind]);
  std::vector<std::string> found;
  for (std::uint8_t vl = 0; vl < wire::kDropVl.value(); ++vl) {
    std::string sls;
    std::set<std::size_t> lanes;
    for (std::size_t sl = 0; sl < kSls; ++sl) {
      if (!used.test(sl) || !asked[sl] || tables.sl_to_vl.vls[sl] != Vl{vl}) continue;
      sls += fmt::format("{}{}", sls.empty() ? "" : ", ", sl);
      lanes.insert(*asked[sl]);
    }
    if (lanes.size() > 1) found.push_back(fmt::format("{} on VL {}", sls, vl));
  }
  return found;
}

/// "2 on VL 3", for each SL in use whose VL is in no arbitration table.
std::vector<std::string> starved(const QosPart::Tables& tables, const Sls& used) {
  std::vector<std::string> found;
  if (tables.low == 0 && tables.high == 0) return found;
  const auto served = served_vls(tables.arbitration);
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    const auto vl = tables.sl_to_vl.vls[sl];
    if (used.test(sl) && vl != wire::kDropVl && !served.test(vl.value()))
      found.push_back(fmt::format("{} on VL {}", sl, vl));
  }
  return found;
}

/// By classes and the layers that carry something; with lists up to the highest VL of the SLs in use, as a
/// port with fewer has the rest of a division.
std::size_t vls_needed(const QosPart::Kind& kind, const Sls& used) {
  if (!kind.classes.empty()) {
    const auto layers =
        static_cast<std::size_t>(std::ranges::count_if(kind.loads, [](unsigned load) { return load > 0; }));
    return kind.classes.size() * std::max<std::size_t>(1, layers);
  }
  std::size_t needed = 0;
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    const auto vl = kind.sl_to_vl[sl];
    if (used.test(sl) && vl != wire::kDropVl) needed = std::max<std::size_t>(needed, vl.value() + 1U);
  }
  return needed;
}

/// Why SLs that were given several VLs share one.
std::string_view why_shared(const QosPart::Kind& kind, const QosPart::Tables& tables, const Sls& used) {
  if (!tables.maps_sls)
    return "these ports have no SL to VL table and all SLs on VL 0: the classes delay each other";
  if (vls_of_code(tables.vls) >= vls_needed(kind, used))
    return "the arbitration tables of these ports have too few entries for the shares of all classes on VLs "
           "of their own: the classes delay each other";
  if (tables.vls == kind.most_vls && kind.most_vls < kAllVlsCode)
    return "qos.max_vls leaves these ports fewer VLs than are asked for: the classes delay each other";
  return "these ports have fewer VLs than are asked for: the classes delay each other";
}

std::vector<PortsWithTables> ports_of(const Subnet& subnet, const QosPart& part) {
  std::vector<PortsWithTables> found(part.tables.size());
  for (std::size_t node = 0; node < part.ports.size(); ++node) {
    for (std::size_t port = 0; port < part.ports[node].size(); ++port) {
      if (part.ports[node][port] == QosPart::kNone) continue;
      auto& ports = found[part.ports[node][port]];
      if (ports.count++ == 0)
        ports.first = port_text(*subnet.nodes[node], PortNum{static_cast<std::uint8_t>(port)});
    }
  }
  return found;
}

/// "2", for each SL in use that is dropped.
std::vector<std::string> dropped(const QosPart::Tables& tables, const Sls& used) {
  std::vector<std::string> found;
  for (std::size_t sl = 0; sl < kSls; ++sl) {
    if (used.test(sl) && tables.sl_to_vl.vls[sl] == wire::kDropVl) found.push_back(fmt::format("{}", sl));
  }
  return found;
}

void warn(const log::Log& log, const Subnet& subnet, const QosPart& part, const Sls& used) {
  const auto ports = ports_of(subnet, part);
  std::size_t lines = 0;
  for (std::size_t i = 0; i < part.tables.size(); ++i) {
    const auto& tables = part.tables[i];
    if (ports[i].count == 0) continue;
    const auto say = [&](std::string_view event, const std::vector<std::string>& sls,
                         std::string_view reason) {
      if (sls.empty() || ++lines > kTableLines) return;
      log.warn(event)
          .kv("sls", fmt::format("{}", fmt::join(sls, "; ")))
          .kv("ports", ports[i].count)
          .kv("first", ports[i].first)
          .kv("vls", vls_of_code(tables.vls))
          .kv("vls_needed", vls_needed(part.kinds[tables.kind], used))
          .kv("reason", reason);
    };
    say("qos.sls_share_vl", shared(part, tables, used), why_shared(part.kinds[tables.kind], tables, used));
    say("qos.vl_without_weight", starved(tables, used),
        "the VL has no weight in an arbitration table of these ports: its packets never leave them");
    say("qos.sl_dropped", dropped(tables, used),
        "the SL is in use and mapped to VL 15: its packets are dropped");
  }
  if (lines > kTableLines) log.warn("qos.sls_share_vl").kv("not_named", lines - kTableLines);
}

/// SLs on the wire: which, and what there are too few for.
void log_service_levels(const log::Log& log, const Decided& before, const Decided& now) {
  const auto* sls = now.service_levels.get();
  const auto most = sls != nullptr ? most_layers(sls->classes.size() + sls->left_out.size()) : 0U;
  const auto* were = before.service_levels.get();
  const bool layered = sls != nullptr && (has_layers(*sls) || (were != nullptr && has_layers(*were)));
  if (sls == nullptr || (!layered && most > 1)) return;
  if (were != nullptr && *were == *sls) return;
  log.info("qos.service_levels")
      .kv("classes", fmt::format("{}", fmt::join(sls->classes, " ")))
      .kv("layers", sls->layers)
      .kv("used", now.routes ? now.routes->layers.count : 1U)
      .kv("at_most", most)
      .always();
  if (sls->left_out.empty()) return;
  log.error("qos.too_few_sls")
      .kv("needed", (sls->classes.size() + sls->left_out.size()) * sls->layers)
      .kv("available", kSls)
      .kv("without_sl", fmt::format("{}", fmt::join(sls->left_out, " ")))
      .kv("action",
          "these classes have the SLs of the first one; use fewer classes, or take an engine that needs "
          "fewer layers: smd resweep converge --engine");
}

void log_kept_tables(const log::Log& log, const Subnet& subnet, const QosPart& part) {
  const auto kept = ports_that_keep_tables(subnet, part);
  if (kept.count == 0) return;
  log.error("qos.tables_without_weight")
      .kv("ports", kept.count)
      .kv("first", kept.first)
      .kv("reason", "no VL has a weight in the arbitration tables that are asked for: nothing would be sent")
      .kv("action", "these ports keep the tables that they have");
}

}  // namespace

PortsWithTables ports_that_keep_tables(const Subnet& subnet, const QosPart& part) {
  PortsWithTables found;
  std::set<std::pair<unsigned, unsigned>> refused;  // entries of tables: low, high
  for (const auto& tables : part.tables) {
    if (sends_nothing(tables)) refused.emplace(tables.low, tables.high);
  }
  if (refused.empty()) return found;
  for (std::size_t i = 0; i < std::min(part.ports.size(), subnet.nodes.size()); ++i) {
    const auto& node = *subnet.nodes[i];
    for (std::size_t p = 0; p < std::min(part.ports[i].size(), node.ports.size()); ++p) {
      const auto& port = node.ports[p];
      const bool in_use = p == 0 ? node.has_enhanced_port0() : port.linked();
      if (part.ports[i][p] != QosPart::kNone || !port.known || !in_use) continue;
      if (!refused.contains({port.info.vl_arb_low_cap, port.info.vl_arb_high_cap})) continue;
      if (found.count++ == 0) found.first = port_text(node, PortNum{static_cast<std::uint8_t>(p)});
    }
  }
  return found;
}

void log_qos_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now,
                    const config::PartitionPolicy* partitions) {
  log_service_levels(log, before, now);
  if (!now.qos_tables) return;
  const auto used = used_sls(now, partitions);
  const bool same = before.qos_tables && before.qos_tables->kinds == now.qos_tables->kinds &&
                    before.qos_tables->tables == now.qos_tables->tables;
  if (same && used == used_sls(before, partitions)) return;
  const auto& part = *now.qos_tables;
  if (!same) log.info("qos.tables").kv("kinds", part.kinds.size()).kv("tables", part.tables.size()).always();
  warn(log, subnet, part, used);
  log_kept_tables(log, subnet, part);
}

void log_unproven_vls(const log::Log& log) {
  log.warn("qos.vls_unproven")
      .kv("reason", kVlsUnproven)
      .kv("action", "packets that wait for each other are dropped after links.hoq_lifetime");
}

}  // namespace smd::sm::inline reports
