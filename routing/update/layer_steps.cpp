// SPDX-License-Identifier: Apache-2.0
#include "routing/update/layer_steps.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "routing/update/layer_states.h"

namespace smd::routing::inline update {
namespace {

using Entries = std::vector<EntryWrite>;  ///< ascending

/// Entries of one step that are written together.
struct Portion {
  std::size_t step = 0;
  Entries entries;
};

class Divider {
 public:
  Divider(const RoutingContext& in, const UpdateInput& tables, MovedPairs moved,
          std::vector<UpdateStep> steps)
      : tables_(tables),
        size_(in.lids.row_size()),
        steps_(std::move(steps)),
        states_(in, tables, lids_of(steps_), moved),
        stop_(in.stop) {
    for (const auto& step : steps_) waiting_.push_back(entries_of(step));
  }

  bool ends_in_cycle() const { return states_.ends_in_cycle(); }

  /// What is not safe is tried again when others are written: the steps of each LID stay in their order.
  std::vector<UpdateStep> run() {
    const auto all = waiting_;
    for (bool any = true; any && !stop_.stop_requested();) {
      any = false;
      for (std::size_t i = 0; i < steps_.size(); ++i) any = divide(i, ready_for(i)) || any;
    }
    std::set<Lid> withdrawn;
    for (const auto& left : waiting_) {
      for (const auto& entry : left) withdrawn.insert(entry.lid);
    }
    const bool in_order = std::ranges::equal(portions_, all, {}, &Portion::entries);
    return in_order ? std::move(steps_) : written(all, withdrawn);
  }

 private:
  template <class Fn>
  static void for_each_lid(const BlockWrite& write, const Fn& fn) {
    for (auto bits = ~write.kept; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      fn(Lid{static_cast<std::uint16_t>(write.block * kLftBlock + bit)});
    }
  }

  static std::vector<Lid> lids_of(std::span<const UpdateStep> steps) {
    std::set<Lid> lids;
    for (const auto& step : steps) {
      for (const auto& write : step.writes) for_each_lid(write, [&](Lid lid) { lids.insert(lid); });
    }
    return {lids.begin(), lids.end()};
  }

  static LidBits bit_of(Lid lid) { return LidBits{1} << (lid.value() % kLftBlock); }

  bool is_known(const BlockWrite& write) const {
    const auto& table = tables_.installed[write.sw];
    const std::size_t word = write.block / 64;
    return table.forwards && word < table.known.size() && (table.known[word] >> (write.block % 64) & 1U) != 0;
  }

  /// Those that the step changes; what a write repeats of others is left out.
  Entries entries_of(const UpdateStep& step) const {
    Entries entries;
    for (const auto& write : step.writes) {
      for_each_lid(write, [&](Lid lid) {
        if (lid.value() >= size_) return;
        const bool dropped = (write.dropped & bit_of(lid)) != 0;
        const auto port = dropped ? kNoRoute : entry(tables_.routes.rows[write.sw].get(), lid);
        if (port != states_.now(write.sw, lid) || dropped || !is_known(write))
          entries.push_back({lid, write.sw, port});
      });
    }
    std::ranges::sort(entries);
    return entries;
  }

  /// Of LIDs that wait for no step before it.
  Entries ready_for(std::size_t step) const {
    std::set<Lid> earlier;
    for (std::size_t before = 0; before < step; ++before) {
      for (const auto& entry : waiting_[before]) earlier.insert(entry.lid);
    }
    auto ready = waiting_[step];
    std::erase_if(ready, [&](const EntryWrite& entry) { return earlier.contains(entry.lid); });
    return ready;
  }

  /// Whether any of it is safe: all together, else a half at a time.
  bool divide(std::size_t step, const Entries& entries) {
    if (entries.empty()) return false;
    if (!states_.closes_cycle(entries)) {
      states_.apply(entries);
      portions_.push_back({step, entries});
      std::erase_if(waiting_[step],
                    [&](const EntryWrite& entry) { return std::ranges::binary_search(entries, entry); });
      return true;
    }
    if (entries.size() == 1) return false;
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2);
    const bool first = divide(step, {entries.begin(), middle});
    const bool second = divide(step, {middle, entries.end()});
    return first || second;
  }

  /// Bits of entries by block and switch.
  using Bits = std::map<std::pair<std::uint16_t, SwitchIndex>, LidBits>;

  static std::pair<std::uint16_t, SwitchIndex> block_of(const EntryWrite& entry) {
    return {static_cast<std::uint16_t>(entry.lid.value() / kLftBlock), entry.sw};
  }

  /// A write of these entries: those of the block that were written before are as they were written then, and
  /// what was withdrawn stays so.
  static UpdateStep step_of(const Entries& entries, const Bits& withdrawn, Bits& done) {
    std::map<std::pair<std::uint16_t, SwitchIndex>, BlockWrite> blocks;
    for (const auto& entry : entries) {
      const auto at = block_of(entry);
      auto& write = blocks.try_emplace(at, BlockWrite{at.second, at.first, 0, 0}).first->second;
      done[at] |= bit_of(entry.lid);
      if (entry.port == kNoRoute) write.dropped |= bit_of(entry.lid);
    }
    UpdateStep step;
    for (auto& [at, write] : blocks) {
      if (const auto bits = withdrawn.find(at); bits != withdrawn.end()) write.dropped |= bits->second;
      write.kept = ~done[at] & ~write.dropped;
      step.writes.push_back(write);
    }
    return step;
  }

  /// The portions as steps of their own, between a step that withdraws and one that writes what was
  /// withdrawn.
  std::vector<UpdateStep> written(const std::vector<Entries>& all, const std::set<Lid>& withdrawn) const {
    Bits taken_away, done;
    for (const auto& entries : all) {
      for (const auto& entry : entries) {
        if (withdrawn.contains(entry.lid)) taken_away[block_of(entry)] |= bit_of(entry.lid);
      }
    }
    UpdateStep first{.writes = {}, .drain = true, .interrupts = true};
    UpdateStep last{.writes = {}, .drain = false, .interrupts = true};
    for (const auto& [at, bits] : taken_away) {
      first.writes.push_back({at.second, at.first, ~bits, bits});
      last.writes.push_back({at.second, at.first, 0, 0});
    }
    std::vector<UpdateStep> result;
    if (!taken_away.empty()) result.push_back(std::move(first));
    for (const auto& [index, entries] : portions_) {
      Entries others;
      std::ranges::copy_if(entries, std::back_inserter(others),
                           [&](const EntryWrite& entry) { return !withdrawn.contains(entry.lid); });
      if (others.empty()) continue;
      result.push_back(step_of(others, taken_away, done));
      result.back().drain = steps_[index].drain;
      result.back().interrupts = steps_[index].interrupts;
    }
    if (!taken_away.empty()) result.push_back(std::move(last));
    return result;
  }

  const UpdateInput& tables_;
  std::size_t size_;
  std::vector<UpdateStep> steps_;
  LayerStates states_;
  std::stop_token stop_;
  std::vector<Entries> waiting_;  ///< by step
  std::vector<Portion> portions_;
};

}  // namespace

std::vector<UpdateStep> keep_layers_acyclic(const RoutingContext& in, const UpdateInput& tables,
                                            std::vector<UpdateStep> steps) {
  Divider of_all(in, tables, MovedPairs::count, steps);
  // Without layers that change, what the routes end in is proven.
  if (tables.layers_before == nullptr || !of_all.ends_in_cycle()) return of_all.run();
  return Divider(in, tables, MovedPairs::left_out, std::move(steps)).run();
}

}  // namespace smd::routing::inline update
