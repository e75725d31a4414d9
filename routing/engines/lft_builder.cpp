// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/lft_builder.h"

#include <algorithm>
#include <array>
#include <memory>

#include "routing/engines/next_hops.h"
#include "routing/engines/port_rotation_cache.h"
#include "routing/engines/port_selection.h"
#include "routing/engines/row_layout.h"
#include "routing/topology/equivalent_switches.h"
#include "routing/topology/rates.h"

namespace smd::routing::inline engines {
namespace {

/// Rows per piece of work; a piece reuses its scratch memory.
constexpr std::size_t kGrain = 16;

/// Consecutive runs whose LIDs, numbers and columns continue each other.
struct Stretch {
  std::size_t first_run = 0;
  std::uint32_t first_column = 0, columns = 0;
  std::uint32_t lids = 0;
};

/// All runs that have a column, in the order of places, as stretches.
template <class Cost>
std::vector<Stretch> stretches(std::span<const LidRun> runs, const NextHops<Cost>& hops) {
  std::vector<Stretch> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto column = hops.column(runs[i].destination);
    if (column == kNoColumn) continue;
    if (runs[i].follows && !all.empty()) {
      auto& last = all.back();
      if (last.first_run + last.columns == i && last.first_column + last.columns == column) {
        ++last.columns;
        last.lids += runs[i].length;
        continue;
      }
    }
    all.push_back({i, column, 1, runs[i].length});
  }
  return all;
}

/// The data that all rows of one call share.
template <class Cost>
struct Job {
  const EngineInput& in;
  std::span<const Columns<Cost>> columns;
  const LftBuildInput& input;
  std::span<const SwitchIndex> same_costs;  ///< by switch: the first switch with the same costs
  const SwitchRanking* ranking = nullptr;   ///< with a tree template: which end of a link is up
  RowLayout layout;
  std::vector<Stretch> stretches;
};

/// Where there are more stretches than the copy of a row to LIDs costs, and an entry depends on its number
/// alone, not on those of lower LIDs.
template <class Cost>
void lay_out(Job<Cost>& job) {
  constexpr std::size_t kEntriesOfAStretch = 32;  // whose copy takes as long
  const NextHops<Cost> hops(job.in.context.topology, job.columns, job.same_costs);
  job.stretches = stretches(job.layout.runs, hops);
  const auto entries = job.in.context.lids.row_size();
  if (job.input.indices.empty() || job.stretches.size() * kEntriesOfAStretch <= entries) return;
  auto layout = layout_by_number(job.input.runs, entries);
  auto fewer = stretches(layout.runs, hops);
  if ((job.stretches.size() - std::min(job.stretches.size(), fewer.size())) * kEntriesOfAStretch <= entries)
    return;
  job.layout = std::move(layout);
  job.stretches = std::move(fewer);
}

template <class Cost>
class RowWriter {
 public:
  explicit RowWriter(const Job<Cost>& job)
      : job_(job),
        hops_(job.in.context.topology, job.columns, job.same_costs),
        segment_of_(hops_.columns()) {}

  /// Returns whether an equivalent switch would get another row.
  bool write(SwitchIndex s, LftRow& row) {
    begin(s);
    const auto segments = hops_.of(s);
    std::uint32_t column = 0;
    for (std::uint32_t i = 0; i < segments.size(); ++i) {
      std::fill(segment_of_.begin() + column, segment_of_.begin() + segments[i].end, i);
      column = segments[i].end;
    }
    picks_.assign(segments.size(), PortRotationCache::kNotYet);
    LeastUsed least(job_.in.context.topology, s);
    const auto& places = job_.layout.places;
    if (!places.empty()) in_places_.assign(row.size(), kNoRoute);
    auto& written = places.empty() ? row : in_places_;
    for (const auto& stretch : job_.stretches) write(stretch, segments, written, least);
    for (std::size_t lid = 0; lid < places.size(); ++lid) row[lid] = in_places_[places[lid]];
    deliver(s, row);
    return job_.input.indices.empty() || rotations_.substituted();
  }

