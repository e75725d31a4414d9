// SPDX-License-Identifier: Apache-2.0
#pragma once
// The QoS policy of a configuration: of OpenSM's file, or of the blocks of smd.toml.

#include <string>

#include "config/config.h"
#include "config/qos_policy.h"

namespace smd::config {

/// The policy in force, whether QoS is enabled or not; empty where none is given. `toml_file` names the
/// configuration in messages.
QosPolicy qos_policy_of(const SubnetConfig& subnet, const std::string& toml_file);

/// What is wrong between the policy and the rest of a configuration, and what it overrides unexpectedly.
QosNotes check_qos(const SubnetConfig& subnet, const std::string& toml_file);

}  // namespace smd::config
