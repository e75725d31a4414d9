// SPDX-License-Identifier: Apache-2.0
#include "routing/update/pending_writes.h"

#include <utility>

namespace smd::routing::inline update {

PendingWrites::PendingWrites(const RoutingContext& in, const UpdateInput& tables)
    : topology_(in.topology),
      lids_(in.lids),
      installed_(tables.installed),
      routes_(tables.routes),
      switches_(topology_.switches()),
      blocks_(lids_.row_size() / 64),
      pending_(switches_ * blocks_),
      dropped_(switches_ * blocks_),
      chosen_(switches_ * blocks_) {
  in.parallel.for_each(blocks_, [&](std::size_t b) {
    for (SwitchIndex s = 0; s < switches_; ++s) pending_[at(b, s)] = differing(b, s);
  });
  for (SwitchIndex s = 0; s < switches_; ++s) {
    if (!installed_[s].perhaps.empty() && !installed_[s].uncertain.empty()) uncertain_.push_back(s);
  }
  for (std::size_t b = 0; b < blocks_; ++b) {
    begin_.push_back(items_.size());
    for (SwitchIndex s = 0; s < switches_; ++s) {
      if (pending_[at(b, s)] != 0) items_.push_back({b, s});
    }
  }
  begin_.push_back(items_.size());
}

bool PendingWrites::any_chosen(std::size_t b) const {
  return std::ranges::any_of(items(b), [&](const Item& item) { return chosen_[at(b, item.sw)] != 0; });
}

bool PendingWrites::known(std::size_t b, SwitchIndex s) const {
  const auto& table = installed_[s];
  return table.forwards && b / 64 < table.known.size() && (table.known[b / 64] >> (b % 64) & 1U) != 0;
}

const std::uint8_t* PendingWrites::after(std::size_t b, SwitchIndex s, Entries& scratch) const {
  return block_of(routes_.rows[s].get(), b * 64, scratch);
}

/// 255 throughout if the block is unknown.
const std::uint8_t* PendingWrites::installed(std::size_t b, SwitchIndex s, Entries& scratch) const {
  return block_of(known(b, s) ? installed_[s].row : nullptr, b * 64, scratch);
}

/// Whether the switch forwards by one of these entries; true if unknown.
bool PendingWrites::leads_somewhere(std::size_t b, SwitchIndex s, LidBits bits) const {
  if (!known(b, s)) return true;
  Entries scratch;
  const auto* const now = installed(b, s, scratch);
  for (; bits != 0; bits &= bits - 1) {
    if (now[std::countr_zero(bits)] != kNoRoute) return true;
  }
  return false;
}

LidBits PendingWrites::differing(std::size_t b, SwitchIndex s) const {
  if (!known(b, s)) return ~LidBits{0};
  Entries one, other;
  const auto *const now = installed(b, s, one), *const wanted = after(b, s, other);
  if (now == wanted || std::equal(now, now + 64, wanted)) return 0;
  LidBits bits = 0;
  for (std::size_t i = 0; i < 64; ++i) bits |= LidBits{now[i] != wanted[i] ? 1U : 0U} << i;
  return bits;
}

const std::uint8_t* PendingWrites::before(std::size_t b, SwitchIndex s, Entries& scratch) const {
  const auto pending = pending_[at(b, s)], dropped = dropped_[at(b, s)];
  if (pending == 0) return after(b, s, scratch);
  Entries one, other;
  const auto *const now = installed(b, s, one), *const wanted = after(b, s, other);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto waits = (dropped >> i & 1U) != 0 ? kNoRoute : now[i];
    scratch[i] = (pending >> i & 1U) != 0 ? waits : wanted[i];
  }
  return scratch.data();
}

bool PendingWrites::take_back(std::size_t b, const std::vector<LidBits>& fault, Granularity grain) {
  bool any = false;
  for (const auto& item : items(b)) {
    const auto s = item.sw;
    auto& chosen = chosen_[at(b, s)];
    if ((fault[s] & chosen) == 0) continue;
    chosen = grain == Granularity::block ? 0 : chosen & ~fault[s];
    any = true;
  }
  return any;
}

UpdateStep PendingWrites::take() {
  UpdateStep step;
  for (const auto& [b, s] : items_) {
    const auto i = at(b, s);
    if (chosen_[i] == 0) continue;
    pending_[i] &= ~chosen_[i];
    dropped_[i] &= pending_[i];
    step.writes.push_back({s, static_cast<std::uint16_t>(b), pending_[i] & ~dropped_[i], dropped_[i]});
  }
  return step;
}

std::optional<UpdateStep> PendingWrites::take_unknown() {
  const auto unknown = [&](std::size_t b, SwitchIndex s) { return !known(b, s); };
  if (!choose_if(unknown)) return std::nullopt;
  const auto loops = [](const TransitionState& state) { return state.at_fault(false); };
  UpdateStep step;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!any_chosen(b)) continue;
    while (take_back(b, with_state(b, loops), Granularity::lid)) continue;
    for (const auto& item : items(b)) {
      const auto s = item.sw;
      if (!unknown(b, s)) continue;
      const auto i = at(b, s);
      pending_[i] &= ~chosen_[i];
      dropped_[i] = pending_[i];
      step.writes.push_back({s, static_cast<std::uint16_t>(b), 0, dropped_[i]});
    }
  }
  return step;
}

std::optional<UpdateStep> PendingWrites::withdraw() {
  UpdateStep step;
  bool any = false;
  for (const auto& [b, s] : items_) {
    const auto i = at(b, s);
    if ((chosen_[i] & ~dropped_[i]) == 0) continue;
    any = true;
    const bool holds_some = leads_somewhere(b, s, pending_[i] & ~dropped_[i]);
    dropped_[i] = pending_[i];
    if (holds_some) step.writes.push_back({s, static_cast<std::uint16_t>(b), 0, dropped_[i]});
  }
  return any ? std::optional(std::move(step)) : std::nullopt;
}

}  // namespace smd::routing::inline update