  /// Adapts a copy of the row of the equivalent switch `model`: they differ only in LIDs of these two.
  void write_as(SwitchIndex model, SwitchIndex s, LftRow& row) {
    begin(s);
    const auto towards_model = hops_.towards(s, model);
    const auto pick = towards_model.empty() ? PortRotationCache::kNotYet : rotations_.find(towards_model);
    const std::span<const LidRun> runs = job_.layout.runs;
    for_each_lid_of(model, [&](Lid lid) {
      auto out = std::span(row).subspan(lid.value(), 1);
      out[0] = kNoRoute;
      if (towards_model.empty()) return;
      const auto place = job_.layout.place(lid);
      const auto at = std::ranges::upper_bound(runs, place, {}, &LidRun::lid) - 1;
      rotations_.write(pick, out, at->number + (place - at->lid));
    });
    deliver(s, row);
  }

 private:
  void begin(SwitchIndex s) {
    const auto& input = job_.input;
    if (job_.ranking != nullptr) {
      rotations_.begin(job_.in.context.topology, s, input.indices[s], *job_.ranking, *input.tree_template);
    } else if (input.indices.empty()) {
      rotations_.begin(job_.in.context.topology, s);
    } else {
      rotations_.begin(job_.in.context.topology, s, input.indices[s]);
    }
  }

  void write(const Stretch& stretch, std::span<const Segment> segments, LftRow& row, LeastUsed& least) {
    const auto runs = std::span(job_.layout.runs).subspan(stretch.first_run, stretch.columns);
    const std::size_t end = std::size_t{runs.front().lid} + stretch.lids;
    for (std::uint32_t at = 0; at < stretch.columns;) {
      const auto i = segment_of_[stretch.first_column + at];
      const auto& run = runs[at];
      const auto next = std::min(segments[i].end - stretch.first_column, stretch.columns);
      const std::size_t last = next == stretch.columns ? end : runs[next].lid;
      at = next;
      if (segments[i].set.empty()) continue;
      if (picks_[i] == PortRotationCache::kNotYet) picks_[i] = rotations_.find(segments[i].set);
      const auto out = std::span(row).subspan(run.lid, last - run.lid);
      if (job_.input.indices.empty()) {
        least.write(out, rotations_.ports(picks_[i]), run.kind);
      } else {
        rotations_.write(picks_[i], out, run.number);
      }
    }
  }

  /// Calls fn(lid) for the LIDs of the switch and of its end ports.
  template <class Fn>
  void for_each_lid_of(SwitchIndex s, const Fn& fn) const {
    const auto& in = job_.in;
    const auto all = [&](LidRange range, PortNum port) {
      for (std::uint32_t i = 0; i < range.count(); ++i) {
        const auto lid = Lid{static_cast<std::uint16_t>(range.base.value() + i)};
        const auto to = in.context.lids.destination(lid);
        if (to.sw == s && to.port == port) fn(lid);
      }
    };
    all(in.context.lids.of_switch(s), PortNum{0});
    auto e = in.context.topology.first_end(s);
    for (const auto& end : in.context.topology.end_ports_of(s)) all(in.context.lids.of_end(e++), end.port);
  }

  void deliver(SwitchIndex s, LftRow& row) const {
    for_each_lid_of(s,
                    [&](Lid lid) { row[lid.value()] = job_.in.context.lids.destination(lid).port.value(); });
  }

  const Job<Cost>& job_;
  NextHops<Cost> hops_;
  LftRow in_places_;  ///< where these are not LIDs
  PortRotationCache rotations_;
  std::vector<std::uint32_t> segment_of_;       ///< by column
  std::vector<PortRotationCache::Pick> picks_;  ///< by segment
};

/// Equivalent switches from which the same neighbours are up in all parts.
template <class Cost>
std::vector<SwitchIndex> equivalents_by_ranking(const Topology& topology,
                                                std::span<const Columns<Cost>> columns) {
  auto equivalents = find_equivalent_switches(topology);
  for (SwitchIndex s = 0; s < equivalents.size(); ++s) {
    const auto first = equivalents[s];
    bool same = true;
    for (const auto& part : columns) {
      for (std::size_t g = 0; part.ranking != nullptr && g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        same = same && part.ranking->up(s, peer) == part.ranking->up(first, peer);
      }
    }
    if (!same) equivalents[s] = s;
  }
  return equivalents;
}

bool has_uplink(const Topology& topology, const SwitchRanking& ranking, SwitchIndex s) {
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    if (ranking.up(s, topology.group(s, g).peer)) return true;
  }
  return false;
}

