// SPDX-License-Identifier: Apache-2.0
#pragma once
// Global identifiers: 16 bytes, written as IPv6 addresses.

#include <fmt/format.h>

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "mad/base/id.h"

namespace smd {

using GidBytes = std::array<std::uint8_t, 16>;

/// Subnet prefix of a subnet that was not given one.
inline constexpr std::uint64_t kDefaultSubnetPrefix = 0xfe80000000000000U;

/// Of a port: subnet prefix and GUID. All zero is none.
struct Gid {
  GidBytes bytes{};
  /// Prefix in bytes 0 to 7, GUID in bytes 8 to 15, both big-endian.
  static Gid of(std::uint64_t prefix, Guid guid);
  /// Bytes 0 to 7, the subnet prefix, in host byte order.
  std::uint64_t prefix() const;
  /// Bytes 8 to 15, the interface ID; for a multicast GID of no meaning.
  Guid guid() const;
  bool multicast() const { return bytes[0] == 0xff; }  ///< first byte 0xff
  friend auto operator<=>(const Gid&, const Gid&) = default;
};

/// Of a multicast group; the first byte is 0xff in every valid one.
struct Mgid {
  GidBytes bytes{};
  bool multicast() const { return bytes[0] == 0xff; }  ///< first byte 0xff; false of a malformed value
  friend auto operator<=>(const Mgid&, const Mgid&) = default;
};

/// "fe80::2c9:300:1:1234", as inet_ntop writes it (the field's tools do the same).
std::string to_string(const Gid& gid);
std::string to_string(const Mgid& mgid);  ///< as a GID: "ff12:401b:ffff::1"

namespace base {
/// Reads any IPv6 text, multicast too; nothing for other texts.
std::optional<Gid> parse_gid(std::string_view text);
/// Reads any IPv6 text that is a multicast address; nothing for other texts.
std::optional<Mgid> parse_mgid(std::string_view text);
}  // namespace base

}  // namespace smd

/// Printed as to_string() does.
template <>
struct fmt::formatter<smd::Gid> : fmt::formatter<std::string_view> {
  auto format(const smd::Gid& gid, auto& ctx) const {
    return fmt::format_to(ctx.out(), "{}", to_string(gid));
  }
};
template <>
struct fmt::formatter<smd::Mgid> : fmt::formatter<std::string_view> {
  auto format(const smd::Mgid& gid, auto& ctx) const {
    return fmt::format_to(ctx.out(), "{}", to_string(gid));
  }
};

/// Hashes of all 16 bytes.
template <>
struct std::hash<smd::Gid> {
  std::size_t operator()(const smd::Gid& gid) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(gid.bytes.data()), gid.bytes.size()});
  }
};
template <>
struct std::hash<smd::Mgid> {
  std::size_t operator()(const smd::Mgid& gid) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(gid.bytes.data()), gid.bytes.size()});
  }
};
