// SPDX-License-Identifier: Apache-2.0
#pragma once
// The identifiers of records that carry an attribute of subnet management: an identifier, then the attribute
// at `kAttributeAt`. Layout: libopensm's ib_types.h (ib_node_record_t and so on), in the tests held against
// it.

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/node.h"
#include "mad/wire/port_info.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/switch.h"
#include "mad/wire/tables.h"

namespace smd::wire {

/// NodeRecord: then NodeInfo and NodeDescription.
struct NodeRecordId {
  static constexpr std::uint16_t kRecord = 0x0011;
  static constexpr std::string_view kName = "NodeRecordID";
  static constexpr std::size_t kBytes = 4;
  static constexpr std::size_t kAttributeAt = 4, kDescriptionAt = kAttributeAt + NodeInfo::kBytes,
                               kRecordBytes = kDescriptionAt + NodeDescription::kBytes;
  Lid lid{};

  static constexpr auto fields() { return std::tuple{field("LID", &NodeRecordId::lid, 0, 16)}; }
  friend bool operator==(const NodeRecordId&, const NodeRecordId&) = default;
};
static_assert(well_formed<NodeRecordId>());

/// PortInfoRecord: then PortInfo.
struct PortInfoRecordId {
  static constexpr std::uint16_t kRecord = 0x0012;
  static constexpr std::string_view kName = "PortInfoRecordID";
  static constexpr std::size_t kBytes = 4, kAttributeAt = 4;
  Lid lid{};  ///< of the end port; of any port of a switch that of its port 0
  PortNum port{};
  std::uint8_t options = 0;  ///< bit 7: the extended speeds are wanted, or are shown

  /// Rows of the identifier: libopensm's ib_portinfo_record_t.
  static constexpr auto fields() {
    using T = PortInfoRecordId;
    return std::tuple{field("EndportLID", &T::lid, 0, 16), field("PortNum", &T::port, 16, 8),
                      field("Options", &T::options, 24, 8, Style::hex)};
  }
  friend bool operator==(const PortInfoRecordId&, const PortInfoRecordId&) = default;
};
static_assert(well_formed<PortInfoRecordId>());

/// SLtoVLMappingTableRecord: then SlToVl.
struct SlToVlRecordId {
  static constexpr std::uint16_t kRecord = 0x0013;
  static constexpr std::string_view kName = "SLtoVLMappingTableRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  PortNum in{}, out{};

  /// Rows of the identifier: libopensm's ib_slvl_table_record_t.
  static constexpr auto fields() {
    using T = SlToVlRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("InputPortNum", &T::in, 16, 8),
                      field("OutputPortNum", &T::out, 24, 8)};
  }
  friend bool operator==(const SlToVlRecordId&, const SlToVlRecordId&) = default;
};
static_assert(well_formed<SlToVlRecordId>());

/// SwitchInfoRecord: then SwitchInfo.
struct SwitchInfoRecordId {
  static constexpr std::uint16_t kRecord = 0x0014;
  static constexpr std::string_view kName = "SwitchInfoRecordID";
  static constexpr std::size_t kBytes = 4, kAttributeAt = 4;
  Lid lid{};

  static constexpr auto fields() { return std::tuple{field("LID", &SwitchInfoRecordId::lid, 0, 16)}; }
  friend bool operator==(const SwitchInfoRecordId&, const SwitchInfoRecordId&) = default;
};
static_assert(well_formed<SwitchInfoRecordId>());

/// LinearForwardingTableRecord: then LinearForwardingTable.
struct LftRecordId {
  static constexpr std::uint16_t kRecord = 0x0015;
  static constexpr std::string_view kName = "LinearForwardingTableRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  std::uint16_t block = 0;  ///< of 64 LIDs

  /// Rows of the identifier: libopensm's ib_lft_record_t.
  static constexpr auto fields() {
    using T = LftRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("BlockNum", &T::block, 16, 16)};
  }
  friend bool operator==(const LftRecordId&, const LftRecordId&) = default;
};
static_assert(well_formed<LftRecordId>());

/// MulticastForwardingTableRecord: then MulticastForwardingTable.
struct MftRecordId {
  static constexpr std::uint16_t kRecord = 0x0017;
  static constexpr std::string_view kName = "MulticastForwardingTableRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  std::uint8_t position = 0;  ///< of 16 ports
  std::uint16_t block = 0;    ///< of 32 MLIDs (9 bits)

