// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many VLs `max_vls` of [qos] leaves the links between switches. Layers share none of them, so that fewer
// VLs than layers would give paths other SLs, which connections do not follow: then the new limit waits.

#include <cstddef>

#include "smd/decide/decide.h"
#include "smd/decide/sl_part.h"

namespace smd::sm::inline decisions {

/// Layers that connections use, whose VLs a lower limit must not take: those of the tables before, else
/// (after a restart) as stored. 0 where none is in use, where clients do not ask for the SLs of paths, or
/// where the operator has asked for tables with other layers.
unsigned layers_in_use(const DecideInput& in);

/// The same of layers whose SLs further classes must not take.
unsigned layers_with_sls(const DecideInput& in);

/// The limit, for tables of so many VL indexes (0: any). Where the configured one is lower it waits, and the
/// one `before` (null: not known) stays, else as many VLs as give each class its own.
VlLimit vl_limit(const config::QosConfig& qos, const SlPart* before, unsigned layers, std::size_t classes);

}  // namespace smd::sm::inline decisions
