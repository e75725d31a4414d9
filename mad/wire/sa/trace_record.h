// SPDX-License-Identifier: Apache-2.0
#pragma once
// TraceRecord: one node on the way of a packet. Layout: Wireshark's dissector of InfiniBand (TraceRecord).

#include <cstdint>
#include <string_view>
#include <tuple>

#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/wire/codec.h"

namespace smd::wire {

struct TraceRecord {
  static constexpr std::uint16_t kRecord = 0x0039;
  static constexpr std::string_view kName = "TraceRecord";
  static constexpr std::size_t kBytes = 46, kRecordBytes = 48;
  std::uint64_t gid_prefix = 0;
  std::uint16_t generation = 0;  ///< of the IDs below: ours are GUIDs, which do not change
  NodeType node_type{};
  Guid node{};     ///< NodeID
  Guid chassis{};  ///< ChassisID: the SystemImageGUID
  Guid entry{}, exit{};
  PortNum entry_port{}, exit_port{};  ///< 0 where the way begins, and where it ends

  /// Rows of the byte layout: Wireshark's dissector of InfiniBand (TraceRecord).
  static constexpr auto fields() {
    using T = TraceRecord;
    return std::tuple{field("GIDPrefix", &T::gid_prefix, 0, 64, Style::hex),
                      field("IDGeneration", &T::generation, 64, 16),
                      field("NodeType", &T::node_type, 88, 8),
                      field("NodeID", &T::node, 96, 64),
                      field("ChassisID", &T::chassis, 160, 64),
                      field("EntryPortID", &T::entry, 224, 64),
                      field("ExitPortID", &T::exit, 288, 64),
                      field("EntryPort", &T::entry_port, 352, 8),
                      field("ExitPort", &T::exit_port, 360, 8)};
  }
  friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};
static_assert(well_formed<TraceRecord>());

}  // namespace smd::wire
