// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/vl_turns.h"

#include <algorithm>
#include <optional>

namespace smd::sm::inline planning {
namespace {

constexpr std::size_t kBlocksOfHalf = 2;
constexpr std::uint8_t kUnitsOfPacket = 64;  ///< of 64 bytes: 4 KiB

VlSet served(const wire::VlArbitration& block) { return served_vls({&block, 1}); }

class Turns {
 public:
  Turns(const QosPart::Tables& tables, const HeldBlocks<wire::VlArbitration>& held, const VlSet& in_use)
      : tables_(tables), held_(held), mapped_(in_use) {
    turns_.between = tables.arbitration;
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      next_[block] = served(tables.arbitration[block]);
      if (block < held.row.size()) now_[block] = served(held.row[block]);
      all_next_ |= next_[block];
      all_now_ |= now_[block];
      in_use_ |= now_[block] & in_use;
    }
  }

  VlTurns take(bool moves) && {
    // VLs that have no turn until SLs move, then those that only change their table meanwhile.
    if (moves) for_each(in_use_ & ~all_next_, [&](Vl vl) { keep(vl); });
    for_each(in_use_ & all_next_, [&](Vl vl) {
      if (!is_safe(vl) && !keep_in_place(vl)) go_before(next_, vl);
    });
    put_in_order();
    // The table that is decided is there, but SLs did not move with it: the port has refused to.
    if (moves && !mapped_.all() && holds_decided())
      for_each(mapped_ & ~all_now_ & ~all_next_, [&](Vl vl) { give(vl); });
    return turns_;
  }

 private:
  using VlsOfBlocks = std::array<VlSet, kArbitrationBlocks>;

  template <class Fn>
  static void for_each(const VlSet& vls, Fn fn) {
    for (std::uint8_t vl = 0; vl < kDataVls; ++vl) {
      if (vls.test(vl)) fn(Vl{vl});
    }
  }

  /// In whatever order the blocks are written, one that holds it has it.
  bool is_safe(Vl vl) const {
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (now_[block].test(vl.value()) && served(turns_.between[block]).test(vl.value())) return true;
    }
    return false;
  }

  bool keep_in_place(Vl vl) {
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (now_[block].test(vl.value()) && put(vl, block)) return true;
    }
    return false;
  }

  void keep(Vl vl) {
    if (keep_in_place(vl)) return;
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (!put(vl, block)) continue;
      VlsOfBlocks there{};
      there[block].set(vl.value());
      return go_before(there, vl);
    }
  }

  bool holds_decided() const {
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      const auto now = block < held_.row.size() ? held_.row[block] : wire::VlArbitration{};
      if (!(now == tables_.arbitration[block])) return false;
    }
    return true;
  }

  /// It has none to keep, so that the order of writes does not matter.
  void give(Vl vl) {
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (put(vl, block)) return;
    }
  }

  /// The blocks of `gain` that have the VL are to be written before those that it leaves.
  void go_before(const VlsOfBlocks& gain, Vl vl) {
    for (std::size_t block = 0; block < kArbitrationBlocks; ++block) {
      if (gain[block].test(vl.value())) early_.set(block);
      if (now_[block].test(vl.value())) turns_.late.set(block);
    }
  }

  /// Two that each have to be written before the other are written in any order.
  void put_in_order() {
    if ((early_ & turns_.late).any()) turns_.late.reset();
  }

  bool put(Vl vl, std::size_t block) {
    const auto entry = free_entry(block);
    if (!entry) return false;
    turns_.between[block].entries[*entry] = held_turn(vl);
    return true;
  }

  /// The first one that it has now, else one of a packet.
  wire::VlWeight held_turn(Vl vl) const {
    for (const auto& block : held_.row) {
      for (const auto& entry : block.entries) {
        if (entry.vl == vl && entry.weight != 0) return entry;
      }
    }
    return {vl, kUnitsOfPacket};
  }

  std::size_t entries_of(std::size_t block) const {
    const std::size_t all = block < kBlocksOfHalf ? tables_.low : tables_.high;
    const auto before = block % kBlocksOfHalf * kEntriesOfBlock;
    return std::min(all > before ? all - before : 0, kEntriesOfBlock);
  }

  /// One without weight, one of a VL that has another turn in the block, or one of a VL that goes on in
  /// another block.
  std::optional<std::size_t> free_entry(std::size_t block) const {
    const auto& entries = turns_.between[block].entries;
    const auto count = entries_of(block);
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].weight == 0) return i;
    }
    for (std::size_t i = count; i-- > 0;) {
      const auto same = [&](const wire::VlWeight& one) { return one.vl == entries[i].vl && one.weight != 0; };
      if (std::count_if(entries.begin(), entries.end(), same) > 1) return i;
    }
    for (std::size_t i = count; i-- > 0;) {
      if (goes_on_elsewhere(entries[i].vl.value(), block)) return i;
    }
    return std::nullopt;
  }

  bool goes_on_elsewhere(std::size_t vl, std::size_t block) const {
    if (vl >= kDataVls) return false;
    for (std::size_t other = 0; other < kArbitrationBlocks; ++other) {
      const bool has = other != block && next_[other].test(vl) && served(turns_.between[other]).test(vl);
      if (has && (!in_use_.test(vl) || now_[other].test(vl))) return true;
    }
    return false;
  }

  const QosPart::Tables& tables_;
  const HeldBlocks<wire::VlArbitration>& held_;
  VlTurns turns_;
  const VlSet mapped_;  ///< SLs have these
  VlsOfBlocks now_{}, next_{};
  VlSet all_now_{}, all_next_{}, in_use_{};  ///< with turns: now; as decided; now and in use
  std::bitset<kArbitrationBlocks> early_{};
};

}  // namespace

VlTurns turns_between(const QosPart::Tables& tables, const HeldBlocks<wire::VlArbitration>& held,
                      const VlSet& in_use, bool moves) {
  return Turns(tables, held, in_use).take(moves);
}

}  // namespace smd::sm::inline planning
