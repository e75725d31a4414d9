// SPDX-License-Identifier: Apache-2.0
// Breadth-first searches from 512 destinations at once, a bit each (Then et al., "The More the Merrier:
// Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014).
#include "routing/ranking/costs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

namespace smd::routing::inline ranking {
namespace {

constexpr std::size_t kWords = 8;
constexpr std::size_t kColumns = kWords * 64;

struct Bits {
  std::array<std::uint64_t, kWords> words{};

  void operator|=(const Bits& other) {
    for (std::size_t i = 0; i < kWords; ++i) words[i] |= other.words[i];
  }
  /// Bits of this set that `other` lacks.
  Bits without(const Bits& other) const {
    Bits result;
    for (std::size_t i = 0; i < kWords; ++i) result.words[i] = words[i] & ~other.words[i];
    return result;
  }
  bool any() const {
    std::uint64_t all = 0;
    for (const auto word : words) all |= word;
    return all != 0;
  }
};

/// By switch the neighbours to which its costs propagate: a switch in `above` learns a path down to it, a
/// switch in `below` learns a path up to it.
struct Steps {
  std::vector<std::uint32_t> above_base, below_base;
  std::vector<SwitchIndex> above, below;

  Steps(const Topology& topology, const SwitchRanking* ranking) : above_base{0}, below_base{0} {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        (ranking == nullptr || ranking->up(s, peer) ? above : below).push_back(peer);
      }
      above_base.push_back(static_cast<std::uint32_t>(above.size()));
      below_base.push_back(static_cast<std::uint32_t>(below.size()));
    }
  }
  std::span<const SwitchIndex> above_of(SwitchIndex s) const {
    return std::span(above).subspan(above_base[s], above_base[s + 1] - above_base[s]);
  }
  std::span<const SwitchIndex> below_of(SwitchIndex s) const {
    return std::span(below).subspan(below_base[s], below_base[s + 1] - below_base[s]);
  }
};

/// Switches reached in the last step of the search: bits by switch, and the switches that have any.
struct Front {
  explicit Front(std::size_t n) : bits(n) {}
  std::vector<Bits> bits;
  std::vector<SwitchIndex> active;

  void add(SwitchIndex s, const Bits& more) {
    if (!bits[s].any()) active.push_back(s);
    bits[s] |= more;
  }
  void clear() {
    for (const auto s : active) bits[s] = {};
    active.clear();
  }
};

template <class Cost>
class Search {
 public:
  Search(const Steps& steps, std::span<const SwitchIndex> destinations, std::size_t first, Cost* cells,
         std::size_t columns, std::size_t switches)
      : steps_(steps),
        cells_(cells),
        columns_(columns),
        first_(first),
        seen_(switches),
        down_(switches),
        next_down_(switches),
        up_(switches),
        next_up_(switches) {
    for (std::size_t i = 0; i < destinations.size(); ++i) {
      Bits bit;
      bit.words[i / 64] = std::uint64_t{1} << (i % 64);
      start_.emplace_back(destinations[i], bit);
    }
  }

  bool shortest() { return run(false, true); }
  bool up_down() {
    if (!run(false, false)) return false;
    has_down_ = seen_;
    std::ranges::fill(seen_, Bits{});
    return run(true, true);
  }

 private:
  bool run(bool with_up, bool record) {
    down_.clear();
    up_.clear();
    for (const auto& [s, bit] : start_) {
      down_.add(s, bit);
      seen_[s] |= bit;
      if (record) write(s, bit, Cost{0});
    }
    for (unsigned length = 1; !down_.active.empty() || !up_.active.empty(); ++length) {
      if (length > Costs<Cost>::kLongest) return false;
      step_down();
      if (with_up) step_up();
      settle(next_down_, record, static_cast<Cost>(length));
      settle(next_up_, record, static_cast<Cost>(length | Costs<Cost>::kGoesUp));
      std::swap(down_, next_down_);
      std::swap(up_, next_up_);
      next_down_.clear();
      next_up_.clear();
    }
    return true;
  }

  void step_down() {
    for (const auto s : down_.active) {
      for (const auto upper : steps_.above_of(s)) {
        const auto fresh = down_.bits[s].without(seen_[upper]);
        if (fresh.any()) next_down_.add(upper, fresh);
      }
    }
  }

  void step_up() {
    for (const auto* front : {&down_, &up_}) {
      for (const auto s : front->active) {
        for (const auto lower : steps_.below_of(s)) {
          const auto fresh = front->bits[s].without(seen_[lower]).without(has_down_[lower]);
          if (fresh.any()) next_up_.add(lower, fresh);
        }
      }
    }
  }

  void settle(const Front& front, bool record, Cost cost) {
    for (const auto s : front.active) {
      seen_[s] |= front.bits[s];
      if (record) write(s, front.bits[s], cost);
    }
  }

  void write(SwitchIndex s, const Bits& bits, Cost cost) {
    Cost* const row = cells_ + s * columns_ + first_;
    for (std::size_t w = 0; w < kWords; ++w) {
      if (bits.words[w] == ~std::uint64_t{0}) {
        std::fill_n(row + w * 64, 64, cost);
        continue;
      }
      for (auto word = bits.words[w]; word != 0; word &= word - 1) {
        row[w * 64 + static_cast<std::size_t>(std::countr_zero(word))] = cost;
      }
    }
  }

  const Steps& steps_;
  Cost* cells_;
  std::size_t columns_, first_;
  std::vector<std::pair<SwitchIndex, Bits>> start_;
  std::vector<Bits> seen_, has_down_;
  Front down_, next_down_, up_, next_up_;
};

}  // namespace

template <std::unsigned_integral Cost>
Costs<Cost>::Costs(const Topology& topology, const SwitchRanking* ranking,
                   std::span<const SwitchIndex> destinations, const Parallel& parallel)
    : columns_(destinations.size()), cells_(topology.switches() * destinations.size(), kUnreachable) {
  const Steps steps(topology, ranking);
  std::atomic<bool> complete{true};
  for_ranges(parallel, columns_, kColumns, [&](std::size_t begin, std::size_t end) {
    Search<Cost> search(steps, destinations.subspan(begin, end - begin), begin, cells_.data(), columns_,
                        topology.switches());
    if (!(ranking == nullptr ? search.shortest() : search.up_down())) complete = false;
  });
  complete_ = complete;
}

template <std::unsigned_integral Cost>
Costs<Cost> Costs<Cost>::reordered(std::span<const SwitchIndex> order) const {
  Costs result(columns_, complete_);
  result.cells_.reserve(cells_.size());
  for (const auto s : order) {
    const auto from = row(s);
    result.cells_.insert(result.cells_.end(), from.begin(), from.end());
  }
  return result;
}

template class Costs<std::uint8_t>;
template class Costs<std::uint16_t>;

}  // namespace smd::routing::inline ranking
