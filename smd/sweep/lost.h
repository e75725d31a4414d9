// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who it was that does not answer any more.

#include "smd/sweep/subnet.h"

namespace smd::sm {

/// A node that answers nothing shows no GUID: it gets the one that was at that place in `before`, or that was
/// told of it there. Pure.
void name_lost(Subnet& subnet, const Subnet& before);

}  // namespace smd::sm
