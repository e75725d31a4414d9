// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of an InfiniBand fabric, each a type of its own.

#include <fmt/format.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace smd {

/// A number that means one thing: no arithmetic, no implicit conversion. Zero when not given.
template <class Tag, std::unsigned_integral Rep>
class Id {
 public:
  using rep = Rep;
  constexpr Id() = default;
  /// Any value is accepted; whether it is in the IBA range is the caller's check.
  constexpr explicit Id(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;

 private:
  Rep value_{};
};

/// Local identifier. Unicast 0x0001 to 0xBFFF, multicast 0xC000 to 0xFFFE, permissive 0xFFFF; 0 is none.
struct Lid : Id<Lid, std::uint16_t> {
  using Id::Id;
  constexpr bool unicast() const { return value() >= 0x0001 && value() <= 0xBFFF; }  ///< 0x0001 to 0xBFFF
  /// 0xC000 to 0xFFFE: not the permissive LID.
  constexpr bool multicast() const { return value() >= 0xC000 && value() <= 0xFFFE; }
};
inline constexpr Lid kPermissiveLid{0xFFFF};
inline constexpr Lid kLastUnicastLid{0xBFFF};
inline constexpr Lid kFirstMulticastLid{0xC000};
inline constexpr Lid kLastMulticastLid{0xFFFE};

/// EUI-64 of a node, a port or a system image; 0 is none.
struct Guid : Id<Guid, std::uint64_t> {
  using Id::Id;
};

/// Port of a node: 0 is a switch's management port, 1 to 254 are external ports, 255 in a forwarding
/// table says 'no route'.
struct PortNum : Id<PortNum, std::uint8_t> {
  using Id::Id;
};
inline constexpr PortNum kNoPort{255};

/// Partition key: bit 15 is full membership, the low 15 bits are the partition.
struct PKey : Id<PKey, std::uint16_t> {
  using Id::Id;
  constexpr bool full_member() const { return (value() & 0x8000U) != 0; }  ///< bit 15
  /// 0: none, as in an unused entry of a P_Key table.
  constexpr std::uint16_t partition() const { return static_cast<std::uint16_t>(value() & 0x7FFFU); }
  /// The key of a full member of the same partition.
  constexpr PKey full() const { return PKey{static_cast<std::uint16_t>(value() | 0x8000U)}; }
  /// Both name the same partition, whichever membership; false for two keys of none.
  constexpr bool same_partition(PKey other) const {
    return partition() != 0 && partition() == other.partition();
  }
  /// Ports with these keys may exchange packets: one partition, and one side at least is a full member.
  constexpr bool matches(PKey other) const {
    return same_partition(other) && (full_member() || other.full_member());
  }
};
inline constexpr PKey kDefaultPKey{0xFFFF};

/// Service level, 0 to 15.
struct Sl : Id<Sl, std::uint8_t> {
  using Id::Id;
};

/// Virtual lane, 0 to 15; 15 carries management only.
struct Vl : Id<Vl, std::uint8_t> {
  using Id::Id;
};

/// Transaction identifier of a MAD. With libibumad the kernel owns the upper 32 bits.
struct Tid : Id<Tid, std::uint64_t> {
  using Id::Id;
};

}  // namespace smd

/// Printed as the field's tools do: identifiers in hexadecimal at full width, ports, SLs and VLs in decimal.
template <>
struct fmt::formatter<smd::Guid> : fmt::formatter<std::string_view> {
  auto format(smd::Guid id, auto& ctx) const { return fmt::format_to(ctx.out(), "0x{:016x}", id.value()); }
};
template <>
struct fmt::formatter<smd::Tid> : fmt::formatter<std::string_view> {
  auto format(smd::Tid id, auto& ctx) const { return fmt::format_to(ctx.out(), "0x{:016x}", id.value()); }
};
template <>
struct fmt::formatter<smd::Lid> : fmt::formatter<std::string_view> {
  auto format(smd::Lid id, auto& ctx) const { return fmt::format_to(ctx.out(), "{}", id.value()); }
};
template <>
struct fmt::formatter<smd::PKey> : fmt::formatter<std::string_view> {
  auto format(smd::PKey id, auto& ctx) const { return fmt::format_to(ctx.out(), "0x{:04x}", id.value()); }
};
template <>
struct fmt::formatter<smd::PortNum> : fmt::formatter<std::string_view> {
  auto format(smd::PortNum id, auto& ctx) const { return fmt::format_to(ctx.out(), "{}", id.value()); }
};
template <>
struct fmt::formatter<smd::Sl> : fmt::formatter<std::string_view> {
  auto format(smd::Sl id, auto& ctx) const { return fmt::format_to(ctx.out(), "{}", id.value()); }
};
template <>
struct fmt::formatter<smd::Vl> : fmt::formatter<std::string_view> {
  auto format(smd::Vl id, auto& ctx) const { return fmt::format_to(ctx.out(), "{}", id.value()); }
};

/// Hashes of the number, for unordered containers; their order must not reach any output.
template <>
struct std::hash<smd::Guid> {
  std::size_t operator()(smd::Guid id) const noexcept { return std::hash<std::uint64_t>{}(id.value()); }
};
template <>
struct std::hash<smd::Lid> {
  std::size_t operator()(smd::Lid id) const noexcept { return std::hash<std::uint16_t>{}(id.value()); }
};
template <>
struct std::hash<smd::Tid> {
  std::size_t operator()(smd::Tid id) const noexcept { return std::hash<std::uint64_t>{}(id.value()); }
};
