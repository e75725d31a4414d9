// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/ask.h"

namespace smd::mad {
namespace {

bool is_refused(const Asked<wire::PortInfo>& asked) {
  return !asked && asked.error().fault == Fault::refused && asked.error().status != wire::kStatusBusy;
}

/// Where much is lost on the way that tells nothing.
bool is_ignored(const Asked<wire::PortInfo>& asked, const Transactions& tx) {
  return !asked && asked.error().fault == Fault::timeout && !tx.lossy();
}

void set_modifier(Request& request, PortNum port, bool extended_speeds) {
  request.mad.set_modifier(wire::port_info_modifier(port, extended_speeds));
}

asio::awaitable<PortInfoAsked> ask_port_info(Transactions* tx, Request request, PortNum port,
                                             ExtendedSpeeds known) {
  const bool refuses = known == ExtendedSpeeds::refused;
  set_modifier(request, port, !refuses);
  auto first = co_await ask<wire::PortInfo>(tx, request);
  const bool once_more = known == ExtendedSpeeds::unknown && is_ignored(first, *tx);
  if (refuses || !(is_refused(first) || once_more)) co_return PortInfoAsked{std::move(first), refuses};
  set_modifier(request, port, false);
  if (once_more) request.single_try = tx->soon(request.node);
  auto second = co_await ask<wire::PortInfo>(tx, std::move(request));
  const bool learnt = second.has_value();
  co_return PortInfoAsked{std::move(second), learnt};
}

}  // namespace

asio::awaitable<PortInfoAsked> get_port_info(Transactions* tx, Target target, PortNum port,
                                             ExtendedSpeeds known) {
  auto request = get_request<wire::PortInfo>(target);
  co_return co_await ask_port_info(tx, std::move(request), port, known);
}

asio::awaitable<PortInfoAsked> set_port_info(Transactions* tx, Target target, wire::PortInfo info,
                                             PortNum port, ExtendedSpeeds known) {
  auto request = set_request(target, info);
  co_return co_await ask_port_info(tx, std::move(request), port, known);
}

}  // namespace smd::mad
