// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mad/base/counted.h"
#include "smd/report/route_report.h"

namespace smd::sm::inline reports {
namespace {

using base::counted;

std::string times(const RouteTimes& ms) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<double>& value) {
    if (value)
      fmt::format_to(std::back_inserter(text), "{}{} {:.1f} ms", text.empty() ? "" : ", ", name, *value);
  };
  add("load", ms.load);
  add("topology", ms.topology);
  add("route", ms.route);
  add("verify", ms.verify);
  add("quality", ms.quality);
  add("dump", ms.dump);
  return text;
}

std::string proof(const RouteReport& report) {
  const auto& found = report.verify;
  if (!found.ok()) return "NOT verified: " + report.faults;
  auto text =
      fmt::format("verified: every connected host pair has a route, no loops, no credit loops with {}",
                  counted(found.vls, "VL", "VLs"));
  if (!found.fixed_sl_ok) text += "; each path needs its own SL";
  if (found.unrouted_by_rule != 0) {
    fmt::format_to(std::back_inserter(text), "; {} left out by the engine's rule",
                   counted(found.unrouted_by_rule, "route of inner switches or aggregation nodes",
                           "routes of inner switches or aggregation nodes"));
  }
  if (found.unreachable_switch_pairs != 0) {
    fmt::format_to(std::back_inserter(text), "; {} from hosts to switches",
                   counted(found.unreachable_switch_pairs, "route missing", "routes missing"));
  }
  return text;
}

/// Figures of balance, the width of each level, the most used links.
template <class Line>
void add_quality(const RouteReport& report, const Line& line) {
  constexpr std::size_t kShown = 3;
  const auto& q = *report.quality;
  line("balance",
       fmt::format("routes over a link: at most {}, mean {:.1f}", q.max_link_paths, q.mean_link_paths));
  line("", fmt::format("most loaded link: shift {} at most, {:.2f} on average; random {:.2f}; "
                       "bisection {:.3f}",
                       q.shift_max, q.shift_mean, q.random_permutation_mean, q.ebb));
  line("", fmt::format("with hosts in rank order: shift {} at most, {:.2f} on average", q.shift_rank_max,
                       q.shift_rank_mean));
  if (q.leaf_bound > 0) {
    line("",
         fmt::format("by time (routes over a fastest cable): at most {:.1f}, {:.3f} times the bound of the "
                     "leaves' cables, {:.1f}",
                     q.max_link_time, q.max_link_time / q.leaf_bound, q.leaf_bound));
  }
  for (std::size_t i = 0; i < std::min(kShown, report.hottest.size()); ++i) {
    const auto& [from, to, paths] = report.hottest[i];
    line("", fmt::format("{} routes from {} port {} to {} port {}", paths, from.name, from.port, to.name,
                         to.port));
  }
  std::string_view name = "levels";
  for (const auto& level : report.levels) {
    auto text = fmt::format("{}: {}, {:.0f} Gb/s below", level.level,
                            counted(level.switches, "switch", "switches"), level.below);
    if (level.above > 0) {
      text +=
          fmt::format(", {:.0f} above: oversubscribed {:.2f} to 1", level.above, level.oversubscription());
    }
    line(std::exchange(name, ""), text);
  }
}

/// The cabling: what is missing at each level, then a line a finding.
template <class Line>
void add_health(const routing::Health& health, std::size_t accepted, const Line& line) {
  std::string_view name = "cabling";
  const auto next = [&](const std::string& text) { line(std::exchange(name, ""), text); };
  if (!health.left_out.empty()) next(health.left_out);
  for (const auto& level : health.levels) {
    if (level.cables == level.wanted) continue;
    next(fmt::format(
        "{} of {} cables upwards from level {} are there: {:.1f} % of the bisection is lost", level.cables,
        level.wanted, level.rank,
        100.0 * static_cast<double>(level.wanted - level.cables) / static_cast<double>(level.wanted)));
  }
  for (const bool faults : {true, false}) {
    for (const auto& finding : health.findings) {
      if (is_fault(finding) == faults) next(fmt::format("{}: {}", to_string(finding.kind), finding.text));
    }
  }
  if (accepted != 0)
    next(counted(accepted, "accepted deviation is", "accepted deviations are") + " left out");
  if (std::ranges::none_of(health.findings, routing::is_fault)) next("nothing wrong found");
}

}  // namespace

std::string to_text(const RouteReport& report) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{:<9} {}\n", name, value);
  };
  line("fabric",
       fmt::format("{}: {}, {}, {}, {}", report.fabric, counted(report.switches, "switch", "switches"),
                   counted(report.hosts, "host", "hosts"), counted(report.lids, "LID", "LIDs"),
                   counted(report.links, "link", "links")));
  line("engine", fmt::format("{}, {}", report.engine, counted(report.threads, "thread", "threads")));
  if (!report.why.empty()) line("", report.why);
  for (const auto& refusal : report.fell_back_from) {
    if (report.why.empty()) line("", "instead of " + refusal);
  }
  line("routes", proof(report));
  if (!report.no_path.empty()) line("", "warning: " + report.no_path);
  if (report.quality) add_quality(report, line);
  if (report.changed) {
    line("changed", fmt::format("{} in {} against the complete fabric",
                                counted(report.changed->lft_entries, "LFT entry", "LFT entries"),
                                counted(report.changed->lft_blocks, "block", "blocks")));
  }
  if (report.health) add_health(*report.health, report.accepted, line);
  line("time", times(report.ms));
  if (report.ms_median) line("", times(*report.ms_median) + " (median; above the minimum)");
  line("memory", fmt::format("peak {:.1f} MB; writing all tables once takes {:.2f} ms",
                             static_cast<double>(report.peak_rss_kb) / 1024.0, report.memset_ms));
  return text;
}

}  // namespace smd::sm::inline reports
