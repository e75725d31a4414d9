// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed questions: get<PortInfo>(…) and set<PortInfo>(…) return the attribute that the answer holds.

#include <cstdint>
#include <expected>
#include <utility>

#include "mad/transactions/extended_speeds.h"
#include "mad/transactions/transactions.h"
#include "mad/wire/codec.h"
#include "mad/wire/modifier.h"
#include "mad/wire/port_info.h"
#include "mad/wire/smp.h"

namespace smd::mad {

/// The node that a request is for, and the route to it.
struct Target {
  Route route{};
  Guid node{};              ///< 0: not known yet
  std::uint64_t m_key = 0;  ///< of the node's port; 0: none
  Duration life{};          ///< of the Request
};

template <class T>
using Asked = std::expected<T, RequestError>;

/// An SMP as a request; for Transactions::submit where a coroutine would be too much.
inline Request request_of(wire::Method method, std::uint16_t attribute, std::uint32_t modifier,
                          const Target& target) {
  Request request{.mad = wire::Mad(wire::MgmtClass::sm_lid, 1, method, attribute, modifier),
                  .route = target.route,
                  .node = target.node,
                  .life = target.life};
  wire::Smp::write_m_key(request.mad, target.m_key);
  return request;
}
/// A Get of this attribute as a request; `modifier` as mad/wire/modifier.h builds it.
template <wire::Layout A>
Request get_request(const Target& target, std::uint32_t modifier = 0) {
  return request_of(wire::Method::get, A::kAttribute, modifier, target);
}
/// A Set of this attribute with `value`; bytes behind A::kBytes are 0.
template <wire::Layout A>
Request set_request(const Target& target, const A& value, std::uint32_t modifier = 0) {
  auto request = request_of(wire::Method::set, A::kAttribute, modifier, target);
  request.mad.put(value);
  return request;
}

/// Sends the request; the attribute of its answer, or why there is none. `tx` outlives the coroutine.
template <wire::Layout A>
asio::awaitable<Asked<A>> ask(Transactions* tx, Request request) {
  const auto answer = co_await tx->request(std::move(request));
  if (!answer) co_return std::unexpected(answer.error());
  co_return answer->template get<A>();
}
/// The attribute in the GetResp, or why there is none. `tx` outlives the coroutine.
template <wire::Layout A>
asio::awaitable<Asked<A>> get(Transactions& tx, const Target& target, std::uint32_t modifier = 0) {
  return ask<A>(&tx, get_request<A>(target, modifier));
}
/// One try, which is waited for so long (more than 0), however often and long other requests are tried.
template <wire::Layout A>
asio::awaitable<Asked<A>> get_once(Transactions& tx, const Target& target, Duration wait) {
  auto request = get_request<A>(target);
  request.single_try = wait;
  return ask<A>(&tx, std::move(request));
}
/// What the GetResp holds: what the node has now, which may not be `value`.
template <wire::Layout A>
asio::awaitable<Asked<A>> set(Transactions& tx, const Target& target, const A& value,
                              std::uint32_t modifier = 0) {
  return ask<A>(&tx, set_request(target, value, modifier));
}

/// PortInfo, and whether the node refuses bit 31. The caller keeps `refuses` for the node and gives it back
/// with the next question.
struct PortInfoAsked {
  Asked<wire::PortInfo> info;
  bool refuses = false;
};

/// Asks with bit 31; where that is refused, with any status but BUSY, once without. The same, with one try,
/// where a node of which nothing is known does not answer it.
asio::awaitable<PortInfoAsked> get_port_info(Transactions* tx, Target target, PortNum port,
                                             ExtendedSpeeds known);
/// Sets in the same way. A refusal may also mean the values: `refuses` is only learnt from a Set without
/// bit 31 that is accepted.
asio::awaitable<PortInfoAsked> set_port_info(Transactions* tx, Target target, wire::PortInfo info,
                                             PortNum port, ExtendedSpeeds known);

}  // namespace smd::mad
