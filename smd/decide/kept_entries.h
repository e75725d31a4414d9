// SPDX-License-Identifier: Apache-2.0
#pragma once
// Forwarding entries that switches do not keep: the tables are decided so that these entries stay.

#include <memory>
#include <vector>

#include "routing/parallel.h"
#include "smd/decide/decided.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// What switches hold where they have not kept what was written, ascending. Pure.
std::vector<KeptEntry> kept_entries(const Subnet& subnet);

/// `part` with these entries as they are, so that they are not planned again. Of their LIDs other switches
/// send by none of those switches where there is another way; what arrives already stays as it is. Verified
/// as it stands, whatever that finds: what a switch holds cannot be chosen. The same pointer where nothing
/// changes. Pure.
std::shared_ptr<const RoutePart> with_kept_entries(const std::shared_ptr<const RoutePart>& part,
                                                   std::vector<KeptEntry> kept,
                                                   const routing::Parallel& parallel);

}  // namespace smd::sm::inline decisions
