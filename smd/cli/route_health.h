// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cabling of a Subnet, examined.

#include "routing/cabling/health.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::cli {

/// Faults of the cabling (routing::check_cabling), and what differs. Nodes are named by their description; by
/// description and GUID where several have it.
routing::Health examine(const sm::Subnet& subnet, const sm::RoutePart& routes);

}  // namespace smd::cli
