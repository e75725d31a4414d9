// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports of the SMs of this subnet, which every client has to reach: now, or after a takeover.

#include <optional>
#include <vector>

#include "config/config.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// End ports of our own SM and of the others that were seen in this run (known_sms) and are obeyed: they show
/// no other SM_Key, and [sm] allowed_guids has their port or is empty. Our own is the first. Pure.
std::vector<PeerPort> sm_ports(const Subnet& subnet, const config::SmConfig& config);

/// The switch port that an adapter's or router's port is cabled to; nothing where there is none. Pure.
std::optional<PeerPort> switch_port_of(const Subnet& subnet, const PeerPort& at);

}  // namespace smd::sm::inline decisions
