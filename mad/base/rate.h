// SPDX-License-Identifier: Apache-2.0
#pragma once
// Static rates: the code that a path record or a multicast group says its rate by. Values: the kernel's enum
// ib_rate, which libibverbs and libopensm share.

#include <array>
#include <cstdint>

#include "mad/base/link.h"

namespace smd {

struct StaticRate {
  std::uint8_t code = 0;  ///< 6 bits; 0 is none
  std::uint32_t mbps = 0;
};

/// All rates that have a code, slowest first: codes were given out over the years and are in no order.
inline constexpr std::array<StaticRate, 24> kStaticRates{
    {{2, 2'500},    {5, 5'000},    {3, 10'000},   {11, 14'000},  {6, 20'000},     {15, 25'000},
     {19, 28'000},  {4, 30'000},   {7, 40'000},   {20, 50'000},  {12, 56'000},    {8, 60'000},
     {9, 80'000},   {16, 100'000}, {13, 112'000}, {10, 120'000}, {14, 168'000},   {17, 200'000},
     {18, 300'000}, {21, 400'000}, {22, 600'000}, {23, 800'000}, {24, 1'200'000}, {25, 1'600'000}}};

/// Lanes of a link; 0 where unknown.
constexpr unsigned lanes(LinkWidth width) {
  switch (width) {
    case LinkWidth::unknown:
      return 0;
    case LinkWidth::x1:
      return 1;
    case LinkWidth::x2:
      return 2;
    case LinkWidth::x4:
      return 4;
    case LinkWidth::x8:
      return 8;
    case LinkWidth::x12:
      return 12;
  }
  return 0;
}

/// Mb/s of one lane as rates count them: of the older speeds the signalling rate.
constexpr std::uint32_t lane_mbps(LinkSpeed speed) {
  constexpr std::array<std::uint32_t, 10> kLane{0,      2'500,  5'000,  10'000,  10'000,
                                                14'000, 25'000, 50'000, 100'000, 200'000};
  const auto index = static_cast<std::size_t>(speed);
  return index < kLane.size() ? kLane[index] : 0;
}

/// Mb/s of a link; 0 where width or speed is unknown.
constexpr std::uint32_t link_mbps(LinkWidth width, LinkSpeed speed) {
  return lanes(width) * lane_mbps(speed);
}

/// The fastest rate with a code that the link carries; code 0 where width or speed is unknown.
constexpr StaticRate static_rate(LinkWidth width, LinkSpeed speed) {
  const auto mbps = link_mbps(width, speed);
  StaticRate best;
  for (const auto& rate : kStaticRates) {
    if (rate.mbps <= mbps) best = rate;
  }
  return best;
}

/// Mb/s of a code; 0 where the code is not assigned.
constexpr std::uint32_t rate_mbps(std::uint8_t code) {
  for (const auto& rate : kStaticRates) {
    if (rate.code == code) return rate.mbps;
  }
  return 0;
}

}  // namespace smd
