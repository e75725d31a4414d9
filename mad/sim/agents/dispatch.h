// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which agent of a port gets a MAD that answers no request: by class, version, method and, for vendors, OUI.
// The rules are those of Linux (drivers/infiniband/core/mad.c: find_mad_agent, ib_register_mad_agent).

#include <cstdint>
#include <expected>
#include <span>

#include "mad/sim/state/client.h"

namespace smd::sim {

/// The registration is one that the kernel takes at all; else EINVAL.
bool is_valid(const Registration& registration);
/// Same class, version and vendor OUI, and at least one method in both; class 0 conflicts with none.
bool conflicts(const Registration& a, const Registration& b);
/// The MAD, which is no answer, is what the agent has registered for.
bool is_for(const Registration& registration, std::span<const std::uint8_t> mad);

/// Classes whose MADs may have several segments.
bool has_rmpp(std::uint8_t mgmt_class);
/// Where a class's data begins, which every segment of a MAD repeats all before.
std::size_t data_offset(std::uint8_t mgmt_class);

}  // namespace smd::sim
