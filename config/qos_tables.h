// SPDX-License-Identifier: Apache-2.0
#pragma once
// SL to VL and VL arbitration tables as they are written in [qos]. Values and defaults are OpenSM's (its man
// page and osm_qos.c).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/partitions_config.h"
#include "config/port_set.h"
#include "mad/base/id.h"

namespace smd::config {

/// An entry of a VL arbitration table: this VL may send 64 * weight bytes at a time.
struct ArbitrationEntry {
  Vl vl{};                  ///< 0 to 14
  std::uint8_t weight = 0;  ///< 0: the entry is skipped
  friend bool operator==(const ArbitrationEntry&, const ArbitrationEntry&) = default;
};
/// At most 64; those that are missing have no weight.
using ArbitrationList = std::vector<ArbitrationEntry>;
/// The VL of each SL; 15: packets of that SL are discarded.
using SlMap = std::array<Vl, 16>;

/// Tables of a kind of port. What is not given is taken from those of all ports, then from the defaults.
struct QosTables {
  /// SLs are mapped to so many VLs at most. OpenSM has the option, without effect.
  std::optional<std::uint8_t> max_vls{};
  std::optional<std::uint8_t> high_limit{};  ///< VLHighLimit, in 4 KiB
  std::optional<ArbitrationList> vlarb_high{}, vlarb_low{};
  std::optional<SlMap> sl2vl{};
  friend bool operator==(const QosTables&, const QosTables&) = default;
};

/// [[qos.ports]]: tables of some ports.
struct QosPorts : QosTables {
  std::vector<PortTerm> ports{};
  SourceLine line{};
  friend bool operator==(const QosPorts&, const QosPorts&) = default;
};
/// The kinds of ports that OpenSM tells apart.
enum class PortClass : std::uint8_t {
  ca,
  router,
  switch_port0,    ///< an enhanced port 0
  switch_external  ///< all other ports of switches
};
inline constexpr std::size_t kPortClasses = 4;

}  // namespace smd::config
