// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/settings.h"

#include <chrono>

#include "config/qos_classes.h"

namespace smd::sm::inline decisions {

SettingsPart decide_settings(const config::SubnetConfig& config) {
  return {.gid_prefix = config.sm.subnet_prefix,
          .subnet_timeout = config.links.subnet_timeout,
          .master_sm_sl = config::master_sm_sl(config),
          .life_time_value = config.links.packet_lifetime,
          .local_phy_errors = config.links.local_phy_errors_threshold,
          .overrun_errors = config.links.overrun_errors_threshold,
          .ends_adaptive_routing = config.adopt.adaptive_routing == config::AdoptAdaptive::disable,
          .m_keys = m_key_settings(config)};
}

MKeySettings m_key_settings(const config::SubnetConfig& config) {
  const auto& keys = config.keys;
  const auto lease = std::chrono::ceil<std::chrono::seconds>(keys.m_key_lease).count();
  return {.secret = keys.m_key,
          .per_port = keys.m_key_per_port,
          .level = keys.m_key_level,
          .lease = static_cast<std::uint16_t>(lease),
          .former_secret = keys.former_m_key,
          .former_per_port = keys.former_per_port};
}

}  // namespace smd::sm::inline decisions
