// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mad/base/id.h"

namespace smd::wire {

/// The VL that carries no data: packets whose SL is mapped to it are dropped (IBA: VL 15 is for SMPs).
inline constexpr Vl kDropVl{15};

}  // namespace smd::wire
