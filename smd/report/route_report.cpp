// SPDX-License-Identifier: Apache-2.0
#include "smd/report/route_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "smd/report/json.h"

namespace smd::sm::inline reports {
namespace {

double rounded(double value, double steps = 1e3) { return std::round(value * steps) / steps; }

Json times_object(const RouteTimes& ms) {
  JsonObject object;
  const auto add = [&](const char* key, const std::optional<double>& value) {
    object.emplace(key, value ? Json(rounded(*value)) : Json{});
  };
  add("load", ms.load);
  add("topology", ms.topology);
  add("route", ms.route);
  add("verify", ms.verify);
  add("quality", ms.quality);
  add("dump", ms.dump);
  return std::move(object);
}

Json verification(const routing::Verification& found, const std::string& no_path) {
  return JsonObject{{"ok", found.ok()},
                    {"host_pairs_unreachable", found.host_pairs_unreachable},
                    {"aggregation_pairs_unreachable", found.aggregation_pairs_unreachable},
                    {"left_out", no_path.empty() ? Json{} : Json(no_path)},
                    {"unrouted_by_rule", found.unrouted_by_rule},
                    {"unreachable_switch_pairs", found.unreachable_switch_pairs},
                    {"loops", found.loops},
                    {"dead_ends", found.dead_ends},
                    {"credit_loops", found.credit_loops},
                    {"management_credit_loops", found.management_credit_loops},
                    {"vls", std::uint64_t{found.vls}},
                    {"layers", std::uint64_t{found.layers}},
                    {"fixed_sl_ok", found.fixed_sl_ok},
                    {"reverse_ok", found.reverse_ok}};
}

Json end_of(const NamedLink::End& end) {
  return JsonObject{
      {"guid", fmt::format("{}", end.guid)}, {"name", end.name}, {"port", std::uint64_t{end.port.value()}}};
}

Json hottest(const std::vector<NamedLink>& links) {
  JsonArray array;
  for (const auto& link : links) {
    array.push_back(JsonObject{{"from", end_of(link.from)}, {"to", end_of(link.to)}, {"paths", link.paths}});
  }
  return std::move(array);
}

Json levels(const std::vector<routing::LevelWidth>& widths) {
  JsonArray array;
  for (const auto& level : widths) {
    array.push_back(
        JsonObject{{"level", std::uint64_t{level.level}},
                   {"switches", level.switches},
                   {"hosts", level.hosts},
                   {"gbps_below", rounded(level.below)},
                   {"gbps_above", rounded(level.above)},
                   {"oversubscription", level.above > 0 ? Json(rounded(level.oversubscription())) : Json{}}});
  }
  return std::move(array);
}

/// How many times the bound the most loaded link carries; null if there is no bound.
Json of_leaf_bound(const routing::Quality& quality) {
  return quality.leaf_bound > 0 ? Json(rounded(quality.max_link_time / quality.leaf_bound)) : Json{};
}

Json figures(const RouteReport& report) {
  const auto& quality = *report.quality;
  return JsonObject{{"max_link_paths", quality.max_link_paths},
                    {"mean_link_paths", rounded(quality.mean_link_paths)},
                    {"shift_max", std::uint64_t{quality.shift_max}},
                    {"shift_mean", rounded(quality.shift_mean)},
                    {"random_permutation_mean", rounded(quality.random_permutation_mean)},
                    {"ebb", rounded(quality.ebb, 1e6)},
                    {"shift_rank_max", std::uint64_t{quality.shift_rank_max}},
                    {"shift_rank_mean", rounded(quality.shift_rank_mean)},
                    {"max_link_time", rounded(quality.max_link_time)},
                    {"leaf_bound", rounded(quality.leaf_bound)},
                    {"of_leaf_bound", of_leaf_bound(quality)},
                    {"levels", levels(report.levels)},
                    {"hottest", hottest(report.hottest)}};
}

Json changes(const ChangedEntries& changed) {
  return JsonObject{{"lft_entries", changed.lft_entries}, {"lft_blocks", changed.lft_blocks}};
}

Json findings(const routing::Health& health) {
  JsonArray array;
  for (const auto& finding : health.findings) {
    JsonArray ports;
    for (const auto& [node, port] : finding.ports) {
      ports.push_back(JsonObject{{"guid", fmt::format("{}", node)}, {"port", std::uint64_t{port.value()}}});
    }
    array.push_back(JsonObject{
        {"kind", std::string(to_string(finding.kind))}, {"ports", std::move(ports)}, {"text", finding.text}});
  }
  return std::move(array);
}

Json texts(const std::vector<std::string>& lines) {
  JsonArray array;
  for (const auto& line : lines) array.emplace_back(line);
  return std::move(array);
}

/// The value of rank `rank(n)` of n, of each phase that was timed.
RouteTimes ranked(const std::vector<RouteTimes>& passes, std::size_t (*rank)(std::size_t)) {
  RouteTimes result;
  for (const auto phase : {&RouteTimes::load, &RouteTimes::topology, &RouteTimes::route, &RouteTimes::verify,
                           &RouteTimes::quality, &RouteTimes::dump}) {
    std::vector<double> values;
    for (const auto& pass : passes) {
      if (pass.*phase) values.push_back(*(pass.*phase));
    }
    if (values.empty()) continue;
    std::ranges::sort(values);
    result.*phase = values[rank(values.size())];
  }
  return result;
}

}  // namespace

RouteTimes minimum(const std::vector<RouteTimes>& passes) {
  return ranked(passes, [](std::size_t) { return std::size_t{0}; });
}
RouteTimes median(const std::vector<RouteTimes>& passes) {
  return ranked(passes, [](std::size_t n) { return (n - 1) / 2; });
}

std::string to_json(const RouteReport& report) {
  JsonObject object{{"fabric", report.fabric}, {"switches", report.switches},
                    {"hosts", report.hosts},   {"lids", report.lids},
                    {"links", report.links},   {"threads", std::uint64_t{report.threads}},
                    {"engine", report.engine}, {"fell_back_from", texts(report.fell_back_from)}};
  object.emplace("shape", report.shape.empty() ? Json{} : Json(report.shape));
  object.emplace("why", report.why.empty() ? Json{} : Json(report.why));
  object.emplace("ms", times_object(report.ms));
  if (report.ms_median) object.emplace("ms_median", times_object(*report.ms_median));
  object.emplace("memset_ms", Json(rounded(report.memset_ms)));
  object.emplace("peak_rss_kb", Json(report.peak_rss_kb));
  object.emplace("verify", verification(report.verify, report.no_path));
  object.emplace("quality", report.quality ? figures(report) : Json{});
  object.emplace("changed", report.changed ? changes(*report.changed) : Json{});
  object.emplace("health", report.health ? findings(*report.health) : Json{});
  object.emplace("notes", texts(report.notes));
  return to_text(Json(std::move(object)));
}

}  // namespace smd::sm::inline reports
