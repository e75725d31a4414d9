// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two parts of a fabric, each with its master and its clients, are one again.

#include "smd/sa/registry/write.h"

namespace smd::sa {

/// Adds what clients have registered with the SM that was master of the other part. What both have is as
/// here. A group that only the other has keeps its multicast LID where that is free. Subscriptions and
/// services of ports that are gone end with the next refresh().
void unite(Writing& writing, const Registry& other);

}  // namespace smd::sa
