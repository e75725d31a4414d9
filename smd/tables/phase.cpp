// SPDX-License-Identifier: Apache-2.0
#include "smd/tables/phase.h"

namespace smd::sm::inline held_tables {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::pkeys:
      return "pkeys";
    case Phase::adaptive_routing:
      return "adaptive_routing";
    case Phase::switch_lids:
      return "switch_lids";
    case Phase::lft:
      return "lft";
    case Phase::mft:
      return "mft";
    case Phase::retrain:
      return "retrain";
    case Phase::switch_info:
      return "switch_info";
    case Phase::vl_tables:
      return "vl_tables";
    case Phase::switch_links:
      return "switch_links";
    case Phase::host_links:
      return "host_links";
    case Phase::activate_switch_links:
      return "activate_switch_links";
    case Phase::activate_host_links:
      return "activate_host_links";
    case Phase::vl_weights:
      return "vl_weights";
    case Phase::pkeys_removed:
      return "pkeys_removed";
    case Phase::m_keys:
      return "m_keys";
    case Phase::guid_info:
      return "guid_info";
    case Phase::port_orders:
      return "port_orders";
    case Phase::client_reregister:
      return "client_reregister";
  }
  return "unknown";
}

}  // namespace smd::sm::inline held_tables
