// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/affected_entries.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace smd::routing::inline repair {
namespace {

/// Switches per piece of work.
constexpr std::size_t kOldRowsAtOnce = 64;

std::vector<std::uint32_t> identity(std::size_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// Exchanges bit j of word i with bit i of word j.
void transpose(std::span<std::uint64_t, 64> words) {
  auto mask = ~std::uint64_t{0} >> 32U;
  for (unsigned step = 32; step != 0; step /= 2, mask ^= mask << step) {
    for (std::size_t i = 0; i < words.size(); i = (i + step + 1) & ~std::size_t{step}) {
      const auto differ = (words[i] >> step ^ words[i + step]) & mask;
      words[i] ^= differ << step;
      words[i + step] ^= differ;
    }
  }
}

}  // namespace

AffectedEntries::AffectedEntries(const RankedFabric& before, const RankedFabric& now,
                                 std::span<const LidRun> runs, const Parallel& parallel)
    : now_(now),
      runs_(runs),
      reach_(now.topology, now.ranking, identity(now.topology.switches()), now.topology.switches(), parallel),
      was_(now.topology.switches(), kNoSwitch),
      changed_(now.topology.switches() * reach_.words()),
      any_changed_(now.topology.switches()),
      new_columns_(reach_.words()),
      moved_(now.topology.switches()),
      run_base_(now.topology.switches() + 1),
      run_of_(runs.size()) {
  std::vector<std::uint32_t> columns(before.topology.switches(), Reach::kNone);
  for (SwitchIndex s = 0; s < was_.size(); ++s) {
    was_[s] = before.topology.find(now.topology.guid(s));
    if (was_[s] != kNoSwitch) columns[was_[s]] = s;
  }
  const Reach was(before.topology, before.ranking, columns, was_.size(), parallel);
  for_ranges(parallel, was_.size(), kOldRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) moved_[s] = moved_ports(before, s);
  });
  compare_reach(was);
  compare_lids(before);
  for (const auto& run : runs) ++run_base_[run.destination + 1];
  std::partial_sum(run_base_.begin(), run_base_.end(), run_base_.begin());
  auto next = run_base_;
  for (std::uint32_t i = 0; i < runs.size(); ++i) run_of_[next[runs[i].destination]++] = i;
}

void AffectedEntries::compare_reach(const Reach& was) {
  const std::size_t words = reach_.words();
  for (SwitchIndex s = 0; s < was_.size(); ++s) {
    const auto down = reach_.down(s), any = reach_.any(s);
    std::uint64_t all = 0;
    for (std::size_t w = 0; w < words; ++w) {
      const auto old_down = was_[s] == kNoSwitch ? 0 : was.down(was_[s])[w];
      const auto old_any = was_[s] == kNoSwitch ? 0 : was.any(was_[s])[w];
      all |= changed_[s * words + w] = (down[w] ^ old_down) | (any[w] ^ old_any);
    }
    any_changed_[s] = all != 0 ? 1 : 0;
  }
}

void AffectedEntries::compare_lids(const RankedFabric& before) {
  for (std::uint32_t value = 1; value <= now_.lids.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto to = now_.lids.destination(lid), old = before.lids.destination(lid);
    if (to.sw == kNoSwitch || (old.sw != kNoSwitch && was_[to.sw] == old.sw && to.port == old.port)) continue;
    new_columns_[to.sw / 64] |= std::uint64_t{1} << (to.sw % 64);
    any_new_ = true;
  }
}

std::vector<std::uint8_t> AffectedEntries::moved_ports(const RankedFabric& before, SwitchIndex s) const {
  std::vector<std::uint8_t> ports;
  for (unsigned p = 1; was_[s] != kNoSwitch && p <= before.topology.ports(was_[s]); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    const auto old = before.topology.peer(was_[s], port).sw, to = now_.topology.peer(s, port).sw;
    const bool same = to == kNoSwitch ? old == kNoSwitch : old != kNoSwitch && was_[to] == old;
    if (!same) ports.push_back(port.value());
  }
  return ports;
}

bool AffectedEntries::hosts_connected() const {
  const auto& topology = now_.topology;
  std::vector<std::vector<std::uint64_t>> needed(topology.components());
  for (const auto s : topology.leaves()) {
    auto& bits = needed[topology.component(s)];
    bits.resize(reach_.words());
    bits[s / 64] |= std::uint64_t{1} << (s % 64);
  }
  return std::ranges::all_of(topology.leaves(), [&](SwitchIndex s) {
    const auto& wanted = needed[topology.component(s)];
    const auto any = reach_.any(s);
    for (std::size_t w = 0; w < wanted.size(); ++w) {
      if ((wanted[w] & ~any[w]) != 0) return false;
    }
    return true;
  });
}

std::span<const BrokenEntry> AffectedEntries::Finder::find(SwitchIndex s, const LftRow& row) {
  begin(s);
  broken_.clear();
  find_by_ports(s, row);
  const auto by_ports = static_cast<std::ptrdiff_t>(broken_.size());
  if (affected_columns(s)) find_by_columns(row);
  // Each part is sorted if the order of LIDs is that of the switches.
  const auto middle = broken_.begin() + by_ports;
  if (!std::ranges::is_sorted(middle, broken_.end(), {}, &BrokenEntry::lid)) {
    std::ranges::sort(middle, broken_.end(), {}, &BrokenEntry::lid);
  }
  if (by_ports == 0) return broken_;
  merged_.clear();
  std::ranges::set_union(broken_.begin(), middle, middle, broken_.end(), std::back_inserter(merged_), {},
                         &BrokenEntry::lid, &BrokenEntry::lid);
  return merged_;
}

