// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair_entries.h"

#include <algorithm>
#include <bit>

namespace smd::routing::inline repair {
namespace {

/// Counts bytes. Equal ones often follow each other: with one counter each increment would wait for the one
/// before.
class Histogram {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    std::size_t i = 0;
    for (; i + 4 <= bytes.size(); i += 4) {
      for (std::size_t k = 0; k < 4; ++k) ++counts_[k][bytes[i + k]];
    }
    for (; i < bytes.size(); ++i) ++counts_[0][bytes[i]];
  }
  void into(std::array<std::uint32_t, 256>& sums) const {
    for (std::size_t port = 0; port < sums.size(); ++port) {
      sums[port] = counts_[0][port] + counts_[1][port] + counts_[2][port] + counts_[3][port];
    }
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> counts_{};
};

}  // namespace

template <std::unsigned_integral Cost>
void EntryRepairer<Cost>::count(const LftRow& row, std::span<const BrokenEntry> broken) {
  std::array<Histogram, kLidKinds> counts;
  std::size_t begin = 0, end = 0;
  auto kind = LidKind::host;
  const auto add = [&] {
    counts[static_cast<std::size_t>(kind)].add(std::span(row).subspan(begin, end - begin));
  };
  for (const auto& run : runs_) {
    if (run.lid != end || run.kind != kind) {
      add();
      begin = run.lid;
      kind = run.kind;
    }
    end = std::size_t{run.lid} + run.length;
  }
  add();
  for (std::size_t i = 0; i < used_.size(); ++i) counts[i].into(used_[i]);
  for (const auto& item : broken) --used_[static_cast<std::size_t>(item.kind)][row[item.lid]];
}

template <std::unsigned_integral Cost>
GroupSet EntryRepairer<Cost>::nearest(SwitchIndex s, SwitchIndex destination,
                                      const GroupSet& candidates) const {
  using C = Costs<Cost>;
  const std::size_t column = columns_.empty() ? destination : columns_[destination];
  GroupSet set;
  auto least = C::kUnreachable;
  for (std::size_t w = 0; w < candidates.words.size(); ++w) {
    for (auto word = candidates.words[w]; word != 0; word &= word - 1) {
      const auto g = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      const auto length = static_cast<Cost>(costs_.row(topology_.group(s, g).peer)[column] & C::kLength);
      if (length > least) continue;
      if (length < least) set = {};
      least = length;
      set.words[w] |= std::uint64_t{1} << (g % 64);
    }
  }
  return set;
}

/// Each switch starts at another one of equally used ports, so that replaced routes of several switches do
/// not meet on one cable.
template <std::unsigned_integral Cost>
std::uint8_t EntryRepairer<Cost>::pick(SwitchIndex s, const BrokenEntry& broken, const GroupSet& set) {
  if (set.empty()) return kNoRoute;
  auto& used = used_[static_cast<std::size_t>(broken.kind)];
  const auto ports = rotations_.ports(rotations_.find(set));
  const auto first = (std::size_t{s} + broken.number) % ports.size();
  const auto port = ports[least_used(topology_, s, ports, used, first)];
  ++used[port];
  return port;
}

template class EntryRepairer<std::uint8_t>;
template class EntryRepairer<std::uint16_t>;

}  // namespace smd::routing::inline repair
