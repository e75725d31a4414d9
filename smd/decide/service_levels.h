// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which SLs classes have in the layers of routing, from one decision to the next.

#include <optional>
#include <vector>

#include "config/partitions.h"
#include "config/qos_policy.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// SLs that the SM, partitions and the policy ask for, each a class of traffic. First that of paths for which
/// nothing asks for another, then as [[qos.class]] has them, else ascending. `policy` null: QoS is off, and
/// all paths have class 0. `partitions` may be null.
std::vector<Sl> classes_in_use(Sl sm_sl, const config::QosPolicy* policy,
                               const config::PartitionPolicy* partitions);

/// While QoS is off: class 0, and where the layers of `routes` (may be null) are bits, as torus-2QoS has
/// them, 8 as OpenSM's second level.
std::vector<Sl> classes_without_qos(const RoutePart* routes);

/// Layers for which there are SLs, beside so many classes; at least 1.
unsigned most_layers(std::size_t classes);

struct ServiceLevelsInput {
  std::vector<Sl> classes;
  const RoutePart* routes = nullptr;  ///< null: none are decided
  const WireSls& kept;                ///< an SL that a class has in a layer stays its own
  unsigned own_layers = 1;            ///< with which each class has VLs of its own now
};

/// As many layers as routes have, and further ones by which classes keep VLs of their own: a repair may need
/// them. Pure.
SlPart decide_service_levels(const ServiceLevelsInput& in);

/// What the layers carry, in sixteenths and at least one each: by the number of pairs of switches that had
/// them at first, so that repairs change no weight. 0 for those after the last one that a pair has or had.
std::vector<unsigned> layer_loads(const Stored& stored, const RoutePart& routes, unsigned layers);

}  // namespace smd::sm::inline decisions
