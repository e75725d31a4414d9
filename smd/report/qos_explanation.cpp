// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "mad/wire/drop_vl.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"
#include "smd/report/partitions.h"
#include "smd/report/qos_directions.h"
#include "smd/report/qos_tables.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::uint32_t kHeaders = 26;   ///< LRH, BTH, ICRC and VCRC, as VL arbitration counts packets
constexpr std::size_t kMostKinds = 32;   ///< of a fabric
constexpr std::uint32_t kAnyMtu = 4096;  ///< of links that nothing is decided of

using SlsByVl = std::map<Vl, std::vector<Sl>>;

std::string sl_numbers(const std::vector<Sl>& sls) {
  std::string text;
  for (const auto sl : sls) text += fmt::format("{}{}", text.empty() ? "" : ", ", sl.value());
  return text;
}

std::uint32_t weight_of(std::span<const wire::VlArbitration> blocks, Vl vl) {
  std::uint32_t sum = 0;
  for (const auto& block : blocks) {
    for (const auto& entry : block.entries) sum += entry.vl == vl ? entry.weight : 0U;
  }
  return sum;
}

/// VLHighLimit counts units of 4,096 bytes, and low priority sends one packet of any size after them: high
/// priority has more of the link than it should while packets are small.
void note_small_packets(QosKindView& kind, const QosPart::Tables& tables, const std::vector<Sl>& high,
                        std::uint32_t packet) {
  constexpr std::uint32_t kSmall = 256;  // the smallest MTU
  constexpr double kAlike = 0.1;
  const auto of_high = [&](std::uint32_t bytes) {
    const auto burst = static_cast<double>(high_burst(tables, bytes));
    return burst / (burst + bytes);
  };
  const auto large = of_high(packet), small = of_high(kSmall + kHeaders);
  if (kind.mtu <= kSmall || small - large <= kAlike * large) return;
  kind.warnings.push_back(fmt::format(
      "high priority (SL {}) has {:.1f} % of the link in packets of {} bytes and {:.1f} % in packets of {}: "
      "VLHighLimit counts units of 4096 bytes",
      sl_numbers(high), 100 * large, kind.mtu, 100 * small, kSmall));
}

/// torus-2QoS: paths around a missing switch turn to a lower dimension, and have other VLs on the hop after.
void note_turned(QosKindView& kind, const QosPart::Tables& tables, const QosUses& uses) {
  std::vector<std::string> others;
  for (const auto& [sl, use] : uses) {
    const auto vl = tables.turned.vls[sl.value()];
    if (vl != tables.sl_to_vl.vls[sl.value()]) others.push_back(fmt::format("SL {} has VL {}", sl, vl));
  }
  if (!others.empty())
    kind.notes.push_back(
        fmt::format("on the first hop after a turn to a lower dimension, round a missing switch: {}",
                    fmt::join(others, ", ")));
}

/// SLs in use by the VL that they have, without those that are dropped.
SlsByVl sls_by_vl(const QosPart::Tables& tables, const QosUses& uses) {
  SlsByVl found;
  for (const auto& [sl, use] : uses) {
    const auto vl = tables.sl_to_vl.vls[sl.value()];
    if (vl != wire::kDropVl) found[vl].push_back(sl);
  }
  return found;
}

void note_burst(QosKindView& kind, const QosPart::Tables& tables, const SlsByVl& by_vl,
                std::uint32_t packet) {
  std::vector<Sl> high, low;
  const auto of_high = served_vls(std::span(tables.arbitration).last(2));
  for (const auto& [vl, sls] : by_vl) {
    auto& of = of_high.test(vl.value()) ? high : low;
    of.insert(of.end(), sls.begin(), sls.end());
  }
  if (high.empty() || low.empty()) return;
  std::ranges::sort(high);
  std::ranges::sort(low);
  if (const auto burst = high_burst(tables, packet); burst != 0) {
    kind.notes.push_back(
        fmt::format("high priority (SL {}) sends {} bytes before one packet of low priority (SL {})",
                    sl_numbers(high), burst, sl_numbers(low)));
    note_small_packets(kind, tables, high, packet);
  } else {
    kind.warnings.push_back(fmt::format(
        "high priority (SL {}) has no limit (high_limit 255): nothing of SL {} is sent while it sends",
        sl_numbers(high), sl_numbers(low)));
  }
}

