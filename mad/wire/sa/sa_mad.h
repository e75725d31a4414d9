// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands between a MAD's common header and the records of subnet administration: RMPP's header, and the
// SA's own. Layout: libibmad's IB_SA_RMPP_* and IB_SA_*, the kernel's struct ib_sa_mad.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/wire/mad.h"

namespace smd::wire {

/// Where the SA's headers and its data begin, and how much data one MAD without RMPP holds.
inline constexpr std::size_t kRmppOffset = 24, kSaOffset = 36, kSaDataOffset = 56, kSaDataBytes = 200;
static_assert(kSaDataOffset + kSaDataBytes == kMadBytes);

/// Version of the class that we speak; others are answered with kStatusBadVersion.
inline constexpr std::uint8_t kSaClassVersion = 2;

/// The SA's part of a MAD's status (upper byte). Values: the kernel's and libopensm's, which agree.
inline constexpr std::uint16_t kSaNoResources = 0x0100, kSaRequestInvalid = 0x0200, kSaNoRecords = 0x0300,
                               kSaTooManyRecords = 0x0400, kSaInvalidGid = 0x0500,
                               kSaInsufficientComponents = 0x0600, kSaDenied = 0x0700;

enum class RmppType : std::uint8_t { none = 0, data = 1, ack = 2, stop = 3, abort = 4 };

/// Reliable multi-packet protocol. Of a MAD as a whole, as the kernel takes and gives it, only `active`,
/// `type` and `version` mean something: it cuts and joins the segments itself.
struct RmppHeader {
  static constexpr std::string_view kName = "RMPPHeader";
  static constexpr std::size_t kBytes = 12;
  std::uint8_t version = 0;  ///< 1 where the others mean something
  RmppType type = RmppType::none;
  std::uint8_t response_time = 0;  ///< 4.096 µs * 2^n; 31: none is named
  bool last = false, first = false, active = false;
  std::uint8_t status = 0;
  std::uint32_t segment = 0;  ///< from 1 on; of an ACK the last one received
  std::uint32_t length = 0;   ///< of data the bytes; of an ACK the last segment of the new window

  /// Rows of the byte layout: libibmad's IB_SA_RMPP_*, the kernel's struct ib_rmpp_hdr.
  static constexpr auto fields() {
    using T = RmppHeader;
    return std::tuple{field("RMPPVersion", &T::version, 0, 8),
                      field("RMPPType", &T::type, 8, 8),
                      field("RRespTime", &T::response_time, 16, 5),
                      field("Last", &T::last, 21, 1),
                      field("First", &T::first, 22, 1),
                      field("Active", &T::active, 23, 1),
                      field("RMPPStatus", &T::status, 24, 8),
                      field("SegmentNumber", &T::segment, 32, 32),
                      field("PayloadLengthOrNewWindowLast", &T::length, 64, 32)};
  }
  friend bool operator==(const RmppHeader&, const RmppHeader&) = default;
};
static_assert(well_formed<RmppHeader>());

struct SaHeader {
  static constexpr std::string_view kName = "SAHeader";
  static constexpr std::size_t kBytes = 20;
  std::uint64_t sm_key = 0;
  std::uint16_t attribute_offset =
      0;                             ///< from record to record, in units of 8 bytes; 0: there is no next one
  std::uint64_t component_mask = 0;  ///< which components of the record count, bit 0 the first

  /// Rows of the byte layout: libibmad's IB_SA_*, the kernel's struct ib_sa_hdr.
  static constexpr auto fields() {
    using T = SaHeader;
    return std::tuple{field("SM_Key", &T::sm_key, 0, 64, Style::secret),
                      field("AttributeOffset", &T::attribute_offset, 64, 16),
                      field("ComponentMask", &T::component_mask, 96, 64, Style::hex)};
  }
  friend bool operator==(const SaHeader&, const SaHeader&) = default;
};
static_assert(well_formed<SaHeader>());

}  // namespace smd::wire
