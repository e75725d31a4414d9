// SPDX-License-Identifier: Apache-2.0
// What a link runs at, and what it could.
#include <array>

#include "mad/base/rate.h"
#include "mad/wire/capability.h"
#include "smd/inventory/update.h"

namespace smd::sm::inline inventory {
namespace {

constexpr std::array kWidestFirst{LinkWidth::x12, LinkWidth::x8, LinkWidth::x4, LinkWidth::x2, LinkWidth::x1};
/// LinkSpeedExtEnabled: all extended speeds are forbidden.
constexpr unsigned kExtendedSpeedsOff = 30;

/// Speeds that a port may come up with: bit n is LinkSpeed n.
unsigned speeds_of(const Port& port) {
  const auto& info = port.info;
  const auto bit = [](LinkSpeed speed) { return 1U << static_cast<unsigned>(speed); };
  const unsigned base = info.link_speed_supported & info.link_speed_enabled;
  const unsigned extended_enabled =
      info.link_speed_ext_enabled == kExtendedSpeedsOff ? 0U : info.link_speed_ext_enabled;
  const unsigned extended = info.link_speed_ext_supported & extended_enabled;
  unsigned speeds = 0;
  constexpr std::array kBase{LinkSpeed::sdr, LinkSpeed::ddr, LinkSpeed::qdr};
  for (std::size_t i = 0; i < kBase.size(); ++i) speeds |= (base >> i & 1U) != 0 ? bit(kBase[i]) : 0U;
  constexpr std::array kExtended{LinkSpeed::fdr, LinkSpeed::edr, LinkSpeed::hdr, LinkSpeed::ndr};
  for (std::size_t i = 0; i < kExtended.size(); ++i)
    speeds |= (extended >> i & 1U) != 0 ? bit(kExtended[i]) : 0U;
  if ((info.link_speed_ext2_supported & info.link_speed_ext2_enabled & 1U) != 0)
    speeds |= bit(LinkSpeed::xdr);
  return speeds;
}

}  // namespace

LinkRate rate_of(const Port& port) {
  if (!port.linked()) return {};
  return {wire::link_width(port.info), wire::link_speed(port.info, port.mlnx)};
}

LinkRate best_rate(const Port& a, const Port& b) {
  LinkRate best;
  const auto width_bits = [](const Port& port) {
    return static_cast<unsigned>(port.info.link_width_supported & port.info.link_width_enabled);
  };
  const unsigned widths = width_bits(a) & width_bits(b);
  for (const auto width : kWidestFirst) {
    if (best.width == LinkWidth::unknown && (widths & static_cast<unsigned>(width)) != 0) best.width = width;
  }
  const unsigned speeds = speeds_of(a) & speeds_of(b);
  for (auto speed = static_cast<unsigned>(LinkSpeed::xdr); speed != 0; --speed) {
    if (best.speed == LinkSpeed::unknown && (speeds >> speed & 1U) != 0)
      best.speed = LinkSpeed{static_cast<std::uint8_t>(speed)};
  }
  return best;
}

}  // namespace smd::sm::inline inventory
