// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration without the policy that its files have wrong: the one that was accepted last is in force.

#include <string>

#include "config/config.h"

namespace smd::config {

/// Levels, rules, protocols and classes are gone; `why`: QosConfig::refused.
void forget_qos_policy(QosConfig& qos, std::string why);
/// Partitions and groups are gone; `why`: PartitionsConfig::refused.
void forget_partitions(SubnetConfig& subnet, std::string why);

}  // namespace smd::config
