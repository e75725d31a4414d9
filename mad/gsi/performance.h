// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed requests of performance management: get_performance(tx, to, PortCounters{.port = 3}).

#include "mad/transactions/ask.h"
#include "mad/wire/performance.h"

namespace smd::mad {

/// For Dispatcher::add: smd sends requests of this class and answers none.
inline ClassRegistration performance_class() { return {.mgmt_class = wire::MgmtClass::perf}; }

/// An agent by LID (qp 1, qkey kQp1QKey). `node`: as of Request, 0 where it is not known. `life`: as of
/// Request.
struct PerformanceTarget {
  LidRoute route{};
  Guid node{};
  Duration life{};
};

/// The request as bytes; for Transactions::submit where a coroutine would be too much.
template <wire::Layout A>
Request performance_request(wire::Method method, const PerformanceTarget& target, const A& value) {
  static_assert(A::kBytes <= wire::kPerformanceBytes);
  Request request{.mad = wire::Mad(wire::MgmtClass::perf, 1, method, A::kAttribute),
                  .route = target.route,
                  .node = target.node,
                  .life = target.life};
  request.mad.put(value);
  return request;
}

/// What the agent has of the port that `which` selects (PortSelect). `tx` is over the end of the class and
/// outlives the coroutine. Fault::refused with wire::kStatusBadField: no such port.
template <wire::Layout A>
asio::awaitable<Asked<A>> get_performance(Transactions& tx, const PerformanceTarget& target, const A& which) {
  return ask<A>(&tx, performance_request(wire::Method::get, target, which));
}
/// Writes the counters that `value` selects; what the GetResp holds.
template <wire::Layout A>
asio::awaitable<Asked<A>> set_performance(Transactions& tx, const PerformanceTarget& target, const A& value) {
  return ask<A>(&tx, performance_request(wire::Method::set, target, value));
}

}  // namespace smd::mad