/// Weights below a packet, which send one nevertheless: a warning where the shares are not those of the
/// weights by that.
void note_small_weights(QosKindView& kind, const QosPart::Tables& tables, const VlSet& busy,
                        std::uint32_t mtu) {
  constexpr std::uint32_t kUnit = 64;
  constexpr double kAlike = 0.1;
  const std::uint32_t units = mtu / kUnit;
  std::set<Vl> small;
  bool alike = true;
  for (const auto& blocks : {std::span(tables.arbitration).first(2), std::span(tables.arbitration).last(2)}) {
    std::map<Vl, double> weights, packets;
    double all_weights = 0, all_packets = 0;
    for (const auto& block : blocks) {
      for (const auto& entry : block.entries) {
        if (entry.weight == 0 || entry.vl.value() >= kDataVls || !busy.test(entry.vl.value())) continue;
        if (entry.weight < units) small.insert(entry.vl);
        const auto sent = (entry.weight + units - 1) / units;
        weights[entry.vl] += entry.weight, all_weights += entry.weight;
        packets[entry.vl] += sent, all_packets += sent;
      }
    }
    for (const auto& [vl, weight] : weights) {
      const double asked = weight / all_weights;
      alike = alike && std::abs(packets[vl] / all_packets - asked) <= kAlike * asked;
    }
  }
  if (small.empty()) return;
  auto& lines = alike ? kind.notes : kind.warnings;
  lines.push_back(fmt::format("weights below {} of VL {} send a whole packet of {} bytes{}", units,
                              fmt::join(small, ", "), mtu,
                              alike ? "" : ": the shares are not those of the weights"));
}

void note_no_map(QosKindView& kind, const QosPart::Tables& tables) {
  if (tables.maps_sls) return;
  const std::string_view none = "no SL to VL table (no IsSLMappingSupported): all SLs have VL 0";
  if (kind.vls == 1) {
    kind.notes.emplace_back(none);
  } else {
    kind.warnings.push_back(
        fmt::format("{}, as far as is known: IBA has no ports with {} VLs without a table", none, kind.vls));
  }
}

/// Where a port of a fabric stands on a path.
std::string_view hop_name(const Subnet& subnet, const Node& node, PortNum num) {
  if (!node.is_switch()) return node.info.type == NodeType::router ? "routers" : "adapters";
  if (num.value() == 0) return "enhanced ports 0";
  const auto& peer = node.ports[num.value()].peer;
  const auto* far = peer ? subnet.find(peer->node) : nullptr;
  return far != nullptr && far->is_switch() ? "switch ports to switches" : "switch ports to end ports";
}

struct PortsOfTables {
  std::set<std::string_view> names;
  std::uint64_t count = 0;
  std::string first;
};

/// By the index of their tables and their MTU in bytes: what a turn of arbitration sends depends on both.
using PortsByTables = std::map<std::pair<std::size_t, std::uint32_t>, PortsOfTables>;

PortsByTables ports_of_tables(const Subnet& subnet, const QosPart& part, const LinkPart* links) {
  PortsByTables found;
  for (std::size_t i = 0; i < std::min(part.ports.size(), subnet.nodes.size()); ++i) {
    const auto& node = *subnet.nodes[i];
    for (std::size_t p = 0; p < std::min(part.ports[i].size(), node.ports.size()); ++p) {
      if (part.ports[i][p] == QosPart::kNone) continue;
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto* link = links != nullptr && links->ports[i][p] ? &*links->ports[i][p] : nullptr;
      auto& ports = found[{part.ports[i][p], link != nullptr ? bytes(link->neighbor_mtu) : kAnyMtu}];
      ports.names.insert(hop_name(subnet, node, num));
      if (ports.count++ == 0) ports.first = port_text(node, num);
    }
  }
  return found;
}

