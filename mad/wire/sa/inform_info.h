// SPDX-License-Identifier: Apache-2.0
#pragma once
// InformInfo: a subscription to notices; and the identifier of its record. Layout: libopensm's
// ib_inform_info_t and ib_inform_info_record_t.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/gid.h"
#include "mad/wire/notice.h"

namespace smd::wire {

struct InformInfo {
  static constexpr std::uint16_t kAttribute = 0x0003;
  static constexpr std::string_view kName = "InformInfo";
  static constexpr std::size_t kBytes = 36;
  Gid gid;          ///< notices of this port only; zero: those of the LID range
  Lid lid_begin{};  ///< 0xFFFF: every LID
  Lid lid_end{};
  std::uint8_t is_generic = 0;  ///< 1: trap numbers of IBA; 0: a vendor's
  std::uint8_t subscribe = 0;   ///< 1: from now on, 0: no longer
  std::uint16_t type = 0;       ///< 0xFFFF: every type
  std::uint16_t trap = 0;       ///< trap number or device ID; 0xFFFF: every one
  std::uint32_t qp = 0;         ///< 24 bits: where the reports go to
  std::uint8_t response_time = 0;
  std::uint32_t producer = 0;  ///< 24 bits: producer type or vendor ID; 0xFFFFFF: every one

  /// Rows of the byte layout: libopensm's ib_inform_info_t.
  static constexpr auto fields() {
    using T = InformInfo;
    return std::tuple{gid_field("GID", &T::gid, 0),
                      field("LIDRangeBegin", &T::lid_begin, 128, 16),
                      field("LIDRangeEnd", &T::lid_end, 144, 16),
                      field("IsGeneric", &T::is_generic, 176, 8),
                      field("Subscribe", &T::subscribe, 184, 8),
                      field("Type", &T::type, 192, 16),
                      field("TrapNumberOrDeviceID", &T::trap, 208, 16),
                      field("QPN", &T::qp, 224, 24),
                      field("RespTimeValue", &T::response_time, 251, 5),
                      field("ProducerTypeOrVendorID", &T::producer, 264, 24, Style::hex)};
  }
  friend bool operator==(const InformInfo&, const InformInfo&) = default;
};
static_assert(well_formed<InformInfo>());

/// InformInfoRecord: then InformInfo.
struct InformInfoRecordId {
  static constexpr std::uint16_t kRecord = 0x00F3;
  static constexpr std::string_view kName = "InformInfoRecordID";
  static constexpr std::size_t kBytes = 24, kAttributeAt = 24;
  Gid subscriber;
  std::uint16_t number = 0;  ///< of the subscriber's subscriptions

  /// Rows of the byte layout: libopensm's ib_inform_info_record_t, without the InformInfo at its end.
  static constexpr auto fields() {
    using T = InformInfoRecordId;
    return std::tuple{gid_field("SubscriberGID", &T::subscriber, 0), field("Enum", &T::number, 128, 16)};
  }
  friend bool operator==(const InformInfoRecordId&, const InformInfoRecordId&) = default;
};
static_assert(well_formed<InformInfoRecordId>());

}  // namespace smd::wire