/// Of these, switches whose round robin is equal too. A single residue matters only for a switch that sends
/// upwards by a tree template.
template <class Cost>
std::vector<SwitchIndex> equivalents_by_rotation(const EngineInput& in, std::vector<SwitchIndex> same_costs,
                                                 std::span<const Columns<Cost>> columns,
                                                 const LftBuildInput& input) {
  const auto& indices = input.indices;
  for (SwitchIndex s = 0; s < same_costs.size() && !indices.empty(); ++s) {
    const auto &own = indices[s], &other = indices[same_costs[s]];
    bool same = own.divider == other.divider && own.residues.size() == other.residues.size() &&
                same_rates(in.context.topology, s, same_costs[s]);
    if (same && own.residues != other.residues) {
      same = own.residues.size() == 1 && (input.tree_template == nullptr ||
                                          !has_uplink(in.context.topology, *columns.front().ranking, s));
    }
    if (!same) same_costs[s] = s;
  }
  return same_costs;
}

}  // namespace

template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> build_lfts(const EngineInput& in,
                                                      std::span<const Columns<Cost>> columns,
                                                      const LftBuildInput& input) {
  std::vector<std::shared_ptr<const LftRow>> rows(in.context.topology.switches());
  const auto same_costs = equivalents_by_ranking(in.context.topology, columns);
  const auto equivalents = equivalents_by_rotation(in, same_costs, columns, input);
  Job<Cost> job{.in = in,
                .columns = columns,
                .input = input,
                .same_costs = same_costs,
                .ranking = input.tree_template != nullptr ? columns.front().ranking : nullptr,
                .layout = {.runs = {input.runs.begin(), input.runs.end()}, .places = {}},
                .stretches = {}};
  lay_out(job);
  std::vector<std::uint8_t> own(rows.size());  // rows that equivalents cannot copy
  const auto write_all = [&](std::span<const SwitchIndex> switches, const auto& write) {
    for_ranges(in.context.parallel, switches.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      if (in.context.stop.stop_requested()) return;
      RowWriter<Cost> writer(job);
      for (const auto s : switches.subspan(begin, end - begin)) rows[s] = write(writer, s);
    });
  };
  const auto fresh = [&](RowWriter<Cost>& writer, SwitchIndex s) {
    auto row = std::make_shared<LftRow>(in.context.lids.row_size(), kNoRoute);
    own[s] = writer.write(s, *row) ? 1 : 0;
    return row;
  };
  const auto copied = [&](RowWriter<Cost>& writer, SwitchIndex s) {
    auto row = std::make_shared<LftRow>(*rows[equivalents[s]]);
    writer.write_as(equivalents[s], s, *row);
    return row;
  };
  std::array<std::vector<SwitchIndex>, 3> parts;  // first of their group; computed on their own; copies
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    if (equivalents[s] == s) parts[0].push_back(s);
  }
  write_all(parts[0], fresh);
  if (in.context.stop.stop_requested()) return rows;
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    if (equivalents[s] != s) parts[own[equivalents[s]] != 0 ? 1 : 2].push_back(s);
  }
  write_all(parts[1], fresh);
  write_all(parts[2], copied);
  return rows;
}

template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint8_t>(
    const EngineInput&, std::span<const Columns<std::uint8_t>>, const LftBuildInput&);
template std::vector<std::shared_ptr<const LftRow>> build_lfts<std::uint16_t>(
    const EngineInput&, std::span<const Columns<std::uint16_t>>, const LftBuildInput&);

}  // namespace smd::routing::inline engines
