// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers of 1 to 64 bits at any bit of a byte string. IBA order: bit 0 is the most significant bit of
// byte 0, numbers are big endian.

#include <cstddef>
#include <cstdint>

namespace smd::wire {

/// The low `width` bits set.
constexpr std::uint64_t low_bits(std::size_t width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// Reads a number that begins `Phase` (0 to 7) bits into `*from`. With the place known to the compiler the
/// loop becomes a load and a byte swap.
template <std::size_t Phase, std::size_t Width>
constexpr std::uint64_t load(const std::uint8_t* from) {
  static_assert(Phase < 8 && Width >= 1 && Phase + Width <= 64);
  constexpr std::size_t kSpan = (Phase + Width + 7) / 8;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kSpan; ++i) number = (number << 8U) | from[i];
  return (number >> (kSpan * 8 - Phase - Width)) & low_bits(Width);
}

/// Writes the low `Width` bits of a number there; the bits around it stay.
template <std::size_t Phase, std::size_t Width>
constexpr void store(std::uint8_t* to, std::uint64_t number) {
  static_assert(Phase < 8 && Width >= 1 && Phase + Width <= 64);
  constexpr std::size_t kSpan = (Phase + Width + 7) / 8;
  constexpr std::size_t kShift = kSpan * 8 - Phase - Width;
  constexpr std::uint64_t kMask = low_bits(Width) << kShift;
  const std::uint64_t bits = (number & low_bits(Width)) << kShift;
  for (std::size_t i = 0; i < kSpan; ++i) {
    const std::size_t shift = (kSpan - 1 - i) * 8;
    const auto mask = static_cast<std::uint8_t>(kMask >> shift);
    const auto kept = static_cast<std::uint8_t>(to[i] & ~mask);
    to[i] = static_cast<std::uint8_t>(kept | static_cast<std::uint8_t>(bits >> shift));
  }
}

}  // namespace smd::wire
