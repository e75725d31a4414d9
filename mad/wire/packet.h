// SPDX-License-Identifier: Apache-2.0
#pragma once
// A MAD of any management class as a value of 256 bytes. Layout of the header: the kernel's struct
// ib_mad_hdr, libibmad's IB_MAD_*; where a class has its data: libibmad's IB_*_DATA_OFFS.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "mad/base/id.h"
#include "mad/wire/codec.h"
#include "mad/wire/mad.h"

namespace smd::wire {

/// True of the two classes of subnet management packets, 0x01 and 0x81.
constexpr bool is_smp(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::sm_lid || mgmt_class == MgmtClass::sm_directed;
}

/// The class without its way of routing: both classes of SMPs have the same attributes.
constexpr MgmtClass attributes_of(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::sm_directed ? MgmtClass::sm_lid : mgmt_class;
}

/// Where the attribute lies in a MAD of 256 bytes of a class; `size` in bytes.
struct DataPlace {
  std::size_t first = 0, size = 0;
};
/// Offset and size in bytes, from libibmad's IB_*_DATA_OFFS.
constexpr DataPlace data_place(MgmtClass mgmt_class) {
  constexpr auto to_the_end = [](std::size_t first) { return DataPlace{first, kMadBytes - first}; };
  switch (mgmt_class) {
    case MgmtClass::sm_lid:
    case MgmtClass::sm_directed:
      return {64, 64};
    case MgmtClass::sa:
      return to_the_end(56);
    case MgmtClass::cm:
      return to_the_end(24);
    default:
      break;
  }
  const auto number = std::to_underlying(mgmt_class);
  if (number >= 0x09 && number <= 0x0F) return to_the_end(24);  // vendors, without an OUI
  if (number >= 0x30 && number <= 0x4F) return to_the_end(40);  // vendors, with an OUI
  return to_the_end(64);  // PM, BM, device management, congestion control
}

/// What all classes have in common. Smp adds what subnet management has.
class Mad {
 public:
  static constexpr std::size_t kBytes = kMadBytes;

  /// All zero: no valid MAD until its header is written.
  Mad() = default;
  /// A request with zeros for data. `class_version`: 2 of SA (kSaClassVersion), 1 of most others.
  Mad(MgmtClass mgmt_class, std::uint8_t class_version, Method method, std::uint16_t attribute,
      std::uint32_t modifier = 0);
  /// The first 256 of these bytes, whatever they are; nothing where there are fewer.
  static std::optional<Mad> from_bytes(std::span<const std::uint8_t> bytes);

  std::span<const std::uint8_t, kBytes> bytes() const { return bytes_; }
  std::span<std::uint8_t, kBytes> bytes() { return bytes_; }

  /// A decoded copy of the common header (the first 24 bytes).
  MadHeader header() const;
  /// Fields of the common header as they stand: class and method may be values that the enums do not name.
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
  /// In host byte order, as they stand.
  Tid tid() const { return Tid{number<kTid, 64>()}; }
  std::uint16_t attribute() const { return static_cast<std::uint16_t>(number<kAttributeId, 16>()); }
  std::uint32_t modifier() const { return static_cast<std::uint32_t>(number<kModifier, 32>()); }

  /// Each setter writes its own field of the common header only; nothing is checked.
  void set_base_version(std::uint8_t version) { bytes_[0] = version; }
  void set_mgmt_class(MgmtClass mgmt_class) { bytes_[1] = static_cast<std::uint8_t>(mgmt_class); }
  void set_class_version(std::uint8_t version) { bytes_[2] = version; }
  void set_method(Method method) { bytes_[3] = static_cast<std::uint8_t>(method); }
  /// Keeps the direction bit of a directed-route SMP.
  void set_status(std::uint16_t status);
  /// Sets the direction bit of a directed-route SMP (bit 15 of Status); the status itself stays.
  void set_returning(bool returning);
  void set_tid(Tid tid) { set_number<kTid, 64>(tid.value()); }
  void set_attribute(std::uint16_t attribute) { set_number<kAttributeId, 16>(attribute); }
  void set_modifier(std::uint32_t modifier) { set_number<kModifier, 32>(modifier); }

  /// The bytes of the attribute, where the class of this MAD has them (data_place).
  std::span<const std::uint8_t> data() const;
  /// The same, writable; the view is valid as long as this MAD lives and its class stays.
  std::span<std::uint8_t> data();
  /// The attribute in the data, whatever attribute ID the header names.
  template <Layout A>
  A get() const {
    return decode<A>(data()).value_or(A{});
  }
  /// Writes the attribute into the data, the rest of the data is 0; the header's attribute ID stays. An
  /// attribute that is longer than the data of the class is a bug.
  template <Layout A>
  void put(const A& attribute) {
    const auto to = data();
    for (std::uint8_t& byte : to) byte = 0;
    encode_over(attribute, to);
  }

  /// The answer to this request: its bytes with the method that answers (response_to), this status, and the
  /// direction turned in a directed-route SMP. Hop pointer and paths stay.
  Mad response(std::uint16_t status = kStatusOk) const;

  friend bool operator==(const Mad&, const Mad&) = default;

 protected:
  /// The field of Width bits that begins with byte Byte, in host byte order.
  template <std::size_t Byte, std::size_t Width>
  std::uint64_t number() const {
    return load<0, Width>(bytes_.data() + Byte);
  }
  /// Writes the low Width bits of `number` there.
  template <std::size_t Byte, std::size_t Width>
  void set_number(std::uint64_t number) {
    store<0, Width>(bytes_.data() + Byte, number);
  }

 private:
  static constexpr std::size_t kStatus = 4, kTid = 8, kAttributeId = 16, kModifier = 20;
  static constexpr std::uint16_t kDirection = 0x8000;

  std::array<std::uint8_t, kBytes> bytes_{};
};

}  // namespace smd::wire
