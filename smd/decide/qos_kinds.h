// SPDX-License-Identifier: Apache-2.0
#pragma once
// What [qos] asks for a kind of port, and what a port makes of it.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "config/qos_config.h"
#include "smd/decide/qos_part.h"
#include "smd/decide/sl_part.h"

namespace smd::sm::inline decisions {

/// OperationalVLs' code for so many data VLs, or the next fewer ones that there is one for; 0 for none.
std::uint8_t operational_vls_code(unsigned vls);
/// The data VLs of OperationalVLs' code; 1 where it is none.
unsigned vls_of_code(std::uint8_t code);

/// Data VLs that SLs are mapped to on links between switches at most, whatever the links have; 15 without
/// QoS.
unsigned most_vls_between_switches(const config::QosConfig& qos);

/// Tables of a kind of port: of its set where it is in one (else null), of its class, of all ports, or
/// OpenSM's defaults, each value by itself.
QosPart::Kind qos_kind(const config::QosConfig& qos, config::PortClass of, const config::QosPorts* set);

/// Without QoS: classes of low priority and equal shares.
QosPart::Kind plain_kind(std::span<const Sl> classes);

/// That of the classes of a policy, on which `qos` has the limits of VLs only.
QosPart::Kind class_kind(const config::QosConfig& qos, config::PortClass of, const config::QosPolicy& policy);

/// The same where routing has one layer and had more: SLs of those that are gone stay in their classes.
QosPart::Kind in_one_layer(QosPart::Kind kind, const SlPart& sls);

/// The same for several layers of routing: each class has the SLs of its layers, and where there are `loads`
/// a VL for each of them. Of a kind without classes those whose VL is one in its SL to VL table are one, with
/// the sum of that VL's weights; a VL that has weights in both lists is of high priority.
QosPart::Kind in_layers(QosPart::Kind kind, const SlPart& sls, std::vector<unsigned> loads);

/// What limits the tables of a port.
struct QosCapacity {
  std::uint8_t vls = 1;            ///< OperationalVLs' code, 1 to 5
  bool maps_sls = true;            ///< IsSLMappingSupported
  bool arbitrates = true;          ///< VLCap is more than VL0
  std::uint8_t low = 0, high = 0;  ///< entries of its arbitration tables
  friend auto operator<=>(const QosCapacity&, const QosCapacity&) = default;
};

/// The tables of `kind` as a port with this capacity can have them. One without an SL to VL table has all SLs
/// on VL 0. `Tables::kind` stays 0. Pure.
QosPart::Tables limited(const QosPart::Kind& kind, const QosCapacity& capacity);

}  // namespace smd::sm::inline decisions