/// `policy` may be null.
void add_kinds(QosExplanation& into, const Subnet& subnet, const Decided& decided,
               const config::QosPolicy* policy) {
  const auto& part = *decided.qos_tables;
  const auto found = ports_of_tables(subnet, part, decided.links.get());
  std::size_t left_out = 0;
  for (const auto& [key, ports] : found) {
    const auto [tables, mtu] = key;
    if (into.kinds.size() == kMostKinds) {
      ++left_out;
      continue;
    }
    auto kind =
        explain_kind(fmt::format("{}", fmt::join(ports.names, ", ")), part.tables[tables], into.uses, mtu);
    if (policy != nullptr) note_shares(kind, into.uses, *policy);
    kind.ports = ports.count;
    kind.first = ports.first;
    into.kinds.push_back(std::move(kind));
  }
  if (const auto kept = ports_that_keep_tables(subnet, part); kept.count != 0)
    into.warnings.push_back(fmt::format(
        "{} ports (first {}) keep their tables: in those that are asked for no VL has a weight, and "
        "nothing would be sent",
        kept.count, kept.first));
  if (left_out != 0) into.warnings.push_back(fmt::format("{} more kinds of ports are not shown", left_out));
}

}  // namespace

QosKindView explain_kind(std::string names, const QosPart::Tables& tables, const QosUses& uses,
                         std::uint32_t mtu) {
  QosKindView kind{.names = std::move(names),
                   .mtu = mtu,
                   .vls = vls_of_code(tables.vls),
                   .low = tables.low,
                   .high = tables.high};
  const auto packet = mtu + kHeaders;
  const auto by_vl = sls_by_vl(tables, uses);
  VlSet busy;
  for (const auto& [vl, sls] : by_vl) busy.set(vl.value());
  const auto shares = vl_shares(tables, busy, packet);
  const auto served = served_vls(tables.arbitration);
  const bool arbitrates = tables.low != 0 || tables.high != 0;
  const std::span blocks(tables.arbitration);
  for (const auto& [sl, use] : uses) {
    QosLaneView lane{.sl = sl};
    const auto vl = tables.sl_to_vl.vls[sl.value()];
    if (vl != wire::kDropVl) {
      lane.vl = vl;
      lane.low = weight_of(blocks.first(2), vl);
      lane.high = weight_of(blocks.last(2), vl);
      lane.share = (arbitrates ? shares[vl.value()] : 1) / static_cast<double>(by_vl.at(vl).size());
    }
    kind.lanes.push_back(lane);
  }
  note_no_map(kind, tables);
  note_turned(kind, tables, uses);
  std::vector<Sl> dropped;
  for (const auto& lane : kind.lanes) {
    if (!lane.vl) dropped.push_back(lane.sl);
  }
  if (!dropped.empty())
    kind.warnings.push_back(
        fmt::format("SL {} is in use and mapped to VL 15: its packets are dropped", sl_numbers(dropped)));
  bool shares_vl = false;
  for (const auto& [vl, sls] : by_vl) {
    std::set<Sl> classes;  // layers share the VL of their class at end ports
    for (const auto sl : sls) classes.insert(uses.at(sl).of_class);
    shares_vl = shares_vl || classes.size() > 1;
    if (classes.size() > 1)
      kind.warnings.push_back(fmt::format("SL {} share VL {} and delay each other", sl_numbers(sls), vl));
    if (arbitrates && !served.test(vl.value()))
      kind.warnings.push_back(
          fmt::format("VL {} (SL {}) has no weight: its packets never leave", vl, sl_numbers(sls)));
  }
  if (shares_vl)
    kind.notes.emplace_back(
        "SLs that share a VL are shown with equal parts of it: they have those in which their packets come "
        "in");
  note_small_weights(kind, tables, busy, mtu);
  if (sends_nothing(tables))
    kind.warnings.push_back(
        "no VL has a weight: these tables are not written, and the ports keep those that they have");
  note_burst(kind, tables, by_vl, packet);
  return kind;
}