  /// Rows of the identifier: libopensm's ib_mft_record_t.
  static constexpr auto fields() {
    using T = MftRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("Position", &T::position, 16, 4),
                      field("BlockNum", &T::block, 23, 9)};
  }
  friend bool operator==(const MftRecordId&, const MftRecordId&) = default;
};
static_assert(well_formed<MftRecordId>());

/// SMInfoRecord: then SmInfo.
struct SmInfoRecordId {
  static constexpr std::uint16_t kRecord = 0x0018;
  static constexpr std::string_view kName = "SMInfoRecordID";
  static constexpr std::size_t kBytes = 4, kAttributeAt = 4;
  Lid lid{};

  static constexpr auto fields() { return std::tuple{field("LID", &SmInfoRecordId::lid, 0, 16)}; }
  friend bool operator==(const SmInfoRecordId&, const SmInfoRecordId&) = default;
};
static_assert(well_formed<SmInfoRecordId>());

/// GUIDInfoRecord: then GuidInfo.
struct GuidInfoRecordId {
  static constexpr std::uint16_t kRecord = 0x0030;
  static constexpr std::string_view kName = "GUIDInfoRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  std::uint8_t block = 0;  ///< of 8 GUIDs

  /// Rows of the identifier: libopensm's ib_guidinfo_record_t.
  static constexpr auto fields() {
    using T = GuidInfoRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("BlockNum", &T::block, 16, 8)};
  }
  friend bool operator==(const GuidInfoRecordId&, const GuidInfoRecordId&) = default;
};
static_assert(well_formed<GuidInfoRecordId>());

/// P_KeyTableRecord: then PKeyTable.
struct PKeyRecordId {
  static constexpr std::uint16_t kRecord = 0x0033;
  static constexpr std::string_view kName = "P_KeyTableRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  std::uint16_t block = 0;  ///< of 32 P_Keys
  PortNum port{};           ///< asked for of switches only

  /// Rows of the identifier: libopensm's ib_pkey_table_record_t.
  static constexpr auto fields() {
    using T = PKeyRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("BlockNum", &T::block, 16, 16),
                      field("PortNum", &T::port, 32, 8)};
  }
  friend bool operator==(const PKeyRecordId&, const PKeyRecordId&) = default;
};
static_assert(well_formed<PKeyRecordId>());

/// VLArbitrationTableRecord: then VlArbitration.
struct VlArbRecordId {
  static constexpr std::uint16_t kRecord = 0x0036;
  static constexpr std::string_view kName = "VLArbitrationTableRecordID";
  static constexpr std::size_t kBytes = 8, kAttributeAt = 8;
  Lid lid{};
  PortNum port{};
  std::uint8_t block = 0;  ///< 1 and 2: low priority, 3 and 4: high

  /// Rows of the identifier: libopensm's ib_vl_arb_table_record_t.
  static constexpr auto fields() {
    using T = VlArbRecordId;
    return std::tuple{field("LID", &T::lid, 0, 16), field("OutputPortNum", &T::port, 16, 8),
                      field("BlockNum", &T::block, 24, 8)};
  }
  friend bool operator==(const VlArbRecordId&, const VlArbRecordId&) = default;
};
static_assert(well_formed<VlArbRecordId>());

/// One direction of a link.
struct LinkRecord {
  static constexpr std::uint16_t kRecord = 0x0020;
  static constexpr std::string_view kName = "LinkRecord";
  static constexpr std::size_t kBytes = 6;
  Lid from_lid{};
  PortNum from_port{}, to_port{};
  Lid to_lid{};

  /// Rows of the byte layout: libopensm's ib_link_record_t.
  static constexpr auto fields() {
    using T = LinkRecord;
    return std::tuple{field("FromLID", &T::from_lid, 0, 16), field("FromPort", &T::from_port, 16, 8),
                      field("ToPort", &T::to_port, 24, 8), field("ToLID", &T::to_lid, 32, 16)};
  }
  friend bool operator==(const LinkRecord&, const LinkRecord&) = default;
};
static_assert(well_formed<LinkRecord>());

}  // namespace smd::wire
