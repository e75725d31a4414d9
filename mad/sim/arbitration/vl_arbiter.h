// SPDX-License-Identifier: Apache-2.0
#pragma once
// VL arbitration of one port. Rules: InfiniBand Architecture 7.6.9, as OpenSM's documentation of QoS and its
// option file name and describe it.

#include <cstdint>
#include <optional>
#include <vector>

#include "mad/wire/tables.h"

namespace smd::sim {

/// Bit n is VL n.
using VlSet = std::uint16_t;
/// The set of this VL alone.
constexpr VlSet vl_bit(Vl vl) { return static_cast<VlSet>(1U << (vl.value() & 15U)); }

/// Weights and credits are counted in blocks of 64 bytes, a begun block as a whole one.
constexpr std::uint32_t blocks_of(std::uint32_t bytes) { return (bytes + 63U) / 64U; }

/// What a port holds: the two tables and PortInfo.VLHighLimit.
struct VlArbitrationTables {
  std::vector<wire::VlWeight> high, low;
  std::uint8_t high_limit = 0;  ///< 4 KB each; 0: one packet, 255: no limit
  bool written = false;         ///< since the last reset
  friend bool operator==(const VlArbitrationTables&, const VlArbitrationTables&) = default;
};

/// The arbiter of one output port. Entries with weight 0, of VL15, and of VLs that the port has not, are
/// skipped. A VL without any other entry is never served. Where no entry has a weight and the tables were not
/// written, and where there is one VL, all VLs have turns of one packet.
class VlArbiter {
 public:
  /// `vls`: data VLs in operation, from VL0 on.
  VlArbiter(const VlArbitrationTables& tables, unsigned vls);

  /// The VL that sends the next packet, of those that have a packet and credits for it. Nothing: none of them
  /// is served. What is returned is sent: sent() follows.
  std::optional<Vl> next(VlSet ready);
  /// Bytes of the packet, headers included, that the last next() has let through.
  void sent(std::uint32_t bytes);
  /// VLs that some entry serves.
  VlSet served() const { return static_cast<VlSet>(high_.served | low_.served); }

 private:
  /// Weighted round robin. An entry keeps its turn until its weight is used up or its VL has nothing to send;
  /// the last packet of a turn may be larger than what is left of the weight. Neither debt nor rest is kept.
  struct Table {
    std::vector<wire::VlWeight> entries;  ///< only those that serve
    VlSet served = 0;
    std::size_t at = 0;
    std::int64_t left = 0;  ///< of the weight of the entry `at`

    Table(const std::vector<wire::VlWeight>& from, unsigned vls);
    /// One of `ready` is served.
    Vl turn(VlSet ready);
  };
  bool high_may_go() const;

  Table high_, low_;
  std::uint8_t high_limit_;
  std::uint64_t high_sent_ = 0;  ///< bytes since low had its last opportunity
  bool any_high_sent_ = false;
  bool last_high_ = false;  ///< the last next() took its turn from the high table
};

}  // namespace smd::sim
