// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/rates.h"

#include <array>
#include <utility>

#include "mad/base/rate.h"

namespace smd::sim {
namespace {

constexpr std::array kWidestFirst{LinkWidth::x12, LinkWidth::x8, LinkWidth::x4, LinkWidth::x2, LinkWidth::x1};
constexpr std::array kFastestFirst{LinkSpeed::xdr, LinkSpeed::ndr, LinkSpeed::hdr,
                                   LinkSpeed::edr, LinkSpeed::fdr, LinkSpeed::fdr10,
                                   LinkSpeed::qdr, LinkSpeed::ddr, LinkSpeed::sdr};

// Codes of LinkSpeed* and LinkSpeedExt*, as libibmad prints them.
constexpr std::array<std::pair<LinkSpeed, unsigned>, 3> kOldSpeeds{
    {{LinkSpeed::sdr, 1}, {LinkSpeed::ddr, 2}, {LinkSpeed::qdr, 4}}};
constexpr std::array<std::pair<LinkSpeed, unsigned>, 4> kExtSpeeds{
    {{LinkSpeed::fdr, 1}, {LinkSpeed::edr, 2}, {LinkSpeed::hdr, 4}, {LinkSpeed::ndr, 8}}};

}  // namespace

std::uint8_t widths_up_to(LinkWidth widest, bool has_2x) {
  unsigned bits = 1;
  for (const auto width : {LinkWidth::x4, LinkWidth::x8, LinkWidth::x12}) {
    if (lanes(width) <= lanes(widest)) bits |= static_cast<unsigned>(width);
  }
  if (has_2x || widest == LinkWidth::x2) bits |= static_cast<unsigned>(LinkWidth::x2);
  return static_cast<std::uint8_t>(bits);
}

SpeedSet speeds_up_to(SpeedSet seen) {
  unsigned speeds = seen;
  bool below = false;
  for (const auto speed : kFastestFirst) {
    below = below || (seen & speed_bit(speed)) != 0;
    if (below && speed != LinkSpeed::fdr10) speeds |= speed_bit(speed);
  }
  return static_cast<SpeedSet>(speeds);
}

std::uint8_t link_speed_bits(SpeedSet speeds) {
  unsigned bits = 0;
  for (const auto& [speed, bit] : kOldSpeeds) bits |= (speeds & speed_bit(speed)) != 0 ? bit : 0;
  return static_cast<std::uint8_t>(bits);
}

std::uint8_t link_speed_ext_bits(SpeedSet speeds) {
  unsigned bits = 0;
  for (const auto& [speed, bit] : kExtSpeeds) bits |= (speeds & speed_bit(speed)) != 0 ? bit : 0;
  return static_cast<std::uint8_t>(bits);
}

std::uint8_t link_speed_ext2_bits(SpeedSet speeds) {
  return (speeds & speed_bit(LinkSpeed::xdr)) != 0 ? 1 : 0;
}

SpeedSet enabled_speeds(const Port& port) {
  unsigned speeds = 0;
  for (const auto& [speed, bit] : kOldSpeeds) {
    if ((port.info.link_speed_enabled & bit) != 0) speeds |= speed_bit(speed);
  }
  const auto& info = port.info;
  for (const auto& [speed, bit] : kExtSpeeds) {
    const bool off = info.link_speed_ext_enabled == kNoExtendedSpeed;
    if (!off && (info.link_speed_ext_enabled & bit) != 0) speeds |= speed_bit(speed);
  }
  const bool off = info.link_speed_ext2_enabled == kNoExtendedSpeed2;
  if (!off && (info.link_speed_ext2_enabled & 1U) != 0) speeds |= speed_bit(LinkSpeed::xdr);
  if (port.fdr10_enabled) speeds |= speed_bit(LinkSpeed::fdr10);
  return static_cast<SpeedSet>(speeds);
}

std::optional<Rate> negotiate(const Port& a, const Port& b) {
  Rate rate;
  const unsigned widths = a.info.link_width_enabled & b.info.link_width_enabled;
  for (const auto width : kWidestFirst) {
    const bool fits = a.cable_width == LinkWidth::unknown || lanes(width) <= lanes(a.cable_width);
    if (fits && (widths & static_cast<unsigned>(width)) != 0) {
      rate.width = width;
      break;
    }
  }
  const auto speeds = static_cast<SpeedSet>(enabled_speeds(a) & enabled_speeds(b));
  for (const auto speed : kFastestFirst) {
    const bool fits = a.cable_speed == LinkSpeed::unknown || speed <= a.cable_speed;
    if (fits && (speeds & speed_bit(speed)) != 0) {
      rate.speed = speed;
      break;
    }
  }
  if (rate.width == LinkWidth::unknown || rate.speed == LinkSpeed::unknown) return std::nullopt;
  return rate;
}

void show_rate(Port& port, const Rate& rate) {
  port.speed = rate.speed;
  port.info.link_width_active = static_cast<std::uint8_t>(rate.width);
  // An extended speed shows as QDR in the old field (smpquery of EDR links prints "10.0 Gbps" there).
  const bool old = rate.speed <= LinkSpeed::qdr;
  port.info.link_speed_active = old ? link_speed_bits(speed_bit(rate.speed)) : std::uint8_t{4};
  port.info.link_speed_ext_active = link_speed_ext_bits(speed_bit(rate.speed));
  port.info.link_speed_ext2_active = link_speed_ext2_bits(speed_bit(rate.speed));
}

void show_no_rate(Port& port) {
  port.speed = LinkSpeed::unknown;
  port.info.link_width_active = static_cast<std::uint8_t>(LinkWidth::x4);
  port.info.link_speed_active = 1;
  port.info.link_speed_ext_active = 0;
  port.info.link_speed_ext2_active = 0;
}

}  // namespace smd::sim
