// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet management packet as a value of 256 bytes. Layout: the kernel's struct ib_smp, libibmad's
// IB_DRSMP_* and IB_MAD_*.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mad/base/id.h"
#include "mad/wire/codec.h"
#include "mad/wire/mad.h"
#include "mad/wire/packet.h"

namespace smd::wire {

/// A route as mad::DirectedPath has it: hops(), hop(0), …
template <class P>
concept HopList = requires(const P path) {
  { path.hops() } -> std::convertible_to<std::size_t>;
  { path.hop(0) } -> std::convertible_to<PortNum>;
};

class Smp : public Mad {
 public:
  static constexpr std::size_t kDataBytes = 64;
  static constexpr std::size_t kMaxHops = 63;

  /// All zero: no valid SMP until its header is written.
  Smp() = default;
  /// The same bytes, whatever their class is.
  explicit Smp(const Mad& mad) : Mad(mad) {}

  /// A request by directed route from end to end (both LIDs permissive). `path` has at most kMaxHops ports:
  /// what lies behind is cut off.
  static Smp directed(Method method, std::uint16_t attribute, std::uint32_t modifier,
                      std::span<const PortNum> path);
  /// The same from a path type of its own; hops behind kMaxHops are cut off.
  template <HopList Path>
  static Smp directed(Method method, std::uint16_t attribute, std::uint32_t modifier, const Path& path);
  /// A request by LID.
  static Smp lid_routed(Method method, std::uint16_t attribute, std::uint32_t modifier);
  /// The first 256 of these bytes, whatever they are; nothing where there are fewer.
  static std::optional<Smp> from_bytes(std::span<const std::uint8_t> bytes);

  /// Fields of the SMP header as they stand (hop pointer and count may be above 63), in host byte order; of
  /// an SMP routed by LID only the M_Key has a meaning.
  std::uint8_t hop_pointer() const { return bytes()[6]; }
  std::uint8_t hop_count() const { return bytes()[7]; }
  std::uint64_t m_key() const { return number<kMKey, 64>(); }
  Lid dr_slid() const { return Lid{static_cast<std::uint16_t>(number<kDrSlid, 16>())}; }
  Lid dr_dlid() const { return Lid{static_cast<std::uint16_t>(number<kDrDlid, 16>())}; }

  /// Each setter writes its own field of the SMP header only; nothing is checked. Layout: struct ib_smp.
  void set_hop_pointer(std::uint8_t hop) { bytes()[6] = hop; }
  void set_hop_count(std::uint8_t hops) { bytes()[7] = hops; }
  void set_m_key(std::uint64_t key) { set_number<kMKey, 64>(key); }
  void set_dr_slid(Lid lid) { set_number<kDrSlid, 16>(lid.value()); }
  void set_dr_dlid(Lid lid) { set_number<kDrDlid, 16>(lid.value()); }

  /// The 64 bytes of the attribute.
  std::span<const std::uint8_t, kDataBytes> data() const;
  /// The same, writable; the view is valid as long as this SMP lives.
  std::span<std::uint8_t, kDataBytes> data();
  /// The attribute in the data, whatever attribute ID the header names.
  template <Layout A>
  A get() const;
  /// Writes the attribute into the data, the rest of the data is 0; the header's attribute ID stays.
  template <Layout A>
  void put(const A& attribute);

  /// Port of the path fields; hop 0 is not used, 1 to 63 are. Others: 0, and are not written.
  PortNum initial_path(std::size_t hop) const;
  PortNum return_path(std::size_t hop) const;            ///< as initial_path()
  void set_initial_path(std::size_t hop, PortNum port);  ///< hop above 63: ignored
  void set_return_path(std::size_t hop, PortNum port);   ///< hop above 63: ignored

  /// Writes a directed route from end to end into a MAD: the class, the path, both LIDs permissive.
  template <HopList Path>
  static void write_route(Mad& mad, const Path& path);
  /// As set_m_key of the SMP in a MAD.
  static void write_m_key(Mad& mad, std::uint64_t key) { store<0, 64>(mad.bytes().data() + kMKey, key); }

  /// As Mad::response.
  Smp response(std::uint16_t status = kStatusOk) const { return Smp(Mad::response(status)); }

  friend bool operator==(const Smp&, const Smp&) = default;

 private:
  static constexpr std::size_t kMKey = 24, kDrSlid = 32, kDrDlid = 34, kData = 64, kInitialPath = 128,
                               kReturnPath = 192;

  static Smp directed_without_path(Method method, std::uint16_t attribute, std::uint32_t modifier);
};

template <HopList Path>
Smp Smp::directed(Method method, std::uint16_t attribute, std::uint32_t modifier, const Path& path) {
  Smp smp = directed_without_path(method, attribute, modifier);
  const std::size_t hops = path.hops() < kMaxHops ? path.hops() : kMaxHops;
  smp.set_hop_count(static_cast<std::uint8_t>(hops));
  for (std::size_t i = 0; i < hops; ++i) smp.set_initial_path(i + 1, path.hop(i));
  return smp;
}

template <HopList Path>
void Smp::write_route(Mad& mad, const Path& path) {
  constexpr std::size_t kHopPointer = 6, kHopCount = 7;
  const auto bytes = mad.bytes();
  const std::size_t hops = path.hops() < kMaxHops ? path.hops() : kMaxHops;
  mad.set_mgmt_class(MgmtClass::sm_directed);
  bytes[kHopPointer] = 0;
  bytes[kHopCount] = static_cast<std::uint8_t>(hops);
  store<0, 16>(bytes.data() + kDrSlid, kPermissiveLid.value());
  store<0, 16>(bytes.data() + kDrDlid, kPermissiveLid.value());
  for (std::size_t i = 0; i < hops; ++i) bytes[kInitialPath + i + 1] = path.hop(i).value();
}

template <Layout A>
A Smp::get() const {
  static_assert(A::kBytes <= kDataBytes);
  return decode<A>(data()).value_or(A{});  // 64 bytes are always enough
}

template <Layout A>
void Smp::put(const A& attribute) {
  static_assert(A::kBytes <= kDataBytes);
  for (std::uint8_t& byte : data()) byte = 0;
  encode_over(attribute, data());
}

}  // namespace smd::wire
