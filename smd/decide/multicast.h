// SPDX-License-Identifier: Apache-2.0
#pragma once
// The trees that multicast packets are to take.

#include <memory>

#include "smd/decide/decide.h"

namespace smd::sm {

/// Tables for the groups of `in.multicast` on the topology of `routes`. A tree that switches hold, or that
/// was decided on before, is kept as far as its cables are there, and grown or pruned. The part of
/// `in.previous` itself where nothing that it rests on has changed; null without a wish. Pure.
std::shared_ptr<const McPart> decide_multicast(const DecideInput& in, const RoutePart& routes);

}  // namespace smd::sm
