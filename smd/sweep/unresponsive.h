// SPDX-License-Identifier: Apache-2.0
#pragma once
// GUIDs of nodes that do not answer any more.

#include <cstddef>
#include <vector>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// A node that answers nothing shows no GUID: it gets the GUID that was at that place in `before`, or that
/// `before` has for the unresponsive place. Pure.
void name_unresponsive(Subnet& subnet, const Subnet& before);

/// By place, node and reason: the order does not depend on that of the answers.
void sort_by_place(std::vector<Unresponsive>& unresponsive);

/// Ports of switches whose link is up and that lead to no node get an entry of their own where nothing says
/// why: what a sweep has not followed is asked by the next one, and until then the subnet is not up. Pure.
void tell_unfollowed(Subnet& subnet);

/// A node that is without answers, however many ports lead to it and however many questions it left open.
struct Silent {
  const Unresponsive* first = nullptr;  ///< where it was noticed first, and why
  std::size_t places = 1;               ///< ports behind which it is, questions that it did not answer
};

/// Each node once; places behind which no node is known each by themselves. Points into `subnet`.
std::vector<Silent> silent_nodes(const Subnet& subnet);

}  // namespace smd::sm::inline sweeping
