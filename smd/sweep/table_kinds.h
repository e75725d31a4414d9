// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of tables that ports have, one descriptor each: what sweep, plan, apply, advance, audit and
// subnet administration need to know of a kind. A new kind is one specialisation of TableKind, its name in
// OfEachTable, and a decision that makes its TablePart.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "mad/base/id.h"
#include "mad/wire/modifier.h"
#include "mad/wire/port_info.h"
#include "mad/wire/tables.h"
#include "smd/tables/block_set.h"
#include "smd/tables/phase.h"

namespace smd::sm::inline sweeping {

struct Node;  // smd/sweep/subnet.h

/// How the blocks of a kind come to be known without being written.
enum class TableRead : std::uint8_t {
  sweep,  ///< each sweep reads them with the port
  idle,   ///< when nothing else is due; one table for each pair of a switch's ports
  never,  ///< smd alone writes them
};

/// Descriptor of the kind of table that attribute A carries: static members kPhase (where its Sets stand in a
/// plan), kRead, blocks(node, port) (the blocks that the port has, by its and its node's capacities) and
/// modifier(node, port, block) (the attribute modifier of a block). A kPhase that is planned for any kind
/// (smd/plan/table_rounds.h) is `vl_tables` or, alone and not by plan(), `guid_info`: a kind of another phase
/// does not compile. `pkeys` has rounds of its own, which know P_Key tables only.
template <class A>
struct TableKind;

/// P_KeyTable: blocks of 32 keys. Capacity: PartitionCap of NodeInfo, of switch ports
/// PartitionEnforcementCap of SwitchInfo.
template <>
struct TableKind<wire::PKeyTable> {
  static constexpr Phase kPhase = Phase::pkeys;
  static constexpr TableRead kRead = TableRead::sweep;
  /// Blocks within the capacity; none where that is 0 or not known.
  static BlockSet blocks(const Node& node, PortNum port);
  /// The attribute modifier.
  static std::uint32_t modifier(const Node& node, PortNum port, std::size_t block);
};

/// SLtoVLMappingTable: the block is the port by which packets come in; 0 alone for a CA or router. None where
/// the port has one data VL.
template <>
struct TableKind<wire::SlToVl> {
  static constexpr Phase kPhase = Phase::vl_tables;
  static constexpr TableRead kRead = TableRead::idle;
  /// Blocks of a Set only, of switches with OptimizedSLtoVLMappingProgramming: all ports by which packets
  /// come in, and all of those for all external ports.
  static constexpr std::size_t kAllIn = 256, kAllPorts = 257;
  /// Port 0 and the ports with a link; none unless has_vl_tables().
  static BlockSet blocks(const Node& node, PortNum port);
  /// The attribute modifier.
  static std::uint32_t modifier(const Node& node, PortNum port, std::size_t block);
};

/// VLArbitrationTable: four blocks of 32 entries, two of low and two of high priority (wire::VlArbPart less
/// 1), as far as VLArbitrationLowCap and HighCap reach. None where the port has one data VL.
template <>
struct TableKind<wire::VlArbitration> {
  static constexpr Phase kPhase = Phase::vl_tables;
  static constexpr TableRead kRead = TableRead::idle;
  /// Blocks with at least one entry; none unless has_vl_tables().
  static BlockSet blocks(const Node& node, PortNum port);
  /// The attribute modifier.
  static std::uint32_t modifier(const Node& node, PortNum port, std::size_t block);
};

/// GUIDInfo: blocks of 8 GUIDs, as far as PortInfo.GUIDCap reaches.
template <>
struct TableKind<wire::GuidInfo> {
  static constexpr Phase kPhase = Phase::guid_info;
  static constexpr TableRead kRead = TableRead::never;
  /// Blocks within GUIDCap; none where PortInfo is not known.
  static BlockSet blocks(const Node& node, PortNum port);
  /// The attribute modifier.
  static std::uint32_t modifier(const Node& node, PortNum port, std::size_t block);
};

/// The blocks of an SL to VL table that has them all: of a switch a row for each of its ports.
BlockSet sl_to_vl_rows(const Node& node);

/// The port has a link, or is an enhanced port 0: smd may decide its tables, of a port with one VL too.
bool may_have_vl_tables(const Node& node, PortNum port);

/// Blocks of the VL arbitration tables of a port with several VLs, by its capacities.
BlockSet arbitration_blocks(const wire::PortInfo& info);

/// It does not begin anew: packets pass by its tables, or an enhanced port 0 has a LID.
bool vl_tables_in_use(const Node& node, PortNum port);

/// The port tells SLs apart: it has, and uses, several data VLs.
bool has_vl_tables(const Node& node, PortNum port);

/// T of each kind of port table, in the order in which they are read and written.
template <template <class> class T>
using OfEachTable =
    std::tuple<T<wire::PKeyTable>, T<wire::SlToVl>, T<wire::VlArbitration>, T<wire::GuidInfo>>;

/// Calls fn.template operator()<A>() for the attribute A of each kind.
template <class Fn>
void for_each_table(Fn&& fn) {
  using Kinds = OfEachTable<std::type_identity>;
  [&]<class... A>(std::type_identity<std::tuple<std::type_identity<A>...>>) {
    (fn.template operator()<A>(), ...);
  }(std::type_identity<Kinds>{});
}

}  // namespace smd::sm::inline sweeping
