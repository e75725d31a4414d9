// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which a plan writes.

#include <cstdint>
#include <string_view>

namespace smd::sm::inline held_tables {

/// What a round writes; also the order of rounds, with exceptions. Forwarding tables before Armed, Armed
/// before Active; but in a fabric that forwards already, links that no table leads over come up first, and a
/// switch that forwards by nothing yet gets its LinearFDBTop as soon as it has its tables. With layers of
/// paths vl_tables come before lft.
enum class Phase : std::uint8_t {
  pkeys,             ///< P_Key tables get new keys; all other Sets rest on the SM being reached
  adaptive_routing,  ///< ARInfo of NVIDIA switches; before tables, which count only where it is off
  switch_lids,       ///< PortInfo of switches' port 0
  lft,               ///< forwarding tables; several rounds where one would close a loop on the way
  mft,               ///< multicast forwarding tables; two rounds where trees change in part
  retrain,           ///< in no plan() but alone: ports to Down, so that links train within what is enabled
  switch_info,       ///< LinearFDBTop rises after the blocks below it are acknowledged
  vl_tables,         ///< SL to VL and VL arbitration, before the ports go Active
  switch_links,      ///< PortInfo of ports between switches, to Armed where they are in Init
  host_links,        ///< PortInfo of the other links, both ends
  activate_switch_links,
  activate_host_links,
  vl_weights,        ///< VL arbitration of VLs that no SL is mapped to any more
  pkeys_removed,     ///< P_Key tables lose keys
  m_keys,            ///< M_Keys of end ports; nothing is sent to them afterwards by their old key
  guid_info,         ///< in no plan() but alone: alias GUIDs
  port_orders,       ///< in no plan() but alone: ports that an operator disables, enables or resets
  client_reregister  ///< in no plan() but alone: PortInfo.ClientReregister
};
/// As in the log. Static storage.
std::string_view to_string(Phase phase);

}  // namespace smd::sm::inline held_tables