namespace {

/// A share that is as near to the one that is asked for is as asked.
constexpr double kNear = 0.1;

/// A class at one kind of port, with all its layers.
struct GivenClass {
  const config::QosClass* asked = nullptr;
  double share = 0;      ///< of the link
  bool is_high = false;  ///< by the table that its VLs are in
  std::set<Vl> vls{};
};

std::vector<GivenClass> given_classes(const QosKindView& kind, const QosUses& uses,
                                      std::span<const config::QosClass> classes) {
  std::vector<GivenClass> given;
  for (const auto& one : classes) {
    GivenClass found{.asked = &one};
    for (const auto& lane : kind.lanes) {
      if (uses.at(lane.sl).of_class != one.sl || !lane.vl) continue;
      found.share += lane.share;
      found.is_high |= lane.high != 0;
      found.vls.insert(*lane.vl);
    }
    if (!found.vls.empty()) given.push_back(std::move(found));
  }
  return given;
}

std::string room_of(const QosKindView& kind, bool high) {
  const auto entries = high ? kind.high : kind.low;
  return fmt::format("there {} and {} entr{}",
                     kind.vls == 1 ? "is 1 VL" : fmt::format("are {} VLs", kind.vls), entries,
                     entries == 1 ? "y" : "ies");
}

/// What keeps shares of layered routes from what is asked for: a class has a turn in each layer at least.
std::string turns_of_layers(std::span<const GivenClass> given, bool high) {
  std::set<Vl> all;
  std::size_t most = 0;
  for (const auto& one : given) {
    if (one.is_high != high) continue;
    all.insert(one.vls.begin(), one.vls.end());
    most = std::max(most, one.vls.size());
  }
  if (most < 2) return {};
  return fmt::format(
      "; routes have {} layers, and each of {} VLs of classes and layers takes a turn of one to "
      "four packets, one of the entries",
      most, all.size());
}

/// Classes whose priority is not the one that was asked for.
void note_lost_priority(QosKindView& kind, std::span<const GivenClass> given) {
  for (const auto& one : given) {
    if (one.asked->high == one.is_high) continue;
    kind.warnings.push_back(fmt::format(
        "class {} is sent with {} priority, asked for is {}: it shares VL {} with other classes; {}",
        one.asked->name, one.is_high ? "high" : "low", one.asked->high ? "high" : "low",
        fmt::join(one.vls, ", "), room_of(kind, one.asked->high)));
  }
}

/// `asked`: percent of the link. VLHighLimit counts whole packets of 4 KiB for one of low priority: there is
/// nothing between a half and two thirds. Where no class is sent with high priority, that is the cause, and
/// note_lost_priority() names it.
void note_high_share(QosKindView& kind, std::span<const GivenClass> given, unsigned asked) {
  if (std::ranges::none_of(given, &GivenClass::is_high)) return;
  double high = 0, low = 0;
  for (const auto& one : given) (one.is_high ? high : low) += one.share;
  const double share = asked / 100.0;
  if (asked == 0 || low <= 0 || std::abs(high - share) <= kNear * share) return;
  kind.warnings.push_back(
      fmt::format("high priority has {:.1f} % of the link, asked for are {} %: VLHighLimit counts units "
                  "of 4 KiB, one packet at least",
                  100 * high, asked));
}

/// Classes with the same VLs. Which of them has which part of these depends on the packets that come in.
struct ClassesOfVls {
  std::vector<std::string> names{};
  double is = 0;     ///< of the link, by all SLs on the VLs
  double asked = 0;  ///< of those that were asked for with this priority
};

/// Of VLs that have the priority: what they send of what it sends. A class that has lost its priority takes a
/// part of what the other one sends, and was not asked for there.
void note_parts(QosKindView& kind, std::span<const GivenClass> given, bool high) {
  std::map<std::set<Vl>, ClassesOfVls> by_vls;
  double all_given = 0, all_asked = 0;
  for (const auto& one : given) {
    if (one.is_high != high) continue;
    auto& classes = by_vls[one.vls];
    classes.names.push_back(one.asked->name);
    if (one.asked->high == high) classes.asked += one.asked->share;
  }
  for (auto& [vls, classes] : by_vls) {
    for (const auto& lane : kind.lanes) classes.is += lane.vl && vls.contains(*lane.vl) ? lane.share : 0;
    all_given += classes.is;
    all_asked += classes.asked;
  }
  for (const auto& [vls, classes] : by_vls) {
    if (classes.asked <= 0 || all_given <= 0) continue;
    const double is = classes.is / all_given, asked = classes.asked / all_asked;
    if (std::abs(is - asked) <= kNear * asked) continue;
    const bool several = classes.names.size() > 1;
    kind.warnings.push_back(fmt::format(
        "class{} {} {} {:.1f} % of what {} priority sends, asked for are {:.1f} %: {}{}", several ? "es" : "",
        fmt::join(classes.names, ", "), several ? "together have" : "has", 100 * is, high ? "high" : "low",
        100 * asked, room_of(kind, high), turns_of_layers(given, high)));
  }
}

}  // namespace

