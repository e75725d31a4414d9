// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet management packet as a value of 256 bytes. Layout: the kernel's struct ib_smp, libibmad's
// IB_DRSMP_* and IB_MAD_*.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mad/base/id.h"
#include "mad/wire/codec.h"
#include "mad/wire/mad.h"

namespace smd::wire {

/// A route as mad::DirectedPath has it: hops(), hop(0), …
template <class P>
concept HopList = requires(const P path) {
  { path.hops() } -> std::convertible_to<std::size_t>;
  { path.hop(0) } -> std::convertible_to<PortNum>;
};

class Smp {
 public:
  static constexpr std::size_t kBytes = kMadBytes;
  static constexpr std::size_t kDataBytes = 64;
  static constexpr std::size_t kMaxHops = 63;

  /// All zero: no valid SMP until its header is written.
  Smp() = default;

  /// A request by directed route from end to end (both LIDs permissive). `path` has at most kMaxHops ports:
  /// what lies behind is cut off.
  static Smp directed(Method method, std::uint16_t attribute, std::uint32_t modifier,
                      std::span<const PortNum> path);
  template <HopList Path>
  static Smp directed(Method method, std::uint16_t attribute, std::uint32_t modifier, const Path& path);
  /// A request by LID.
  static Smp lid_routed(Method method, std::uint16_t attribute, std::uint32_t modifier);
  /// The first 256 of these bytes, whatever they are; nothing where there are fewer.
  static std::optional<Smp> from_bytes(std::span<const std::uint8_t> bytes);

  std::span<const std::uint8_t, kBytes> bytes() const { return bytes_; }
  std::span<std::uint8_t, kBytes> bytes() { return bytes_; }

  MadHeader header() const;
  std::uint8_t base_version() const { return bytes_[0]; }
  MgmtClass mgmt_class() const { return static_cast<MgmtClass>(bytes_[1]); }
  std::uint8_t class_version() const { return bytes_[2]; }
  Method method() const { return static_cast<Method>(bytes_[3]); }
  /// True of the directed-route class.
  bool is_directed() const { return mgmt_class() == MgmtClass::sm_directed; }
  /// Without the direction bit in a directed-route SMP.
  std::uint16_t status() const;
  /// D bit of a directed-route SMP: on its way back.
  bool returning() const;
  std::uint8_t hop_pointer() const { return bytes_[6]; }
  std::uint8_t hop_count() const { return bytes_[7]; }
  Tid tid() const { return Tid{number<kTid, 64>()}; }
  std::uint16_t attribute() const { return static_cast<std::uint16_t>(number<kAttributeId, 16>()); }
  std::uint32_t modifier() const { return static_cast<std::uint32_t>(number<kModifier, 32>()); }
  std::uint64_t m_key() const { return number<kMKey, 64>(); }
  Lid dr_slid() const { return Lid{static_cast<std::uint16_t>(number<kDrSlid, 16>())}; }
  Lid dr_dlid() const { return Lid{static_cast<std::uint16_t>(number<kDrDlid, 16>())}; }

  void set_base_version(std::uint8_t version) { bytes_[0] = version; }
  void set_mgmt_class(MgmtClass mgmt_class) { bytes_[1] = static_cast<std::uint8_t>(mgmt_class); }
  void set_class_version(std::uint8_t version) { bytes_[2] = version; }
  void set_method(Method method) { bytes_[3] = static_cast<std::uint8_t>(method); }
  /// Keeps the direction bit of a directed-route SMP.
  void set_status(std::uint16_t status);
  void set_returning(bool returning);
  void set_hop_pointer(std::uint8_t hop) { bytes_[6] = hop; }
  void set_hop_count(std::uint8_t hops) { bytes_[7] = hops; }
  void set_tid(Tid tid) { set_number<kTid, 64>(tid.value()); }
  void set_attribute(std::uint16_t attribute) { set_number<kAttributeId, 16>(attribute); }
  void set_modifier(std::uint32_t modifier) { set_number<kModifier, 32>(modifier); }
  void set_m_key(std::uint64_t key) { set_number<kMKey, 64>(key); }
  void set_dr_slid(Lid lid) { set_number<kDrSlid, 16>(lid.value()); }
  void set_dr_dlid(Lid lid) { set_number<kDrDlid, 16>(lid.value()); }

  /// The 64 bytes of the attribute.
  std::span<const std::uint8_t, kDataBytes> data() const;
  std::span<std::uint8_t, kDataBytes> data();
  /// The attribute in the data, whatever attribute ID the header names.
  template <Layout A>
  A get() const;
  /// Writes the attribute into the data, the rest of the data is 0; the header's attribute ID stays.
  template <Layout A>
  void put(const A& attribute);

  /// Port of the path fields; hop 0 is not used, 1 to 63 are. Others: 0, and are not written.
  PortNum initial_path(std::size_t hop) const;
  PortNum return_path(std::size_t hop) const;
  void set_initial_path(std::size_t hop, PortNum port);
  void set_return_path(std::size_t hop, PortNum port);

  /// The answer to this request: its bytes with the method that answers (response_to), this status, and the
  /// direction turned in a directed-route SMP. Hop pointer and paths stay.
  Smp response(std::uint16_t status = kStatusOk) const;

  friend bool operator==(const Smp&, const Smp&) = default;

 private:
  static constexpr std::size_t kStatus = 4, kTid = 8, kAttributeId = 16, kModifier = 20, kMKey = 24,
                               kDrSlid = 32, kDrDlid = 34, kData = 64, kInitialPath = 128, kReturnPath = 192;
  static constexpr std::uint16_t kDirection = 0x8000;

  template <std::size_t Byte, std::size_t Width>
  std::uint64_t number() const {
    return load<0, Width>(bytes_.data() + Byte);
  }
  template <std::size_t Byte, std::size_t Width>
  void set_number(std::uint64_t number) {
    store<0, Width>(bytes_.data() + Byte, number);
  }
  static Smp directed_without_path(Method method, std::uint16_t attribute, std::uint32_t modifier);

  std::array<std::uint8_t, kBytes> bytes_{};
};

template <HopList Path>
Smp Smp::directed(Method method, std::uint16_t attribute, std::uint32_t modifier, const Path& path) {
  Smp smp = directed_without_path(method, attribute, modifier);
  const std::size_t hops = path.hops() < kMaxHops ? path.hops() : kMaxHops;
  smp.set_hop_count(static_cast<std::uint8_t>(hops));
  for (std::size_t i = 0; i < hops; ++i) smp.set_initial_path(i + 1, path.hop(i));
  return smp;
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
