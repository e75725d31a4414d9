// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/spread.h"

#include <algorithm>
#include <bit>

#include "routing/engines/choice.h"
#include "routing/topology/twins.h"

namespace smd::routing {
namespace {

/// Rows that one piece of work fills with the same scratch memory.
constexpr std::size_t kGrain = 16;

template <class Cost>
class RowWriter {
 public:
  RowWriter(const EngineInput& in, std::span<const Columns<Cost>> columns, const Spread& spread,
            std::span<const SwitchIndex> twins)
      : in_(in),
        columns_(columns),
        spread_(spread),
        twins_(twins),
        column_of_(in.topology.switches(), kNoColumn) {
    if (spread.shape != nullptr) order_ = columns.front().order;
    std::uint32_t next = 0;
    for (const auto& part : columns) {
      for (const auto destination : part.destinations) column_of_[destination] = next++;
    }
    for (auto& word : nearer_) word.resize(next);
    down_target_.resize(next);
    up_target_.resize(next);
  }

  /// Whether the row would be another one for a twin.
  bool write(SwitchIndex s, LftRow& row) {
    find_nearer(s);
    bool own = spread_.steps.empty();
    if (order_ != nullptr) turns_ = turns_upwards(in_.topology, *order_, *spread_.shape, s);
    LeastUsed least(s);
    GroupSet last;
    const auto runs = spread_.runs;
    for (std::size_t i = 0; i < runs.size();) {
      const auto& run = runs[i];
      const auto set = candidates_towards(run.destination);
      std::size_t length = run.length;
      for (++i; i < runs.size() && runs[i].follows && candidates_towards(runs[i].destination) == set; ++i) {
        length += runs[i].length;
      }
      if (set.empty()) continue;
      if (!(set == last)) own = take(s, set) || own;
      last = set;
      const auto out = std::span(row).subspan(run.lid, length);
      if (spread_.steps.empty()) {
        least.write(out, candidates_.ports(), run.of_switch);
      } else {
        candidates_.write(out, run.number, spread_.steps[s]);
      }
    }
    deliver(s, row);
    return own;
  }

  /// From its twin's row: only what leads to one of the two differs.
  void write_as(SwitchIndex twin, SwitchIndex s, LftRow& row) {
    if (order_ != nullptr) turns_ = turns_upwards(in_.topology, *order_, *spread_.shape, s);
    const auto towards_twin = nearer_towards(s, twin);
    if (!towards_twin.empty()) take(s, towards_twin);
    for_each_lid_of(twin, [&](Lid lid) {
      const auto at = std::ranges::upper_bound(spread_.runs, lid.value(), {}, &Run::lid) - 1;
      auto out = std::span(row).subspan(lid.value(), 1);
      out[0] = kNoRoute;
      const auto number = at->number + (lid.value() - at->lid);
      if (!towards_twin.empty()) candidates_.write(out, number, spread_.steps[s]);
    });
    deliver(s, row);
  }

 private:
  static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

  /// Whether ports that are missing had to be made up for.
  bool take(SwitchIndex s, const GroupSet& set) {
    if (order_ != nullptr) {
      const auto first = std::ranges::find_if(set.words, [](auto word) { return word != 0; });
      const auto g = static_cast<std::size_t>(first - set.words.begin()) * 64 +
                     static_cast<std::size_t>(std::countr_zero(*first));
      if (order_->up(s, in_.topology.group(s, g).peer)) {
        const auto& shape = *spread_.shape;
        return candidates_.reset(in_.topology, s, set, turns_, shape.place[s] + shape.family[s],
                                 spread_.steps[s].divider);
      }
    }
    candidates_.reset(in_.topology, s, set);
    return false;
  }

  GroupSet candidates_towards(SwitchIndex destination) const {
    const auto column = column_of_[destination];
    GroupSet set;
    if (column == kNoColumn) return set;
    for (std::size_t w = 0; w < words_; ++w) set.words[w] = nearer_[w][column];
    return set;
  }

  /// nearer_: for each column the neighbour groups one step nearer.
  void find_nearer(SwitchIndex s) {
    words_ = (in_.topology.groups(s) + 63) / 64;
    for (std::size_t w = 0; w < words_; ++w) std::ranges::fill(nearer_[w], std::uint64_t{0});
    std::size_t first = 0;
    for (const auto& part : columns_) {
      find_nearer(s, part, first);
      first += part.destinations.size();
    }
  }