void note_shares(QosKindView& kind, const QosUses& uses, const config::QosPolicy& policy) {
  const auto given = given_classes(kind, uses, policy.classes);
  note_lost_priority(kind, given);
  note_high_share(kind, given, policy.class_high_share);
  for (const bool high : {false, true}) note_parts(kind, given, high);
}

namespace {

/// Both numbers, and what the classes have instead.
std::string classes_without_sls(const SlPart& sls) {
  const auto all = sls.classes.size() + sls.left_out.size();
  return fmt::format(
      "what asks for SL {} has no SLs of its own, and has those of SL {}: {} classes in {} layers need {} of "
      "16 SLs; use fewer classes, or take an engine that needs fewer layers: smd resweep converge --engine",
      fmt::join(sls.left_out, ", "), sls.classes.front(), all, sls.layers, all * sls.layers);
}

}  // namespace

QosExplanation explain_qos(const QosSubject& subject) {
  const auto& decided = subject.decided;
  QosExplanation found{.enabled = decided.qos_tables != nullptr || decided.qos_policy != nullptr};
  if (!subject.refused.empty())
    found.warnings.push_back("the QoS policy of the files is not in force: " + subject.refused);
  if (!found.enabled) return found;
  if (subject.partitions != nullptr) {
    for (const auto& one : subject.partitions->sls_of_class) found.warnings.push_back(to_string(one));
  }
  found.layers = decided.routes ? decided.routes->layers.count : 1U;
  if (const auto* sls = decided.service_levels.get(); sls != nullptr && !sls->left_out.empty())
    found.warnings.push_back(classes_without_sls(*sls));
  found.uses = qos_uses(decided, subject.partitions);
  add_groups(found.uses, subject.groups, decided.service_levels.get());
  const auto* policy = decided.qos_policy ? decided.qos_policy->policy.get() : nullptr;
  if (decided.qos_tables) {
    add_kinds(found, subject.subnet, decided, policy);
    found.pending = decided.qos_tables->pending;
  }
  if (decided.qos_policy) {
    for (auto& line : one_way_rules(*decided.qos_policy->policy)) found.warnings.push_back(std::move(line));
    for (const auto& one : decided.qos_policy->pending)
      found.pending.push_back(fmt::format(
          "{}: {}: {}", config::place_of(one.source, *decided.qos_policy->policy), one.item, one.reason));
  }
  return found;
}

}  // namespace smd::sm::inline reports
