// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/settings.h"

namespace smd::sm::inline decisions {

SettingsPart decide_settings(const config::SubnetConfig& config) {
  return {.gid_prefix = config.sm.subnet_prefix,
          .subnet_timeout = config.links.subnet_timeout,
          .master_sm_sl = Sl{0},
          .life_time_value = config.links.packet_lifetime,
          .local_phy_errors = config.links.local_phy_errors_threshold,
          .overrun_errors = config.links.overrun_errors_threshold,
          .ends_adaptive_routing = config.adopt.adaptive_routing == config::AdoptAdaptive::disable};
}

}  // namespace smd::sm::inline decisions
