// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/reorient.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace smd::routing::inline ranking {
namespace {

/// A link at which a path goes down to a switch and up again: `low` is that switch, `high` the one above it.
struct Valley {
  SwitchIndex low, high;
};

class Reorienter {
 public:
  Reorienter(const Topology& topology, SwitchRanking ranking)
      : topology_(topology), ranking_(std::move(ranking)), ordered_(topology.switches()) {
    for (SwitchIndex s = 0; s < ordered_.size(); ++s) ordered_[ranking_.position[s]] = s;
  }

  std::optional<SwitchRanking> run(const std::stop_token& stop) {
    auto illegal = illegal_pairs(std::numeric_limits<std::size_t>::max());
    while (illegal != 0) {
      if (stop.stop_requested()) return std::nullopt;
      const auto valley = find_valley();
      if (!valley) return std::nullopt;
      const auto left = turn(*valley, illegal);
      if (left >= illegal) return std::nullopt;
      illegal = left;
    }
    return std::move(ranking_);
  }

 private:
  enum Phase : std::uint8_t { up, down };

  /// Pairs of leaves that are connected and have no legal path; counted up to `most`.
  std::size_t illegal_pairs(std::size_t most) const {
    // By switch: reached by a path that only goes up so far, reached by any, waiting in `open`.
    constexpr std::uint8_t kUpwards = 1, kReached = 2, kOpen = 4;
    std::size_t count = 0;
    std::vector<std::uint8_t> seen(topology_.switches());
    std::vector<SwitchIndex> open;
    const auto visit = [&](SwitchIndex s, std::uint8_t how) {
      if ((seen[s] & how) == how) return;
      if ((seen[s] & kOpen) == 0) open.push_back(s);
      seen[s] |= static_cast<std::uint8_t>(how | kOpen);
    };
    for (const auto source : topology_.leaves()) {
      std::ranges::fill(seen, std::uint8_t{0});
      visit(source, kUpwards | kReached);
      while (!open.empty()) {
        const auto s = open.back();
        open.pop_back();
        seen[s] &= kUpwards | kReached;
        for (std::size_t g = 0; g < topology_.groups(s); ++g) {
          const auto peer = topology_.group(s, g).peer;
          const bool up = ranking_.up(s, peer);
          if (!up) visit(peer, kReached);
          if (up && (seen[s] & kUpwards) != 0) visit(peer, kUpwards | kReached);
        }
      }
      for (SwitchIndex s = 0; s < seen.size(); ++s) count += seen[s] == 0 && needed(source, s) ? 1U : 0U;
      if (count >= most) break;
    }
    return count;
  }

  bool needed(SwitchIndex source, SwitchIndex s) const {
    return topology_.leaf(s) && topology_.component(s) == topology_.component(source);
  }

  std::optional<Valley> find_valley() const {
    for (const auto source : topology_.leaves()) {
      if (auto found = first_valley(source)) return found;
    }
    return std::nullopt;
  }

  /// The first valley of a path with the fewest of them from `source` to a leaf that no legal path leads
  /// to. Nothing: there is no such switch.
  std::optional<Valley> first_valley(SwitchIndex source) const {
    constexpr auto kFar = std::numeric_limits<std::uint32_t>::max();
    const std::size_t n = topology_.switches();
    // By (switch, phase): valleys on the way, and the step before.
    std::vector<std::uint32_t> valleys(2 * n, kFar);
    std::vector<std::size_t> before(2 * n);
    std::deque<std::size_t> open{2 * std::size_t{source} + up};
    valleys[open.front()] = 0;
    std::vector<bool> done(2 * n);
    while (!open.empty()) {
      const auto from = open.front();
      open.pop_front();
      if (done[from]) continue;
      done[from] = true;
      const auto s = static_cast<SwitchIndex>(from / 2);
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto peer = topology_.group(s, g).peer;
        const auto phase = ranking_.up(s, peer) ? up : down;
        const bool valley = from % 2 == down && phase == up;
        const auto to = 2 * std::size_t{peer} + phase;
        const auto cost = valleys[from] + (valley ? 1 : 0);
        if (cost >= valleys[to]) continue;
        valleys[to] = cost;
        before[to] = from;
        if (valley) {
          open.push_back(to);
        } else {
          open.push_front(to);
        }
      }
    }
    std::size_t worst = 2 * n;
    for (SwitchIndex s = 0; s < n; ++s) {
      if (!needed(source, s)) continue;
      const auto at =
          2 * std::size_t{s} + (valleys[2 * std::size_t{s} + down] < valleys[2 * std::size_t{s}] ? 1 : 0);
      if (valleys[at] == 0) continue;
      if (worst == 2 * n || valleys[at] < valleys[worst]) worst = at;
    }
    if (worst == 2 * n) return std::nullopt;
    Valley found{};
    for (auto at = worst; valleys[at] != 0; at = before[at])
      found = {static_cast<SwitchIndex>(before[at] / 2), static_cast<SwitchIndex>(at / 2)};
    return found;
  }

  std::size_t neighbours_between(SwitchIndex of, std::uint32_t above, std::uint32_t below) const {
    std::size_t count = 0;
    for (std::size_t g = 0; g < topology_.groups(of); ++g) {
      const auto position = ranking_.position[topology_.group(of, g).peer];
      count += position >= above && position <= below ? 1U : 0U;
    }
    return count;
  }

  /// Lowers the upper switch or raises the lower one, whichever leaves fewer illegal pairs, then whichever
  /// turns fewer links. Returns the illegal pairs that are left, or `illegal` where it is not less.
  std::size_t turn(const Valley& valley, std::size_t illegal) {
    const auto above = ranking_.position[valley.high], below = ranking_.position[valley.low];
    const bool lower_first =
        neighbours_between(valley.high, above, below) <= neighbours_between(valley.low, above, below);
    rotate(above, below, lower_first);
    const auto one = illegal_pairs(illegal);
    if (one == 0) return one;
    rotate(above, below, !lower_first);  // back
    rotate(above, below, !lower_first);
    const auto other = illegal_pairs(std::min(one, illegal));
    if (other < one) return other;
    rotate(above, below, lower_first);
    rotate(above, below, lower_first);
    return one;
  }

  /// The switch at `above` goes below that at `below`, or that one above the first.
  void rotate(std::uint32_t above, std::uint32_t below, bool lower) {
    const auto begin = ordered_.begin() + above, end = ordered_.begin() + below + 1;
    std::rotate(begin, lower ? begin + 1 : end - 1, end);
    for (auto position = above; position <= below; ++position)
      ranking_.position[ordered_[position]] = position;
  }

  const Topology& topology_;
  SwitchRanking ranking_;
  std::vector<SwitchIndex> ordered_;  ///< by position
};

}  // namespace

std::optional<SwitchRanking> reorient(const Topology& topology, const SwitchRanking& ranking,
                                      const std::stop_token& stop) {
  return Reorienter(topology, ranking).run(stop);
}

}  // namespace smd::routing::inline ranking
