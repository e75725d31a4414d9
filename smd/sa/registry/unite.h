// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two parts of a fabric, each with its master and its clients, are one again.

#include "smd/sa/registry/write.h"

namespace smd::sa {

/// Takes over what clients have registered with the SM that was master of the other part, and members and
/// services that they have ended there. `common` is what both had when the fabric was cut (empty: not known,
/// then nothing ends): what has changed since then here is as here. A group that only the other has keeps its
/// multicast LID where that is free. Subscriptions and services of ports that are gone end with the next
/// refresh().
void unite(Writing& writing, const Registry& other, const Registry& common);

}  // namespace smd::sa
