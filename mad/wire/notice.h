// SPDX-License-Identifier: Apache-2.0
#pragma once
// Notice: the body of a trap. What its 54 bytes of details mean: mad/wire/trap.h. Layout: libibmad's
// IB_NOTICE_*, the kernel's struct ib_mad_notice_attr.

#include <array>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

enum class NoticeType : std::uint8_t {
  fatal = 0,
  urgent = 1,
  security = 2,
  subnet_management = 3,
  informational = 4,
  empty = 0x7F
};

/// Name of the Notice type; "unknown" for a reserved value.
constexpr std::string_view to_string(NoticeType type) {
  switch (type) {
    case NoticeType::fatal:
      return "fatal";
    case NoticeType::urgent:
      return "urgent";
    case NoticeType::security:
      return "security";
    case NoticeType::subnet_management:
      return "subnet-management";
    case NoticeType::informational:
      return "informational";
    case NoticeType::empty:
      return "empty";
  }
  return "unknown";
}

/// What a generic notice's producer is.
inline constexpr std::uint32_t kProducerCa = 1, kProducerSwitch = 2, kProducerRouter = 3,
                               kProducerClassManager = 4;

struct Notice {
  static constexpr std::uint16_t kAttribute = 0x0002;
  static constexpr std::string_view kName = "Notice";
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kDetailBytes = 54;
  bool is_generic = false;
  NoticeType type{};
  std::uint32_t producer = 0;  ///< generic: kProducer…; else the vendor ID (24 bits)
  std::uint16_t trap = 0;      ///< generic: trap number; else the device ID
  Lid issuer_lid{};
  bool toggle = false;
  std::uint16_t count = 0;                           ///< notices waiting (15 bits)
  std::array<std::uint8_t, kDetailBytes> details{};  ///< may hold an M_Key (trap 256): describe() prints them

  /// Rows of the byte layout: libibmad's IB_NOTICE_*, the kernel's struct ib_mad_notice_attr.
  static constexpr auto fields() {
    using T = Notice;
    return std::tuple{field("IsGeneric", &T::is_generic, 0, 1),
                      field("Type", &T::type, 1, 7),
                      field("ProducerTypeOrVendorID", &T::producer, 8, 24, Style::hex),
                      field("TrapNumberOrDeviceID", &T::trap, 32, 16),
                      field("IssuerLID", &T::issuer_lid, 48, 16),
                      field("NoticeToggle", &T::toggle, 64, 1),
                      field("NoticeCount", &T::count, 65, 15),
                      array_field("DataDetails", &T::details, 80, 8, 0, Style::secret)};
  }
  friend bool operator==(const Notice&, const Notice&) = default;
};
static_assert(well_formed<Notice>());

}  // namespace smd::wire
