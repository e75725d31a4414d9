// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServiceRecord: what a port offers. Layout: libibmad's IB_SR_*, libopensm's ib_service_record_t.

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/gid.h"
#include "mad/wire/codec.h"

namespace smd::wire {

struct ServiceRecord {
  static constexpr std::uint16_t kRecord = 0x0031;
  static constexpr std::string_view kName = "ServiceRecord";
  static constexpr std::size_t kBytes = 176;
  std::uint64_t id = 0;
  Gid gid;
  PKey pkey{};
  std::uint32_t lease = 0;  ///< seconds; 0xFFFFFFFF has no end
  std::array<std::uint8_t, 16> key{};
  std::array<std::uint8_t, 64> name{};  ///< any bytes, zeros too
  std::array<std::uint8_t, 16> data8{};
  std::array<std::uint16_t, 8> data16{};
  std::array<std::uint32_t, 4> data32{};
  std::array<std::uint64_t, 2> data64{};

  enum Component : std::uint8_t { kId = 0, kGid, kPKey, kLease = 4, kKey, kServiceName, kData8 };

  /// Rows of the byte layout: libibmad's IB_SR_*, libopensm's ib_service_record_t.
  static constexpr auto fields() {
    using T = ServiceRecord;
    return std::tuple{field("ServiceID", &T::id, 0, 64, Style::hex),
                      gid_field("ServiceGID", &T::gid, 64),
                      field("ServiceP_Key", &T::pkey, 192, 16),
                      field("ServiceLease", &T::lease, 224, 32),
                      array_field("ServiceKey", &T::key, 256, 8, 0, Style::secret),
                      array_field("ServiceName", &T::name, 384, 8, 0, Style::text),
                      array_field("ServiceData8", &T::data8, 896, 8),
                      array_field("ServiceData16", &T::data16, 1024, 16),
                      array_field("ServiceData32", &T::data32, 1152, 32),
                      array_field("ServiceData64", &T::data64, 1280, 64)};
  }
  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};
static_assert(well_formed<ServiceRecord>());

}  // namespace smd::wire
