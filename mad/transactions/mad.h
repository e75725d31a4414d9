// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header that all MADs share, read and written in place: what matching answers to requests needs.
// Layout as libibumad's struct umad_hdr and, for the directed route, struct umad_smp.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "mad/base/id.h"
#include "mad/transport.h"

namespace smd::mad {

/// A whole MAD of the size that all classes without RMPP have.
using Mad = std::array<std::uint8_t, 256>;

inline constexpr std::uint8_t kSmLidRouted = 0x01, kSmDirected = 0x81;
inline constexpr std::uint16_t kStatusBusy = 0x0001;

namespace header {

inline constexpr std::size_t kBytes = 24;

template <std::unsigned_integral T>
T load(std::span<const std::uint8_t> mad, std::size_t offset) {
  T value{};
  std::memcpy(&value, mad.data() + offset, sizeof value);
  return std::endian::native == std::endian::little ? std::byteswap(value) : value;
}
template <std::unsigned_integral T>
void store(std::span<std::uint8_t> mad, std::size_t offset, T value) {
  if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
  std::memcpy(mad.data() + offset, &value, sizeof value);
}

// Each needs a MAD of at least kBytes.
inline std::uint8_t mgmt_class(std::span<const std::uint8_t> mad) { return mad[1]; }
inline std::uint8_t method(std::span<const std::uint8_t> mad) { return mad[3]; }
inline Tid tid(std::span<const std::uint8_t> mad) { return Tid{load<std::uint64_t>(mad, 8)}; }
inline std::uint16_t attribute(std::span<const std::uint8_t> mad) { return load<std::uint16_t>(mad, 16); }
inline std::uint32_t modifier(std::span<const std::uint8_t> mad) { return load<std::uint32_t>(mad, 20); }
inline void set_tid(std::span<std::uint8_t> mad, Tid tid) { store(mad, 8, tid.value()); }

/// Without the bit that says the direction of a directed-route SMP.
inline std::uint16_t status(std::span<const std::uint8_t> mad) {
  const auto status = load<std::uint16_t>(mad, 4);
  return mgmt_class(mad) == kSmDirected ? status & 0x7FFFU : status;
}

/// The method that answers `method`.
constexpr std::uint8_t response_to(std::uint8_t method) {
  return method == 0x02 ? 0x81 : static_cast<std::uint8_t>(method | 0x80U);  // Set is answered by GetResp
}
constexpr bool is_response(std::uint8_t method) { return (method & 0x80U) != 0; }

}  // namespace header

/// Writes the route into a subnet management MAD: the class, and for a directed route its path, both LIDs
/// permissive. Other classes stay as they are.
void write_route(Mad& mad, const Route& route);

/// Makes `reply` the answer to `request` (at least 256 bytes): class, transaction, attribute, modifier and
/// directed route are the request's, the method is its response, the direction is turned.
void write_reply_header(Mad& reply, std::span<const std::uint8_t> request);

}  // namespace smd::mad
