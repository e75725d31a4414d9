// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the configuration says for all ports and switches alike.

#include "config/config.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// [sm], [links] and [adopt] as far as Sets carry them. Pure.
SettingsPart decide_settings(const config::SubnetConfig& config);
/// [keys] as far as it is about M_Keys. Pure.
MKeySettings m_key_settings(const config::SubnetConfig& config);

}  // namespace smd::sm::inline decisions
