// SPDX-License-Identifier: Apache-2.0
#pragma once
// MCMemberRecord: a multicast group and one port's part in it. Layout: libibmad's IB_SA_MCM_*, libibumad's
// umad_sa_mcm.h.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/wire/sa/path_record.h"

namespace smd::wire {

/// Bits of JoinState.
inline constexpr std::uint8_t kFullMember = 1, kNonMember = 2, kSendOnlyNonMember = 4,
                              kSendOnlyFullMember = 8;

struct McMemberRecord {
  static constexpr std::uint16_t kRecord = 0x0038;
  static constexpr std::string_view kName = "MCMemberRecord";
  static constexpr std::size_t kBytes = 52;
  Mgid mgid;
  Gid port_gid;
  std::uint32_t qkey = 0;
  Lid mlid{};
  Selector mtu_selector{};
  Mtu mtu{};
  std::uint8_t traffic_class = 0;
  PKey pkey{};
  Selector rate_selector{};
  std::uint8_t rate = 0;
  Selector life_selector{};
  std::uint8_t life = 0;
  Sl sl{};
  std::uint32_t flow_label = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t scope = 0, join_state = 0;
  bool proxy_join = false;

  enum Component : std::uint8_t {
    kMgid = 0,
    kPortGid,
    kQKey,
    kMlid,
    kMtuSelector,
    kMtu,
    kTrafficClass,
    kPKey,
    kRateSelector,
    kRate,
    kLifeSelector,
    kLife,
    kSl,
    kFlowLabel,
    kHopLimit,
    kScope,
    kJoinState,
    kProxyJoin
  };

  /// Rows of the byte layout: libibmad's IB_SA_MCM_*, libibumad's umad_sa_mcm.h.
  static constexpr auto fields() {
    using T = McMemberRecord;
    return std::tuple{gid_field("MGID", &T::mgid, 0),
                      gid_field("PortGID", &T::port_gid, 128),
                      field("Q_Key", &T::qkey, 256, 32, Style::hex),
                      field("MLID", &T::mlid, 288, 16),
                      field("MTUSelector", &T::mtu_selector, 304, 2),
                      field("MTU", &T::mtu, 306, 6),
                      field("TClass", &T::traffic_class, 312, 8),
                      field("P_Key", &T::pkey, 320, 16),
                      field("RateSelector", &T::rate_selector, 336, 2),
                      field("Rate", &T::rate, 338, 6),
                      field("PacketLifeTimeSelector", &T::life_selector, 344, 2),
                      field("PacketLifeTime", &T::life, 346, 6),
                      field("SL", &T::sl, 352, 4),
                      field("FlowLabel", &T::flow_label, 356, 20, Style::hex),
                      field("HopLimit", &T::hop_limit, 376, 8),
                      field("Scope", &T::scope, 384, 4),
                      field("JoinState", &T::join_state, 388, 4, Style::hex),
                      field("ProxyJoin", &T::proxy_join, 392, 1)};
  }
  friend bool operator==(const McMemberRecord&, const McMemberRecord&) = default;
};
static_assert(well_formed<McMemberRecord>());

}  // namespace smd::wire