AffectedEntries::Finder::Finder(const AffectedEntries& all) : all_(all), known_(all.reach_.words()) {}

void AffectedEntries::Finder::begin(SwitchIndex s) {
  switch_ = s;
  known_.assign(known_.size(), false);
  group_of_.fill(kNoGroup);
  const auto& topology = all_.now_.topology;
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    for (const auto port : topology.group(s, g).ports) group_of_[port.value()] = static_cast<std::uint8_t>(g);
  }
}

/// Columns in which the reach of the switch or of a neighbour changed; false if there are none.
bool AffectedEntries::Finder::affected_columns(SwitchIndex s) {
  const auto& topology = all_.now_.topology;
  const std::size_t words = all_.reach_.words();
  bool any = all_.any_new_;
  columns_ = all_.new_columns_;
  const auto add = [&](SwitchIndex at) {
    if (all_.any_changed_[at] == 0) return;
    any = true;
    for (std::size_t w = 0; w < words; ++w) columns_[w] |= all_.changed_[at * words + w];
  };
  add(s);
  for (std::size_t g = 0; g < topology.groups(s); ++g) add(topology.group(s, g).peer);
  return any;
}

/// Checks all entries whose port led elsewhere before.
void AffectedEntries::Finder::find_by_ports(SwitchIndex s, const LftRow& row) {
  const auto& moved = all_.moved_[s];
  if (moved.empty()) return;
  std::array<bool, 256> is_moved{};
  for (const auto port : moved) is_moved[port] = true;
  for (const auto& run : all_.runs_) {
    for (std::size_t lid = run.lid; lid < std::size_t{run.lid} + run.length; ++lid) {
      if (is_moved[row[lid]]) check(row, lid, run, legal(run.destination));
    }
  }
}

void AffectedEntries::Finder::find_by_columns(const LftRow& row) {
  for (std::size_t w = 0; w < columns_.size(); ++w) {
    for (auto word = columns_[w]; word != 0; word &= word - 1) {
      const auto destination = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      const auto set = legal(static_cast<SwitchIndex>(destination));
      for (auto i = all_.run_base_[destination]; i < all_.run_base_[destination + 1]; ++i) {
        const auto& run = all_.runs_[all_.run_of_[i]];
        for (std::size_t lid = run.lid; lid < std::size_t{run.lid} + run.length; ++lid) {
          check(row, lid, run, set);
        }
      }
    }
  }
}

void AffectedEntries::Finder::check(const LftRow& row, std::size_t lid, const LidRun& run,
                                    const GroupSet& set) {
  if (good(row[lid], run.destination, lid, set)) return;
  const auto at = static_cast<std::uint32_t>(lid - run.lid);
  broken_.push_back({static_cast<std::uint16_t>(lid), run.number + at, run.kind, run.destination});
}

bool AffectedEntries::Finder::good(std::uint8_t port, SwitchIndex to, std::size_t lid,
                                   const GroupSet& set) const {
  if (to == switch_) {
    return port == all_.now_.lids.destination(Lid{static_cast<std::uint16_t>(lid)}).port.value();
  }
  if (port == kNoRoute) return !has(all_.reach_.any(switch_), to);
  const auto g = group_of_[port];
  return g != kNoGroup && (set.words[g / 64U] >> (g % 64U) & 1U) != 0;
}

GroupSet AffectedEntries::Finder::legal(SwitchIndex destination) {
  if (!known_[destination / 64]) find_legal(destination / 64);
  GroupSet set;
  const auto words = (all_.now_.topology.groups(switch_) + 63) / 64;
  for (std::size_t w = 0; w < words; ++w) set.words[w] = legal_[w][destination];
  return set;
}

/// Down where possible, to a switch that goes on down; else up to a switch with a path. For 64 destinations
/// at once: bits are stored by destination for each neighbour, and needed by neighbour for each destination.
void AffectedEntries::Finder::find_legal(std::size_t word) {
  const auto& [topology, lids, ranking] = all_.now_;
  known_[word] = true;
  const auto down = all_.reach_.down(switch_)[word];
  for (std::size_t first = 0; first < topology.groups(switch_); first += 64) {
    auto& sets = legal_[first / 64];
    sets.resize(known_.size() * 64);
    const auto bits = std::span(sets).subspan(word * 64).first<64>();
    std::ranges::fill(bits, std::uint64_t{0});
    for (std::size_t g = first; g < std::min(topology.groups(switch_), first + 64); ++g) {
      const auto peer = topology.group(switch_, g).peer;
      bits[g - first] = ranking.up(switch_, peer) ? ~down & all_.reach_.any(peer)[word]
                                                  : down & all_.reach_.down(peer)[word];
    }
    transpose(bits);
  }
}

}  // namespace smd::routing::inline repair
