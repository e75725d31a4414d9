// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/spread.h"

#include <algorithm>

#include "routing/engines/choice.h"

namespace smd::routing {
namespace {

/// Rows that one piece of work fills with the same scratch memory.
constexpr std::size_t kGrain = 16;

template <class Cost>
class RowWriter {
 public:
  RowWriter(const EngineInput& in, std::span<const Columns<Cost>> columns, const Spread& spread)
      : in_(in), columns_(columns), spread_(spread), column_of_(in.topology.switches(), kNoColumn) {
    std::uint32_t next = 0;
    for (const auto& part : columns) {
      for (const auto destination : part.destinations) column_of_[destination] = next++;
    }
    for (auto& word : nearer_) word.resize(next);
    down_target_.resize(next);
    up_target_.resize(next);
    plane_.resize(next);
  }

  void write(SwitchIndex s, LftRow& row) {
    find_nearer(s);
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
      if (!(set == last)) candidates_.reset(in_.topology, s, set);
      last = set;
      const auto out = std::span(row).subspan(run.lid, length);
      if (spread_.dividers.empty()) {
        least.write(out, candidates_.ports(), run.of_switch);
      } else {
        candidates_.write_turns(out, run.number, spread_.dividers[s]);
      }
    }
    deliver(s, row);
  }

 private:
  static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

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
    const std::size_t groups = in_.topology.groups(s);
    for (std::size_t begin = 0; begin < groups; begin += 8) {
      std::fill_n(plane_.begin(), n, std::uint8_t{0});
      for (std::size_t g = begin; g < std::min(groups, begin + 8); ++g) {
        const auto peer = in_.topology.group(s, g).peer;
        const bool up = part.order != nullptr && part.order->up(s, peer);
        mark(part.costs->row(peer).data(), up, n, static_cast<std::uint8_t>(1U << (g - begin)));
      }
      auto* const word = nearer_[begin / 64].data() + first;
      for (std::size_t c = 0; c < n; ++c) word[c] |= std::uint64_t{plane_[c]} << (begin % 64);
    }
  }

  void mark(const Cost* peer, bool up, std::size_t n, std::uint8_t bit) {
    const Cost* const target = up ? up_target_.data() : down_target_.data();
    const Cost mask = up ? Costs<Cost>::kLength : Costs<Cost>::kUnreachable;
    std::uint8_t* const plane = plane_.data();
    for (std::size_t c = 0; c < n; ++c) {
      plane[c] = static_cast<std::uint8_t>(plane[c] | ((peer[c] & mask) == target[c] ? bit : 0));
    }
  }

  /// What ends here: the switch itself and its end ports.
  void deliver(SwitchIndex s, LftRow& row) const {
    const auto put = [&](LidRange range, PortNum port) {
      for (std::uint32_t i = 0; i < range.count(); ++i) {
        const auto lid = Lid{static_cast<std::uint16_t>(range.base.value() + i)};
        const auto to = in_.lids.destination(lid);
        if (to.sw == s && to.port == port && lid.value() < row.size()) row[lid.value()] = port.value();
      }
    };
    put(in_.lids.of_switch(s), PortNum{0});
    auto e = in_.topology.first_end(s);
    for (const auto& end : in_.topology.end_ports_of(s)) put(in_.lids.of_end(e++), end.port);
  }

  const EngineInput& in_;
  std::span<const Columns<Cost>> columns_;
  const Spread& spread_;
  std::vector<std::uint32_t> column_of_;
  std::array<std::vector<std::uint64_t>, 4> nearer_;
  std::size_t words_ = 0;
  std::vector<Cost> down_target_, up_target_;
  std::vector<std::uint8_t> plane_;
  Candidates candidates_;
};

}  // namespace

template <std::unsigned_integral Cost>
std::vector<std::shared_ptr<const LftRow>> fill_rows(const EngineInput& in,
                                                     std::span<const Columns<Cost>> columns,
                                                     const Spread& spread) {
  std::vector<std::shared_ptr<const LftRow>> rows(in.topology.switches());
  const std::size_t size = in.lids.row_size();
  for_ranges(in.parallel, rows.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (in.stop.stop_requested()) return;
    RowWriter<Cost> writer(in, columns, spread);
    for (std::size_t s = begin; s < end; ++s) {
      auto row = std::make_shared<LftRow>(size, kNoRoute);
      writer.write(static_cast<SwitchIndex>(s), *row);
      rows[s] = std::move(row);
    }
  });
  return rows;
}

template std::vector<std::shared_ptr<const LftRow>> fill_rows<std::uint8_t>(
    const EngineInput&, std::span<const Columns<std::uint8_t>>, const Spread&);
template std::vector<std::shared_ptr<const LftRow>> fill_rows<std::uint16_t>(
    const EngineInput&, std::span<const Columns<std::uint16_t>>, const Spread&);

}  // namespace smd::routing
