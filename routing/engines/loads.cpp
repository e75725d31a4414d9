// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/loads.h"

#include <algorithm>
#include <bit>

namespace smd::routing::inline engines {
namespace {

/// Counts hosts whose routes cross each channel, 64 LIDs at once. The flow up from a switch is known when all
/// below it are done, the flow down when all above it are done as well. Most switches send nothing to a given
/// LID.
class Counting {
 public:
  Counting(const Topology& topology, const SwitchRanking& ranking, std::span<const Lid> lids,
           std::span<const std::uint8_t* const> entries)
      : topology_(topology), entries_(entries), steps_(topology.channels()) {
    for (const auto lid : lids) {
      const auto block = lid.value() / kBlock;
      if (blocks_.empty() || blocks_.back().number != block) blocks_.push_back({block, 0});
      blocks_.back().counted |= std::uint64_t{1} << (lid.value() % kBlock);
    }
    from_top_.resize(topology.switches());
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      from_top_[ranking.position[s]] = s;
      for (unsigned p = 1; p <= topology.ports(s); ++p) {
        const PortNum port{static_cast<std::uint8_t>(p)};
        const auto to = topology.peer(s, port).sw;
        if (to != kNoSwitch) steps_[topology.channel(s, port)] = {to, ranking.up(s, to)};
      }
    }
  }

  std::vector<Load> run(const Parallel& parallel) const {
    const std::size_t grain = blocks_.size() / (std::size_t{parallel.threads()} * 4) + 1;
    std::vector<std::vector<Load>> pieces((blocks_.size() + grain - 1) / grain);
    for_ranges(parallel, blocks_.size(), grain, [&](std::size_t begin, std::size_t end) {
      auto& load = pieces[begin / grain];
      load.resize(steps_.size());
      Flows flows{std::vector<Load>(from_top_.size() * kBlock), std::vector<std::uint64_t>(from_top_.size())};
      for (const auto& block : std::span(blocks_).subspan(begin, end - begin)) add(block, flows, load);
    });
    std::vector<Load> sum(steps_.size());
    for (const auto& piece : pieces) {
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += piece[c];
    }
    return sum;
  }

 private:
  static constexpr std::size_t kBlock = 64;
  struct Block {
    std::size_t number = 0;
    std::uint64_t counted = 0;
  };
  struct Step {
    SwitchIndex to = kNoSwitch;
    bool up = false;
  };
  struct Flows {
    std::vector<Load> hosts;           ///< by switch and LID
    std::vector<std::uint64_t> there;  ///< by switch: LIDs to which some host sends through it
  };

  void add(const Block& block, Flows& flows, std::vector<Load>& load) const {
    for (SwitchIndex s = 0; s < from_top_.size(); ++s) {
      std::fill_n(flows.hosts.data() + s * kBlock, kBlock, topology_.hosts(s));
      flows.there[s] = topology_.leaf(s) ? block.counted : 0;
    }
    for (std::size_t i = from_top_.size(); i-- > 0;) add_from(from_top_[i], block, true, flows, load);
    for (const auto s : from_top_) add_from(s, block, false, flows, load);
  }

  void add_from(SwitchIndex s, const Block& block, bool upwards, Flows& flows,
                std::vector<Load>& load) const {
    const auto* const row = entries_[s] + block.number * kBlock;
    const auto* const steps = steps_.data() + topology_.channel(s, PortNum{0});
    auto* const own = load.data() + topology_.channel(s, PortNum{0});
    for (auto rest = flows.there[s]; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (row[i] > topology_.ports(s)) continue;
      const auto [to, up] = steps[row[i]];
      if (to == kNoSwitch || up != upwards) continue;
      const auto more = flows.hosts[s * kBlock + i];
      own[row[i]] += more;
      flows.hosts[to * kBlock + i] += more;
      flows.there[to] |= std::uint64_t{1} << i;
    }
  }

  const Topology& topology_;
  std::span<const std::uint8_t* const> entries_;
  std::vector<Step> steps_;  ///< by channel
  std::vector<SwitchIndex> from_top_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Load> count_loads(const Topology& topology, const SwitchRanking& ranking,
                              std::span<const Lid> lids, std::span<const std::uint8_t* const> entries,
                              const Parallel& parallel) {
  return Counting(topology, ranking, lids, entries).run(parallel);
}

}  // namespace smd::routing::inline engines
