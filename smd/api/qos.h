// SPDX-License-Identifier: Apache-2.0
#pragma once
// What becomes of each SL in use, as answers of the API have it.

#include <string>

#include "smd/api/backend.h"
#include "smd/report/qos_explanation.h"

namespace smd::api {

/// As it is decided, with the SLs of multicast groups. Says that QoS is off before the first sweep.
sm::QosExplanation qos_of(const SubnetView& view);
/// The same of another decision for the fabric of `view`, which has a snapshot. `partitions` may be null;
/// `refused`: why the files' QoS policy is not in force.
sm::QosExplanation qos_of(const SubnetView& view, const sm::Decided& decided,
                          const config::PartitionPolicy* partitions, std::string refused);

}  // namespace smd::api
