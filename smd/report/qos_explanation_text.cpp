// SPDX-License-Identifier: Apache-2.0
// An explanation of QoS as text, as JSON and from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/value_to.hpp>
#include <exception>
#include <ostream>
#include <stdexcept>

#include "smd/report/qos_explanation.h"

namespace smd::sm::inline reports {
namespace {

constexpr std::array kShownRates{100, 200, 400, 800};  ///< Gb/s of data

std::vector<std::string> strings_at(const Json& from, const char* key) {
  return boost::json::value_to<std::vector<std::string>>(from.at(key));
}

Json lane_json(const QosLaneView& lane) {
  return Json(JsonObject{{"sl", lane.sl.value()},
                         {"vl", lane.vl ? Json(lane.vl->value()) : Json{}},
                         {"weight_low", lane.low},
                         {"weight_high", lane.high},
                         {"share", lane.share}});
}

/// At most 15.
std::uint8_t nibble_at(const Json& from, const char* key) {
  const auto number = boost::json::value_to<std::uint8_t>(from.at(key));
  if (number > 15) throw std::out_of_range(key);
  return number;
}

QosLaneView lane_of(const Json& from) {
  QosLaneView lane{.sl = Sl{nibble_at(from, "sl")}};
  if (!from.at("vl").is_null()) lane.vl = Vl{nibble_at(from, "vl")};
  lane.low = boost::json::value_to<std::uint32_t>(from.at("weight_low"));
  lane.high = boost::json::value_to<std::uint32_t>(from.at("weight_high"));
  lane.share = boost::json::value_to<double>(from.at("share"));
  return lane;
}

Json kind_json(const QosKindView& kind) {
  JsonArray lanes;
  for (const auto& lane : kind.lanes) lanes.push_back(lane_json(lane));
  return Json(JsonObject{{"ports", kind.names},
                         {"count", kind.ports ? Json(*kind.ports) : Json{}},
                         {"first", kind.first},
                         {"mtu", kind.mtu},
                         {"vls", kind.vls},
                         {"low_entries", kind.low},
                         {"high_entries", kind.high},
                         {"lanes", std::move(lanes)},
                         {"notes", strings_json(kind.notes)},
                         {"warnings", strings_json(kind.warnings)}});
}

QosKindView kind_of(const Json& from) {
  QosKindView kind{.names = boost::json::value_to<std::string>(from.at("ports")),
                   .first = boost::json::value_to<std::string>(from.at("first")),
                   .mtu = boost::json::value_to<std::uint32_t>(from.at("mtu")),
                   .vls = boost::json::value_to<std::uint32_t>(from.at("vls")),
                   .low = boost::json::value_to<std::uint32_t>(from.at("low_entries")),
                   .high = boost::json::value_to<std::uint32_t>(from.at("high_entries"))};
  if (!from.at("count").is_null()) kind.ports = boost::json::value_to<std::uint64_t>(from.at("count"));
  for (const auto& lane : from.at("lanes").as_array()) kind.lanes.push_back(lane_of(lane));
  kind.notes = strings_at(from, "notes");
  kind.warnings = strings_at(from, "warnings");
  return kind;
}

Json use_json(Sl sl, const QosUse& use) {
  return Json(JsonObject{{"sl", sl.value()},
                         {"class", use.name.empty() ? Json{} : Json(use.name)},
                         {"of_class", use.of_class.value()},
                         {"by", strings_json(use.by)},
                         {"pkeys", strings_json(use.pkeys)},
                         {"services", strings_json(use.services)},
                         {"groups", use.groups}});
}

void print_lane(std::ostream& out, const QosLaneView& lane, const QosUses& uses) {
  out << fmt::format("  SL {:<2} ", lane.sl.value());
  if (!lane.vl) {
    out << "dropped (VL 15)";
  } else {
    out << fmt::format("VL {:<2} {:5.1f} %", lane.vl->value(), 100 * lane.share);
    for (const auto rate : kShownRates)
      out << fmt::format("{}{:.0f}", rate == kShownRates[0] ? "  " : " / ", rate * lane.share);
    out << " Gb/s";
    if (lane.low != 0) out << fmt::format("  low {}", lane.low);
    if (lane.high != 0) out << fmt::format("  high {}", lane.high);
  }
  const auto use = uses.find(lane.sl);
  if (use != uses.end()) out << fmt::format("  {}", fmt::join(use->second.by, ", "));
  out << '\n';
}

void print_kind(std::ostream& out, const QosKindView& kind, const QosUses& uses) {
  out << kind.names;
  if (kind.ports) {
    out << fmt::format(
        " ({}, first {}; {} VL{}, arbitration tables of {} and {} entries, packets of {} bytes)", *kind.ports,
        kind.first, kind.vls, kind.vls == 1 ? "" : "s", kind.low, kind.high, kind.mtu);
  } else {
    out << fmt::format(" (packets of {} bytes)", kind.mtu);
  }
  out << ":\n";
  for (const auto& lane : kind.lanes) print_lane(out, lane, uses);
  for (const auto& note : kind.notes) out << "  " << note << '\n';
  for (const auto& warning : kind.warnings) out << "  warning: " << warning << '\n';
}

/// The kinds of ports that drop an SL; of all of them nothing is said but that it is dropped.
struct DroppedAt {
  bool everywhere = true;
  std::vector<std::string> kinds{};
};

DroppedAt dropped_at(const std::vector<QosKindView>& kinds, Sl sl) {
  DroppedAt found{.everywhere = !kinds.empty()};
  for (const auto& kind : kinds) {
    const auto lane = std::ranges::find(kind.lanes, sl, &QosLaneView::sl);
    const bool drops = lane != kind.lanes.end() && !lane->vl;
    found.everywhere = found.everywhere && drops;
    if (drops)
      found.kinds.push_back(kind.ports ? fmt::format("{} ({}, first {})", kind.names, *kind.ports, kind.first)
                                       : kind.names);
  }
  return found;
}

void print_programs(std::ostream& out, const QosUses& uses, const std::vector<QosKindView>& kinds,
                    bool by_path_record, bool one_layer_only) {
  out << "programs:\n";
  if (by_path_record)
    out << "  only by PathRecord: routes have several layers, and each path the SL that subnet "
           "administration says; NCCL_IB_SL and UCX_IB_SL may not be set\n";
  for (const auto& [sl, use] : uses) {
    out << fmt::format("  SL {:<2}", sl.value());
    const auto dropped = dropped_at(kinds, sl);
    if (dropped.everywhere) {
      out << " is dropped: for no program\n";
      continue;
    }
    if (use.of_groups_only()) {
      out << fmt::format(" {}: for no program\n", use.by.front());
      continue;
    }
    if (by_path_record)
      out << fmt::format(" {}", fmt::join(use.by, ", "));
    else
      out << fmt::format(" NCCL_IB_SL={} UCX_IB_SL={}{}", sl.value(), sl.value(),
                         one_layer_only ? " with one layer, else only by PathRecord" : "");
    if (!use.pkeys.empty()) out << fmt::format("; IPoIB on P_Key {}", fmt::join(use.pkeys, ", "));
    if (!use.services.empty())
      out << fmt::format("; by PathRecord: service ID {}", fmt::join(use.services, "; "));
    if (!dropped.kinds.empty()) out << fmt::format("; dropped at {}", fmt::join(dropped.kinds, "; "));
    out << '\n';
  }
}

}  // namespace

Json qos_json(const QosExplanation& explanation) {
  JsonArray kinds, sls;
  for (const auto& kind : explanation.kinds) kinds.push_back(kind_json(kind));
  for (const auto& [sl, use] : explanation.uses) sls.push_back(use_json(sl, use));
  return Json(JsonObject{{"enabled", explanation.enabled},
                         {"layers", explanation.layers},
                         {"sls", std::move(sls)},
                         {"kinds", std::move(kinds)},
                         {"pending", strings_json(explanation.pending)},
                         {"warnings", strings_json(explanation.warnings)}});
}

std::expected<QosExplanation, std::string> qos_explanation_of(const Json& json) {
  try {
    QosExplanation found{.enabled = json.at("enabled").as_bool(),
                         .layers = boost::json::value_to<std::uint32_t>(json.at("layers"))};
    for (const auto& one : json.at("sls").as_array()) {
      auto& use = found.uses[Sl{nibble_at(one, "sl")}];
      if (!one.at("class").is_null()) use.name = boost::json::value_to<std::string>(one.at("class"));
      use.of_class = Sl{nibble_at(one, "of_class")};
      use.by = strings_at(one, "by");
      use.pkeys = strings_at(one, "pkeys");
      use.services = strings_at(one, "services");
      use.groups = boost::json::value_to<std::uint64_t>(one.at("groups"));
    }
    for (const auto& kind : json.at("kinds").as_array()) found.kinds.push_back(kind_of(kind));
    found.pending = strings_at(json, "pending");
    found.warnings = strings_at(json, "warnings");
    return found;
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }
}

void print_qos(std::ostream& out, const QosExplanation& explanation) {
  for (const auto& warning : explanation.warnings) out << "warning: " << warning << '\n';
  if (!explanation.enabled) {
    out << (explanation.may_have_layers
                ? "QoS is off (qos.enabled): paths have SL 0, or where routes have several layers the SL of "
                  "theirs, "
                  "with the tables that the routes need\n"
                : "QoS is off (qos.enabled): all paths have SL 0, and tables stay as they are\n");
    return;
  }
  if (explanation.uses.empty()) return;  // nothing is decided
  out << fmt::format(
      "Shares are of links of {} Gb/s, in packets of their MTU, while all SLs in use send; weights are in "
      "units of 64 bytes:\n",
      fmt::join(kShownRates, " / "));
  for (const auto& kind : explanation.kinds) print_kind(out, kind, explanation.uses);
  print_programs(out, explanation.uses, explanation.kinds, explanation.layers > 1,
                 explanation.may_have_layers);
  for (const auto& one : explanation.pending) out << "pending: " << one << '\n';
}

}  // namespace smd::sm::inline reports
