// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ports do with service levels: SL to VL and VL arbitration tables, VLHighLimit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "mad/wire/tables.h"
#include "routing/routes.h"

namespace smd::sm::inline decisions {

/// Tables of many ports, nearly all alike: a port has the index of its own. One mapping counts for all ports
/// by which packets come in, or two where VLs depend on the dimension of that port (routing::VlMap).
struct QosPart {
  struct Tables {
    std::uint32_t kind = 0;          ///< index into `kinds`
    std::uint8_t vls = 1;            ///< OperationalVLs' code that the VLs are limited to
    bool maps_sls = false;           ///< the port has an SL to VL table; else all its SLs have VL 0
    std::uint8_t low = 0, high = 0;  ///< entries of its arbitration tables; 0: none is written
    std::uint8_t high_limit = 0;     ///< PortInfo.VLHighLimit
    wire::SlToVl sl_to_vl;
    wire::SlToVl turned;  ///< of packets that turn to a lower dimension; `sl_to_vl` where none do
    std::array<wire::VlArbitration, 4> arbitration{};  ///< by wire::VlArbPart less 1
    friend bool operator==(const Tables&, const Tables&) = default;
  };
  /// A class of traffic: [[qos.class]] and presets have them, in the order in which they keep VLs of their
  /// own.
  struct Class {
    Sl sl{};
    bool high = false;
    std::uint32_t share = 1;  ///< of what its priority sends, in any unit
    /// By layer of routing its SLs on the wire, a bit each; empty: `sl` alone.
    std::vector<std::uint16_t> sls{};
    friend bool operator==(const Class&, const Class&) = default;
  };
  /// What was asked for, before a port's capacities limit it.
  struct Kind {
    std::array<Vl, 16> sl_to_vl{};
    std::vector<wire::VlWeight> high, low;  ///< 64 entries each
    std::uint8_t high_limit = 0;
    std::uint8_t most_vls = 5;  ///< as OperationalVLs' code
    /// Where there are any, tables are computed from them (qos_lanes.h), and the lists above are those of a
    /// port that can all.
    std::vector<Class> classes;
    /// What the layers of routing carry, in any unit, where each has VLs of its own; empty: they share those
    /// of a class.
    std::vector<unsigned> loads;
    /// Where VL indexes depend on ports: so many, and the dimension of this port. 0: a layer has its own.
    std::uint8_t indexes = 0, dimension = routing::VlMap::kNoDimension;
    std::uint16_t dropped = 0;  ///< SLs of classes that have VL 15, a bit each
    /// The VL index of a hop that goes out by the port, by the layer of its path (see routing::VlMap).
    /// `turned`: the first hop after a turn to a lower dimension.
    std::size_t index(std::size_t layer, bool turned) const {
      if (indexes == 0) return layer;
      if (dimension == routing::VlMap::kNoDimension) return 0;
      return (layer >> dimension & 1U) | (turned && indexes == routing::VlMap::kWithTurns ? 2U : 0U);
    }
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  static constexpr std::uint16_t kNone = 0xFFFF;

  bool optimized = false;  ///< one Set for all ports of a switch, where it can
  std::vector<Kind> kinds;
  std::vector<Tables> tables;
  std::vector<std::vector<std::uint16_t>> ports;  ///< [node][port]: index into `tables`, or kNone
  std::vector<std::string> pending;  ///< members of [[qos.ports]] that no port belongs to, now, and why

  /// Null where the port has none.
  const Tables* find(std::size_t node, PortNum port) const {
    if (node >= ports.size() || port.value() >= ports[node].size()) return nullptr;
    const auto index = ports[node][port.value()];
    return index == kNone ? nullptr : &tables[index];
  }
  /// The mapping of packets from one port of a node to another. Null where `out` has none.
  const wire::SlToVl* mapping(std::size_t node, PortNum in, PortNum out) const {
    const auto* to = find(node, out);
    if (to == nullptr || !to->maps_sls) return nullptr;
    const auto* from = find(node, in);
    const auto came_by = from != nullptr ? kinds[from->kind].dimension : routing::VlMap::kNoDimension;
    const bool turns = came_by != routing::VlMap::kNoDimension && kinds[to->kind].dimension < came_by;
    return turns ? &to->turned : &to->sl_to_vl;
  }
  friend bool operator==(const QosPart&, const QosPart&) = default;
};

}  // namespace smd::sm::inline decisions
