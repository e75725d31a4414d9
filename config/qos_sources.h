// SPDX-License-Identifier: Apache-2.0
#pragma once
// The QoS policy of a configuration: of OpenSM's file, or of the blocks of smd.toml.

#include <string>

#include "config/config.h"
#include "config/qos_policy.h"

namespace smd::config {

/// The policy in force, whether QoS is enabled or not; empty where none is given. Messages name the file that
/// `subnet` was read from.
QosPolicy qos_policy_of(const SubnetConfig& subnet);

/// What is wrong between the policy and the rest of a configuration, and what it overrides unexpectedly.
/// `toml_file` names the configuration in messages.
QosNotes check_qos(const SubnetConfig& subnet, const std::string& toml_file);

}  // namespace smd::config
