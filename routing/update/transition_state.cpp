// SPDX-License-Identifier: Apache-2.0
#include "routing/update/transition_state.h"

#include <bit>

#include "routing/verify/scc.h"

namespace smd::routing::inline update {

TransitionState::TransitionState(const Topology& topology, const LidMap& lids, Lid first,
                                 const BlockChange& blocks)
    : topology_(topology),
      lids_(lids),
      first_(first),
      blocks_(blocks),
      before_(topology.switches()),
      both_(topology.switches()),
      ends_before_(topology.switches()),
      ends_after_(topology.switches()),
      ends_both_(topology.switches()),
      first_new_(topology.switches()) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto lid = Lid{static_cast<std::uint16_t>(first.value() + bit)};
    if (lids.destination(lid).sw != kNoSwitch) live_ |= LidBits{1} << bit;
  }
  auto perhaps = blocks.perhaps.begin();
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    before_.begin(s);
    both_.begin(s);
    ends_before_[s] = add(s, blocks.before[s], live_, &before_, &both_);
    for (; perhaps != blocks.perhaps.end() && perhaps->first == s; ++perhaps) {
      const auto other = add(s, perhaps->second, live_, &before_, &both_);
      ends_before_[s].here |= other.here;
      ends_before_[s].nowhere |= other.nowhere;
    }
    first_new_[s] = before_.of(s).size();
    const auto changed = blocks.changes[s] & live_;
    if (changed != 0) ends_after_[s] = add(s, blocks.after[s], changed, &both_, nullptr);
    ends_both_[s] = {ends_before_[s].here | ends_after_[s].here,
                     ends_before_[s].nowhere | ends_after_[s].nowhere};
  }
}

/// Adds to `one`, and to `two` unless null.
TransitionState::End TransitionState::add(SwitchIndex s, const std::uint8_t* block, LidBits lids,
                                          EgressSets* one, EgressSets* two) const {
  End end;
  for_each_port(block, lids, [&](std::uint8_t port, LidBits bits) {
    const auto peer = topology_.peer(s, PortNum{port});
    if (peer.sw != kNoSwitch) {
      one->add(s, peer.sw, PortNum{port}, bits);
      if (two != nullptr) two->add(s, peer.sw, PortNum{port}, bits);
      return;
    }
    for (; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(bits));
      const auto to = lids_.destination(Lid{static_cast<std::uint16_t>(first_.value() + bit)});
      const bool arrives = to.sw == s && to.port.value() == port;
      (arrives ? end.here : end.nowhere) |= LidBits{1} << bit;
    }
  });
  return end;
}

/// LIDs that arrive from each switch by any of its entries.
std::vector<LidBits> TransitionState::arriving(const EgressSets& egress, const std::vector<End>& ends) {
  std::vector<LidBits> arrive(ends.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (SwitchIndex s = 0; s < arrive.size(); ++s) {
      LidBits now = (ends[s].here | egress.forwarded(s)) & ~ends[s].nowhere;
      if (now == arrive[s]) continue;
      for (const auto& set : egress.of(s)) now &= ~set.lids | arrive[set.peer];
      changed = changed || now != arrive[s];
      arrive[s] = now;
    }
  }
  return arrive;
}

/// LIDs that each switch must deliver throughout: they arrive from it now and in the end, or another such
/// switch sends them through it now.
std::vector<LidBits> TransitionState::in_use() const {
  EgressSets egress(topology_.switches());
  std::vector<End> ends(topology_.switches());
  for (SwitchIndex s = 0; s < ends.size(); ++s) {
    egress.begin(s);
    ends[s] = add(s, blocks_.after[s], live_, &egress, nullptr);
  }
  auto use = arriving(egress, ends);
  const auto now = arriving(before_, ends_before_);
  for (SwitchIndex s = 0; s < use.size(); ++s) use[s] &= now[s];
  for (bool changed = true; changed;) {
    changed = false;
    for (SwitchIndex s = 0; s < use.size(); ++s) {
      for (const auto& set : before_.of(s)) {
        const auto passed = set.lids & use[s] & ~use[set.peer];
        use[set.peer] |= passed;
        changed = changed || passed != 0;
      }
    }
  }
  return use;
}

std::vector<LidBits> TransitionState::at_fault(bool keep_arriving) const {
  std::vector<LidBits> fault(topology_.switches());
  find_loops(fault);
  if (!keep_arriving) return fault;
  const auto use = in_use();
  const auto always = arriving(both_, ends_both_);
  for (SwitchIndex s = 0; s < fault.size(); ++s) {
    LidBits discarded = ends_after_[s].nowhere & use[s];
    const auto egress = both_.of(s);
    for (std::size_t i = first_new_[s]; i < egress.size(); ++i) {
      discarded |= egress[i].lids & use[s] & ~always[egress[i].peer];
    }
    fault[s] |= discarded;
  }
  return fault;
}

void TransitionState::find_loops(std::vector<LidBits>& fault) const {
  // LIDs that end somewhere by any entries: a fixed point, starting from the ends.
  std::vector<LidBits> ends(topology_.switches());
  for (bool changed = true; changed;) {
    changed = false;
    for (SwitchIndex s = 0; s < ends.size(); ++s) {
      LidBits now = live_;
      if (ends[s] == now) continue;
      for (const auto& set : both_.of(s)) now &= ~set.lids | ends[set.peer];
      changed = changed || now != ends[s];
      ends[s] = now;
    }
  }
  LidBits looping = 0;
  for (const auto bits : ends) looping |= live_ & ~bits;
  for (; looping != 0; looping &= looping - 1) {
    find_loops_of(static_cast<unsigned>(std::countr_zero(looping)), fault);
  }
}

/// A new entry inside a forwarding loop is at fault unless the loop existed before.
void TransitionState::find_loops_of(unsigned bit, std::vector<LidBits>& fault) const {
  const auto next_in = [bit](const EgressSets& egress) {
    return [&egress, bit](std::size_t s, const auto& fn) {
      for (const auto& set : egress.of(static_cast<SwitchIndex>(s))) {
        if ((set.lids >> bit & 1U) != 0) fn(std::size_t{set.peer});
      }
    };
  };
  const auto now = scc_numbers(topology_.switches(), next_in(both_));
  const auto before = scc_numbers(topology_.switches(), next_in(before_));
  for (SwitchIndex s = 0; s < fault.size(); ++s) {
    const auto egress = both_.of(s);
    for (std::size_t i = first_new_[s]; i < egress.size(); ++i) {
      const auto& set = egress[i];
      if ((set.lids >> bit & 1U) == 0 || now[s] != now[set.peer]) continue;
      if (before[s] != before[set.peer] || set.peer == s) fault[s] |= LidBits{1} << bit;
    }
  }
}

}  // namespace smd::routing::inline update
