// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adaptive routing that another SM has left on in switches of NVIDIA: they forward past their tables.

#include <set>
#include <vector>

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// The Subnet with ARInfo of those switches of NVIDIA that forward and were not asked since their restart,
/// with `anew` of all. Those that have said that they lack it, by `before` (may be null) too, are left out
/// until they restart. A question is not waited for longer than Transactions::soon(), and without an answer
/// nothing is known: that is no fault of the switch. `tx` and `before` outlive the coroutine.
asio::awaitable<Subnet> hold_adaptive(mad::Transactions* tx, Subnet subnet, const Subnet* before, bool anew);

/// The Subnet with ARInfo of these nodes (indexes) read once more; without an answer a node stays as it was
/// known.
asio::awaitable<Subnet> read_adaptive_again(mad::Transactions* tx, Subnet subnet,
                                            std::vector<std::size_t> nodes);

/// Switches that route adaptively, ascending.
std::set<Guid> adaptive_switches(const Subnet& subnet);

}  // namespace smd::sm::inline sweeping