  void find_nearer(SwitchIndex s, const Columns<Cost>& part, std::size_t first) {
    using C = Costs<Cost>;
    const auto own = part.costs->row(s);
    const std::size_t n = own.size();
    for (std::size_t c = 0; c < n; ++c) {
      const Cost cost = own[c];
      const bool up = cost >= C::kGoesUp && cost != C::kUnreachable;
      const bool down = cost < C::kGoesUp && cost != 0;
      down_target_[c] = down ? static_cast<Cost>(cost - 1) : C::kNever;
      up_target_[c] = static_cast<Cost>((up ? static_cast<Cost>(cost - 1) : C::kNever) & C::kLength);
    }
    for (std::size_t g = 0; g < in_.topology.groups(s); ++g) take_group(s, g, part);
    for (const auto& kin : kins_) mark(kin, part, first);
    kins_.clear();
  }

  /// Neighbours whose costs are alike, but to each other.
  struct Kin {
    SwitchIndex first = 0;
    bool up = false;
    GroupSet groups;
    std::vector<std::pair<std::size_t, SwitchIndex>> others;
  };

  void take_group(SwitchIndex s, std::size_t g, const Columns<Cost>& part) {
    const auto peer = in_.topology.group(s, g).peer;
    const bool up = part.order != nullptr && part.order->up(s, peer);
    const auto known = std::ranges::find_if(
        kins_, [&](const Kin& kin) { return twins_[kin.first] == twins_[peer] && kin.up == up; });
    auto& kin = known != kins_.end() ? *known : kins_.emplace_back(Kin{peer, up, {}, {}});
    if (known != kins_.end()) kin.others.emplace_back(g, peer);
    kin.groups.words[g / 64] |= std::uint64_t{1} << (g % 64);
  }

  void mark(const Kin& kin, const Columns<Cost>& part, std::size_t first) {
    const auto row = part.costs->row(kin.first);
    const Cost* const target = (kin.up ? up_target_ : down_target_).data();
    const Cost mask = kin.up ? Costs<Cost>::kLength : Costs<Cost>::kUnreachable;
    for (std::size_t w = 0; w < words_; ++w) {
      const auto groups = kin.groups.words[w];
      if (groups == 0) continue;
      auto* const word = nearer_[w].data() + first;
      for (std::size_t c = 0; c < row.size(); ++c) word[c] |= (row[c] & mask) == target[c] ? groups : 0;
    }
    for (const auto& [g, peer] : kin.others) {
      const auto own = part.costs->row(peer);
      for (const auto column : {column_of_[peer], column_of_[kin.first]}) {
        if (column < first || column - first >= row.size()) continue;
        const auto bit = std::uint64_t{1} << (g % 64);
        auto& word = nearer_[g / 64][column];
        word = (own[column - first] & mask) == target[column - first] ? word | bit : word & ~bit;
      }
    }
  }

  /// The same for one column only.
  GroupSet nearer_towards(SwitchIndex s, SwitchIndex destination) const {
    using C = Costs<Cost>;
    GroupSet set;
    for (const auto& part : columns_) {
      const auto at = std::ranges::lower_bound(part.destinations, destination);
      if (at == part.destinations.end() || *at != destination) continue;
      const auto column = static_cast<std::size_t>(at - part.destinations.begin());
      const Cost own = part.costs->row(s)[column];
      if (own == C::kUnreachable || own == 0) continue;
      const bool goes_up = own >= C::kGoesUp;
      for (std::size_t g = 0; g < in_.topology.groups(s); ++g) {
        const auto peer = in_.topology.group(s, g).peer;
        const bool up = part.order != nullptr && part.order->up(s, peer);
        const Cost theirs = part.costs->row(peer)[column];
        const bool nearer =
            up ? goes_up && C::length(theirs) + 1 == C::length(own) : !goes_up && theirs + 1U == own;
        if (nearer) set.words[g / 64] |= std::uint64_t{1} << (g % 64);
      }
    }
    return set;
  }

