// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/vl_arbiter.h"

#include <algorithm>

namespace smd::sim {
namespace {

constexpr std::uint8_t kNoHighLimit = 255;
constexpr std::uint64_t kHighLimitUnit = 4096;

/// Tables that were never written hold no weight, and a single VL needs none. Written ones without a weight
/// let nothing pass.
bool arbitrates(const VlArbitrationTables& tables, unsigned vls) {
  const auto has_weight = [](const wire::VlWeight& entry) { return entry.weight != 0; };
  if (vls <= 1) return false;
  return tables.written || std::ranges::any_of(tables.high, has_weight) ||
         std::ranges::any_of(tables.low, has_weight);
}

std::vector<wire::VlWeight> turns_of_one_packet(unsigned vls) {
  std::vector<wire::VlWeight> entries;
  for (unsigned vl = 0; vl < vls; ++vl)
    entries.push_back({.vl = Vl{static_cast<std::uint8_t>(vl)}, .weight = 1});
  return entries;
}

}  // namespace

VlArbiter::Table::Table(const std::vector<wire::VlWeight>& from, unsigned vls) {
  for (const auto& entry : from) {
    if (entry.weight == 0 || entry.vl.value() >= vls || entry.vl.value() == 15) continue;
    entries.push_back(entry);
    served = static_cast<VlSet>(served | vl_bit(entry.vl));
  }
  at = entries.empty() ? 0 : entries.size() - 1;  // with nothing left: the first turn is that of entry 0
}

Vl VlArbiter::Table::turn(VlSet ready) {
  const auto may_send = [&] { return (ready & vl_bit(entries[at].vl)) != 0; };
  if (left <= 0 || !may_send()) {
    do {
      at = (at + 1) % entries.size();
    } while (!may_send());
    left = entries[at].weight;
  }
  return entries[at].vl;
}

VlArbiter::VlArbiter(const VlArbitrationTables& tables, unsigned vls)
    : high_(tables.high, vls > 1 ? vls : 0),
      low_(arbitrates(tables, vls) ? tables.low : turns_of_one_packet(vls), vls),
      high_limit_(tables.high_limit) {}

bool VlArbiter::high_may_go() const {
  if (high_limit_ == kNoHighLimit) return true;
  if (high_limit_ == 0) return !any_high_sent_;
  return high_sent_ < high_limit_ * kHighLimitUnit;
}

std::optional<Vl> VlArbiter::next(VlSet ready) {
  const bool high = (ready & high_.served) != 0, low = (ready & low_.served) != 0;
  if (!high && !low) return std::nullopt;
  last_high_ = high && high_may_go();
  if (!last_high_) {  // the opportunity of low, whether it has something to send or not
    high_sent_ = 0;
    any_high_sent_ = false;
    last_high_ = !low;
  }
  return (last_high_ ? high_ : low_).turn(ready);
}

void VlArbiter::sent(std::uint32_t bytes) {
  (last_high_ ? high_ : low_).left -= blocks_of(bytes);
  if (!last_high_) return;
  high_sent_ += bytes;
  any_high_sent_ = true;
}

}  // namespace smd::sim
