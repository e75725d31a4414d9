// SPDX-License-Identifier: Apache-2.0
#pragma once
// PathRecord and MultiPathRecord: how to get from a port to another. Layout: libibmad's IB_SA_PR_* and
// IB_SA_MP_*, libopensm's ib_path_rec_t and ib_multipath_rec_t.

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// How a limit in a request is meant.
enum class Selector : std::uint8_t { greater = 0, less = 1, exactly = 2, largest = 3 };

struct PathRecord {
  static constexpr std::uint16_t kRecord = 0x0035;
  static constexpr std::string_view kName = "PathRecord";
  static constexpr std::size_t kBytes = 64;
  std::uint64_t service_id = 0;
  Gid dgid, sgid;
  Lid dlid{}, slid{};
  bool raw_traffic = false;
  std::uint32_t flow_label = 0;  ///< 20 bits
  std::uint8_t hop_limit = 0, traffic_class = 0;
  bool reversible = false;
  std::uint8_t paths = 0;  ///< how many at most; 7 bits
  PKey pkey{};
  std::uint16_t qos_class = 0;  ///< 12 bits
  Sl sl{};
  Selector mtu_selector{};
  Mtu mtu{};
  Selector rate_selector{};
  std::uint8_t rate = 0;  ///< 6 bits, IBA's code of static rates
  Selector life_selector{};
  std::uint8_t life = 0;  ///< 4.096 µs * 2^n
  std::uint8_t preference = 0;

  /// Bits of the component mask.
  enum Component : std::uint8_t {
    kServiceId = 0,  ///< and 1: its lower 56 bits
    kDgid = 2,
    kSgid,
    kDlid,
    kSlid,
    kRawTraffic,
    kFlowLabel = 8,
    kHopLimit,
    kTrafficClass,
    kReversible,
    kPaths,
    kPKey,
    kQosClass,
    kSl,
    kMtuSelector,
    kMtu,
    kRateSelector,
    kRate,
    kLifeSelector,
    kLife
  };

  /// Rows of the byte layout: libibmad's IB_SA_PR_*, libopensm's ib_path_rec_t.
  static constexpr auto fields() {
    using T = PathRecord;
    return std::tuple{field("ServiceID", &T::service_id, 0, 64, Style::hex),
                      gid_field("DGID", &T::dgid, 64),
                      gid_field("SGID", &T::sgid, 192),
                      field("DLID", &T::dlid, 320, 16),
                      field("SLID", &T::slid, 336, 16),
                      field("RawTraffic", &T::raw_traffic, 352, 1),
                      field("FlowLabel", &T::flow_label, 356, 20, Style::hex),
                      field("HopLimit", &T::hop_limit, 376, 8),
                      field("TClass", &T::traffic_class, 384, 8),
                      field("Reversible", &T::reversible, 392, 1),
                      field("NumbPath", &T::paths, 393, 7),
                      field("P_Key", &T::pkey, 400, 16),
                      field("QoSClass", &T::qos_class, 416, 12),
                      field("SL", &T::sl, 428, 4),
                      field("MtuSelector", &T::mtu_selector, 432, 2),
                      field("Mtu", &T::mtu, 434, 6),
                      field("RateSelector", &T::rate_selector, 440, 2),
                      field("Rate", &T::rate, 442, 6),
                      field("PacketLifeTimeSelector", &T::life_selector, 448, 2),
                      field("PacketLifeTime", &T::life, 450, 6),
                      field("Preference", &T::preference, 456, 8)};
  }
  friend bool operator==(const PathRecord&, const PathRecord&) = default;
};
static_assert(well_formed<PathRecord>());

/// A question for paths between several ports; kGids GIDs follow at kGidsAt, the sources first.
struct MultiPathRecord {
  static constexpr std::uint16_t kRecord = 0x003A;
  static constexpr std::string_view kName = "MultiPathRecord";
  static constexpr std::size_t kBytes = 24, kGidsAt = 24;
  bool raw_traffic = false;
  std::uint32_t flow_label = 0;
  std::uint8_t hop_limit = 0, traffic_class = 0;
  bool reversible = false;
  std::uint8_t paths = 0;
  PKey pkey{};
  std::uint16_t qos_class = 0;
  Sl sl{};
  Selector mtu_selector{};
  Mtu mtu{};
  Selector rate_selector{};
  std::uint8_t rate = 0;
  Selector life_selector{};
  std::uint8_t life = 0;
  std::uint8_t service_id_high = 0;
  std::uint8_t independence = 0;  ///< 2 bits: paths that share no link
  std::uint8_t sources = 0, destinations = 0;
  std::uint64_t service_id_low = 0;  ///< 56 bits

  enum Component : std::uint8_t {
    kRawTraffic = 0,
    kFlowLabel = 2,
    kHopLimit,
    kTrafficClass,
    kReversible,
    kPaths,
    kPKey,
    kQosClass,
    kSl,
    kMtuSelector,
    kMtu,
    kRateSelector,
    kRate,
    kLifeSelector,
    kLife,
    kServiceIdHigh,
    kIndependence,
    kSources = 19,
    kDestinations,
    kServiceIdLow
  };

  /// Rows of the byte layout, without the GIDs: libibmad's IB_SA_MP_*, libopensm's ib_multipath_rec_t.
  static constexpr auto fields() {
    using T = MultiPathRecord;
    return std::tuple{field("RawTraffic", &T::raw_traffic, 0, 1),
                      field("FlowLabel", &T::flow_label, 4, 20, Style::hex),
                      field("HopLimit", &T::hop_limit, 24, 8),
                      field("TClass", &T::traffic_class, 32, 8),
                      field("Reversible", &T::reversible, 40, 1),
                      field("NumbPath", &T::paths, 41, 7),
                      field("P_Key", &T::pkey, 48, 16),
                      field("QoSClass", &T::qos_class, 64, 12),
                      field("SL", &T::sl, 76, 4),
                      field("MtuSelector", &T::mtu_selector, 80, 2),
                      field("Mtu", &T::mtu, 82, 6),
                      field("RateSelector", &T::rate_selector, 88, 2),
                      field("Rate", &T::rate, 90, 6),
                      field("PacketLifeTimeSelector", &T::life_selector, 96, 2),
                      field("PacketLifeTime", &T::life, 98, 6),
                      field("ServiceID8MSB", &T::service_id_high, 104, 8, Style::hex),
                      field("IndependenceSelector", &T::independence, 112, 2),
                      field("SGIDCount", &T::sources, 120, 8),
                      field("DGIDCount", &T::destinations, 128, 8),
                      field("ServiceID56LSB", &T::service_id_low, 136, 56, Style::hex)};
  }
  friend bool operator==(const MultiPathRecord&, const MultiPathRecord&) = default;
};
static_assert(well_formed<MultiPathRecord>());

}  // namespace smd::wire
