// SPDX-License-Identifier: Apache-2.0
#include "mad/gate.h"

namespace smd::mad {

asio::awaitable<std::optional<Gate::Permit>> Gate::enter() {
  if (free_ > 0) {  // no one waits then: leave() hands a place on before it counts it as free
    --free_;
    co_return std::optional<Permit>(std::in_place, *this);
  }
  const bool woken = co_await waiting_.wait();
  if (!woken) co_return std::nullopt;
  co_return std::optional<Permit>(std::in_place, *this);
}

void Gate::leave() {
  if (!waiting_.wake_one()) ++free_;
}

}  // namespace smd::mad
