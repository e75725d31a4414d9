// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_shares.h"

#include <algorithm>
#include <numeric>

#include "mad/wire/drop_vl.h"

namespace smd::sm::inline decisions {
namespace {

constexpr std::uint32_t kWeightUnit = 64, kLimitUnit = 4096;
constexpr std::uint8_t kNoLimit = 255;

std::uint64_t units(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit; }

/// Packets of each VL in one turn of a table.
VlShares packets_a_turn(std::span<const wire::VlArbitration> blocks, const VlSet& busy,
                        std::uint32_t packet) {
  VlShares packets{};
  const auto packet_units = std::max<std::uint64_t>(1, units(packet, kWeightUnit));
  for (const auto& block : blocks) {
    for (const auto& entry : block.entries) {
      const auto vl = entry.vl.value();
      if (entry.weight == 0 || vl >= kDataVls || !busy.test(vl)) continue;
      packets[vl] += static_cast<double>(units(entry.weight, packet_units));
    }
  }
  return packets;
}

/// To a sum of 1; all 0 stays so.
bool scale(VlShares& shares) {
  const auto sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum == 0) return false;
  for (auto& share : shares) share /= sum;
  return true;
}

}  // namespace

VlSet served_vls(std::span<const wire::VlArbitration> blocks) {
  VlSet vls;
  for (const auto& block : blocks) {
    for (const auto& entry : block.entries) {
      if (entry.weight != 0 && entry.vl.value() < kDataVls) vls.set(entry.vl.value());
    }
  }
  return vls;
}

bool sends_nothing(const QosPart::Tables& tables) {
  return (tables.low != 0 || tables.high != 0) && served_vls(tables.arbitration).none();
}

bool drops(const QosPart& part, Sl sl) {
  return std::ranges::any_of(part.tables, [&](const QosPart::Tables& tables) {
    return tables.maps_sls && tables.sl_to_vl.vls[sl.value()] == wire::kDropVl;
  });
}

std::uint64_t high_burst(const QosPart::Tables& tables, std::uint32_t packet) {
  if (tables.high_limit == kNoLimit) return 0;
  const auto packets = units(std::uint64_t{tables.high_limit} * kLimitUnit, std::max(packet, 1U));
  return std::max<std::uint64_t>(1, packets) * packet;
}

VlShares vl_shares(const QosPart::Tables& tables, const VlSet& busy, std::uint32_t packet) {
  const std::span blocks(tables.arbitration);
  auto low = packets_a_turn(blocks.first(2), busy, packet);
  auto high = packets_a_turn(blocks.last(2), busy, packet);
  const bool has_low = scale(low), has_high = scale(high);
  if (!has_high) return low;
  if (!has_low) return high;
  const auto burst = static_cast<double>(high_burst(tables, packet));
  const double of_high = tables.high_limit == kNoLimit ? 1 : burst / (burst + packet);
  VlShares shares{};
  for (std::size_t vl = 0; vl < kDataVls; ++vl) shares[vl] = high[vl] * of_high + low[vl] * (1 - of_high);
  return shares;
}

}  // namespace smd::sm::inline decisions
