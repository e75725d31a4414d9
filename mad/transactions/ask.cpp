// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/ask.h"

namespace smd::mad {
namespace {

bool invalid_field(const Asked<wire::PortInfo>& asked) {
  return !asked && asked.error().fault == Fault::refused && asked.error().status == wire::kStatusBadField;
}

void set_modifier(Request& request, PortNum port, bool extended_speeds) {
  request.mad.set_modifier(wire::port_info_modifier(port, extended_speeds));
}

asio::awaitable<PortInfoAsked> ask_port_info(Transactions* tx, Request request, PortNum port, bool refuses) {
  set_modifier(request, port, !refuses);
  auto first = co_await ask<wire::PortInfo>(tx, request);
  if (refuses || !invalid_field(first)) co_return PortInfoAsked{std::move(first), refuses};
  set_modifier(request, port, false);
  auto second = co_await ask<wire::PortInfo>(tx, std::move(request));
  const bool learnt = second.has_value();
  co_return PortInfoAsked{std::move(second), learnt};
}

}  // namespace

asio::awaitable<PortInfoAsked> get_port_info(Transactions* tx, Target target, PortNum port, bool refuses) {
  auto request = get_request<wire::PortInfo>(target);
  co_return co_await ask_port_info(tx, std::move(request), port, refuses);
}

asio::awaitable<PortInfoAsked> set_port_info(Transactions* tx, Target target, wire::PortInfo info,
                                             PortNum port, bool refuses) {
  auto request = set_request(target, info);
  co_return co_await ask_port_info(tx, std::move(request), port, refuses);
}

}  // namespace smd::mad
