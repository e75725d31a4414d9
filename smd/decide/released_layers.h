// SPDX-License-Identifier: Apache-2.0
#pragma once
// An SL lives as long as the connections that use it can: layers of pairs of switches of which one was away
// for long need not come back ([routing] sl_keep).

#include <chrono>
#include <cstddef>

#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// Takes out of Stored::layers_home switches that have pairs which are to come back to another layer, and all
/// of whose links to CAs and routers (where it never had any: all of whose links) are lost for longer than
/// `keep` before `now`: their pairs have the layers in force from the next decision on. Switches that do not
/// belong to the fabric any more lose all of their layers. The number of such switches. O(switches squared).
std::size_t release_layers(Stored& stored, std::chrono::seconds keep, UnixTime now);

}  // namespace smd::sm::inline decisions
