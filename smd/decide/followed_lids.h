// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports that get other LIDs, or more of them: the paths to their new LIDs may be those to the LIDs before.

#include <memory>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"
#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// `rows`, by switch, in which each LID that is new at its port has the entries of one that the port had by
/// `stored`. Empty where there is no such LID. Pure.
std::vector<std::shared_ptr<const routing::LftRow>> with_followed_lids(
    std::span<const std::shared_ptr<const routing::LftRow>> rows, const routing::Topology& topology,
    const routing::LidMap& lids, const Stored& stored);

}  // namespace smd::sm::inline decisions
