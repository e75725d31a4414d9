// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which steps links are taken down so that they come up anew.

#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm {

/// Of the ports whose links must come up anew those that go down now: the farthest from our own port, because
/// what is behind a link cannot be reached meanwhile, and of each switch one link to another switch, because
/// there may be a way round it. The nearer end takes it down, which can still answer. Links of hosts go with
/// those of their distance, our own last and alone.
std::vector<PortItem> next_to_retrain(const Subnet& subnet, const std::vector<PortItem>& all);

}  // namespace smd::sm
