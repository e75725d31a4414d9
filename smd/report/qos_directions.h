// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rules and protocols of a QoS policy that hold for one direction.

#include <string>
#include <vector>

#include "config/qos_policy.h"

namespace smd::sm::inline reports {

/// A line for each rule, and each protocol, with a source or a destination whose way back has another SL:
/// requests and responses ride different SLs then, and a request for a reversible path (rdma_cm's) finds
/// none. Compares what is written, not ports. None for classes, whose rules hold for both directions.
std::vector<std::string> one_way_rules(const config::QosPolicy& policy);

}  // namespace smd::sm::inline reports
