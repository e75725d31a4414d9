// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optional attributes of performance management that have one counter a VL or SL. They differ in how wide it
// is. Layout: libibmad's IB_PC_*, Intel's opa-ff (PortVLCounters2, 16 and 32).

#include <array>

#include "mad/wire/performance.h"

namespace smd::wire {

template <class Kind>
struct CountersByLane {
  using Number = typename Kind::Number;
  static constexpr std::uint16_t kAttribute = Kind::kAttribute;
  static constexpr std::string_view kName = Kind::kName;
  static constexpr std::size_t kLanes = Kind::kLanes;
  static constexpr std::size_t kBytes = 4 + (Kind::kLanes * Kind::kBits + 7) / 8;
  std::uint8_t op_code = 0;  ///< as that of PortOpReceiveCounters, where Kind::kByOpCode; else not used
  PortNum port{};
  std::uint16_t select = 0;  ///< of a Set: bit n is lane n
  std::array<Number, kLanes> counters{};

  /// Rows of the byte layout: libibmad's IB_PC_*, Intel's opa-ff. The counters start at byte 4.
  static constexpr auto fields() {
    using T = CountersByLane;
    return std::tuple{field("OpCode", &T::op_code, 0, 8, Style::hex), field("PortSelect", &T::port, 8, 8),
                      field("CounterSelect", &T::select, 16, 16, Style::hex),
                      array_field(Kind::kCounter, &T::counters, 32, Kind::kBits)};
  }
  friend bool operator==(const CountersByLane&, const CountersByLane&) = default;
};

namespace kind {

template <std::uint16_t Attribute, class Rep, std::size_t Bits, std::size_t Lanes = 16>
struct Lane {
  using Number = Rep;
  static constexpr std::uint16_t kAttribute = Attribute;
  static constexpr std::size_t kBits = Bits, kLanes = Lanes;
  static constexpr bool kByOpCode = false;
};

/// Packets that have come in by a VL with the operation code.
struct VlOpPackets : Lane<0x0019, std::uint16_t, 16> {
  static constexpr std::string_view kName = "PortVLOpPackets", kCounter = "PortVLOpPackets";
  static constexpr bool kByOpCode = true;
};
/// The same in words of 4 bytes.
struct VlOpData : Lane<0x001A, std::uint32_t, 32> {
  static constexpr std::string_view kName = "PortVLOpData", kCounter = "PortVLOpData";
  static constexpr bool kByOpCode = true;
};
/// Updates of flow control that did not come in time.
struct FlowUpdateErrors : Lane<0x001B, std::uint8_t, 2> {
  static constexpr std::string_view kName = "PortVLXmitFlowCtlUpdateErrors",
                                    kCounter = "PortVLXmitFlowCtlUpdateErrors";
};
/// Ticks in which there was something to send and no credit.
struct VlWaits : Lane<0x001C, std::uint16_t, 16> {
  static constexpr std::string_view kName = "PortVLXmitWaitCounters", kCounter = "PortVLXmitWait";
};
/// Times that a switch's port was congested.
struct SwitchVlCongestion : Lane<0x0030, std::uint16_t, 16> {
  static constexpr std::string_view kName = "SwPortVLCongestion", kCounter = "SWPortVLCongestion";
};
/// Packets that told of congestion forwards, by SL.
struct SlFecn : Lane<0x0032, std::uint32_t, 32> {
  static constexpr std::string_view kName = "PortSLRcvFECN", kCounter = "PortSLRcvFECN";
};
/// The same backwards.
struct SlBecn : Lane<0x0033, std::uint32_t, 32> {
  static constexpr std::string_view kName = "PortSLRcvBECN", kCounter = "PortSLRcvBECN";
};
/// Time that a VL was congested.
struct VlTimeCongested : Lane<0x0035, std::uint32_t, 32, 15> {
  static constexpr std::string_view kName = "PortVLXmitTimeCong", kCounter = "PortVLXmitTimeCong";
};
/// What has left by each SL, in words of 4 bytes.
struct TransmitDataSl : Lane<0x0036, std::uint32_t, 32> {
  static constexpr std::string_view kName = "PortXmitDataSL", kCounter = "XmtDataSL";
};
/// What has come in by each SL.
struct ReceiveDataSl : Lane<0x0037, std::uint32_t, 32> {
  static constexpr std::string_view kName = "PortRcvDataSL", kCounter = "RcvDataSL";
};

}  // namespace kind

using PortVlOpPackets = CountersByLane<kind::VlOpPackets>;
using PortVlOpData = CountersByLane<kind::VlOpData>;
using PortVlFlowUpdateErrors = CountersByLane<kind::FlowUpdateErrors>;
using PortVlWaits = CountersByLane<kind::VlWaits>;
using SwitchPortVlCongestion = CountersByLane<kind::SwitchVlCongestion>;
using PortSlFecn = CountersByLane<kind::SlFecn>;
using PortSlBecn = CountersByLane<kind::SlBecn>;
using PortVlTimeCongested = CountersByLane<kind::VlTimeCongested>;
using PortTransmitDataSl = CountersByLane<kind::TransmitDataSl>;
using PortReceiveDataSl = CountersByLane<kind::ReceiveDataSl>;
static_assert(well_formed<PortVlOpPackets>() && well_formed<PortVlOpData>() &&
              well_formed<PortVlFlowUpdateErrors>() && well_formed<PortVlWaits>() &&
              well_formed<SwitchPortVlCongestion>() && well_formed<PortSlFecn>() &&
              well_formed<PortSlBecn>() && well_formed<PortVlTimeCongested>() &&
              well_formed<PortTransmitDataSl>() && well_formed<PortReceiveDataSl>());

}  // namespace smd::wire
