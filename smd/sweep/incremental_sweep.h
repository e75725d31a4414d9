// SPDX-License-Identifier: Apache-2.0
#pragma once
// An incremental sweep: the part of the fabric that an event touched is read again, and what depends on it.

#include <expected>
#include <set>
#include <string>
#include <string_view>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/heavy_sweep.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

inline constexpr std::string_view kNewerWaits = "something newer waits";
inline constexpr std::string_view kLostOnTheWay = "lost on the way";

/// Reads `suspects` (node GUIDs of `before`) again as heavy_sweep() does, then far ends of links that changed
/// and new nodes; the rest of `before` is shared. Fails with kNewerWaits or kLostOnTheWay (begin again), or
/// with the reason why the whole fabric has to be read: a suspect switch does not answer, GUIDs in two
/// places, our own port. `tx`, `clock` and `before` outlive the coroutine.
asio::awaitable<std::expected<Subnet, std::string>> incremental_sweep(mad::Transactions* tx,
                                                                      mad::Clock* clock, const Subnet* before,
                                                                      std::set<Guid> suspects,
                                                                      SweepOptions options);

}  // namespace smd::sm::inline sweeping
