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
#include "smd/sweep/discover.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

inline constexpr std::string_view kNewerWaits = "something newer waits";
inline constexpr std::string_view kLostOnTheWay = "lost on the way";

/// Reads `suspects` (node GUIDs of `before`) again as discover() does, then whatever their answers lead to:
/// far ends of links that came up, went down or came back, nodes that are new. The rest of `before` is
/// shared. Nodes that nothing leads to any more are gone. `tx`, `clock` and `before` outlive the coroutine.
/// Fails with kNewerWaits where `options.urgent` says so, with kLostOnTheWay under `options.restart_lost`:
/// begin again, with what has happened since. Fails, with the reason, where a part is not enough: a suspect
/// switch that answers by no way, GUIDs in two places, our own port. Then the whole fabric has to be looked
/// at.
asio::awaitable<std::expected<Subnet, std::string>> refresh(mad::Transactions* tx, mad::Clock* clock,
                                                            const Subnet* before, std::set<Guid> suspects,
                                                            DiscoverOptions options);

}  // namespace smd::sm