  /// LIDs that end at the switch or its end ports, each with its port.
  template <class Fn>
  void for_each_lid_of(SwitchIndex s, const Fn& fn) const {
    const auto all = [&](LidRange range, PortNum port) {
      for (std::uint32_t i = 0; i < range.count(); ++i) {
        const auto lid = Lid{static_cast<std::uint16_t>(range.base.value() + i)};
        const auto to = in_.lids.destination(lid);
        if (to.sw == s && to.port == port) fn(lid);
      }
    };
    all(in_.lids.of_switch(s), PortNum{0});
    auto e = in_.topology.first_end(s);
    for (const auto& end : in_.topology.end_ports_of(s)) all(in_.lids.of_end(e++), end.port);
  }

  void deliver(SwitchIndex s, LftRow& row) const {
    for_each_lid_of(s, [&](Lid lid) { row[lid.value()] = in_.lids.destination(lid).port.value(); });
  }

  const EngineInput& in_;
  std::span<const Columns<Cost>> columns_;
  const Spread& spread_;
  std::span<const SwitchIndex> twins_;
  const Order* order_ = nullptr;  ///< with a shape: which way is up
  Turns turns_;
  std::vector<std::uint32_t> column_of_;
  std::array<std::vector<std::uint64_t>, 4> nearer_;
  std::size_t words_ = 0;
  std::vector<Cost> down_target_, up_target_;
  std::vector<Kin> kins_;
  Candidates candidates_;
};

/// Twins whose rows are alike as well: up and down are the same for both, and they take turns alike.
template <class Cost>
std::vector<SwitchIndex> alike(const Topology& topology, std::span<const Columns<Cost>> columns,
                               const Spread& spread) {
  auto twins = find_twins(topology);
  for (SwitchIndex s = 0; s < twins.size(); ++s) {
    const auto first = twins[s];
    bool same = spread.steps.empty() || spread.steps[s] == spread.steps[first];
    for (const auto& part : columns) {
      for (std::size_t g = 0; part.order != nullptr && g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        same = same && part.order->up(s, peer) == part.order->up(first, peer);
      }
    }
    if (!same) twins[s] = s;
  }
  return twins;
}

}  // namespace

template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> fill_rows(const EngineInput& in,
                                                     std::span<const Columns<Cost>> columns,
                                                     const Spread& spread) {
  std::vector<std::shared_ptr<const LftRow>> rows(in.topology.switches());
  const auto twins = alike(in.topology, columns, spread);
  std::vector<std::uint8_t> own(rows.size());  // rows that twins cannot copy
  const auto write_all = [&](std::span<const SwitchIndex> switches, const auto& write) {
    for_ranges(in.parallel, switches.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      if (in.stop.stop_requested()) return;
      RowWriter<Cost> writer(in, columns, spread, twins);
      for (const auto s : switches.subspan(begin, end - begin)) rows[s] = write(writer, s);
    });
  };
  const auto fresh = [&](RowWriter<Cost>& writer, SwitchIndex s) {
    auto row = std::make_shared<LftRow>(in.lids.row_size(), kNoRoute);
    own[s] = writer.write(s, *row) ? 1 : 0;
    return row;
  };
  const auto copied = [&](RowWriter<Cost>& writer, SwitchIndex s) {
    auto row = std::make_shared<LftRow>(*rows[twins[s]]);
    writer.write_as(twins[s], s, *row);
    return row;
  };
  std::array<std::vector<SwitchIndex>, 3> parts;  // first of their kind; of their own; copies
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    if (twins[s] == s) parts[0].push_back(s);
  }
  write_all(parts[0], fresh);
  if (in.stop.stop_requested()) return rows;
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    if (twins[s] != s) parts[own[twins[s]] != 0 ? 1 : 2].push_back(s);
  }
  write_all(parts[1], fresh);
  write_all(parts[2], copied);
  return rows;
}

template std::vector<std::shared_ptr<const LftRow>> fill_rows<std::uint8_t>(
    const EngineInput&, std::span<const Columns<std::uint8_t>>, const Spread&);
template std::vector<std::shared_ptr<const LftRow>> fill_rows<std::uint16_t>(
    const EngineInput&, std::span<const Columns<std::uint16_t>>, const Spread&);

}  // namespace smd::routing
