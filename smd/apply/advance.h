// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Subnet after writing: a GetResp to a Set is a read.

#include "smd/apply/applied.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline applying {

/// Pure. What was acknowledged is known; what failed is unknown, so that it is planned again. Nodes that
/// were not written to are the same pointers. Fields that came back other than Set are noted as not kept.
Subnet advance(const Subnet& before, const Decided& decided, const Applied& applied);

}  // namespace smd::sm::inline applying
