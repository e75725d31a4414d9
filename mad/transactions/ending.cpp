// SPDX-License-Identifier: Apache-2.0
// How requests end, and the coroutine's way to wait for that.
#include <utility>

#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

struct Begin {
  Transactions* transactions;
  Request request;

  void operator()(auto handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    const auto id = transactions->submit(std::move(request), std::move(handler));
    if (!slot.is_connected()) return;
    slot.assign([tx = transactions, id](asio::cancellation_type) { tx->cancel(id); });
  }
};

}  // namespace

asio::awaitable<Answer> Transactions::request(Request request) {
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    co_return std::unexpected(RequestError{.fault = Fault::closed,
                                           .mgmt_class = request.mad.mgmt_class(),
                                           .method = request.mad.method(),
                                           .attribute = request.mad.attribute(),
                                           .modifier = request.mad.modifier(),
                                           .route = request.route,
                                           .node = request.node,
                                           .error = ECANCELED});
  }
  Begin begin{this, std::move(request)};
  const auto token = asio::use_awaitable;
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(Answer)>(std::move(begin),
                                                                                       token);
}

void Transactions::end(OpenRequest& open, Ending ending, Answer answer, Deliver deliver) {
  wheel_.remove(open);
  auto& node = *open.node;
  if (open.started) {
    auto& slot = slots_[open.slot];
    slot.request = nullptr;
    slot.last_ending = ending;
    slot.last_row = open.row;
    slot.generation = (slot.generation + 1) & kGenerationMask;
    free_slots_.push(open.slot);
    leave_window(open);
    --node.open;
    --open_;
  }
  auto done = std::exchange(open.done, nullptr);
  recycle(open);
  make_ready(node);
  if (deliver == Deliver::now) {
    done(std::move(answer));
  } else {
    asio::post(executor_,
               [done = std::move(done), answer = std::move(answer)]() mutable { done(std::move(answer)); });
  }
}

RequestError Transactions::error_of(const OpenRequest& open, Fault fault) const {
  const bool asked = open.started && open.tries > 0;
  return {.fault = fault,
          .mgmt_class = open.mad.mgmt_class(),
          .method = open.mad.method(),
          .attribute = open.mad.attribute(),
          .modifier = open.mad.modifier(),
          .route = open.route,
          .node = open.guid,
          .tries = open.tries + open.rounds * kMaxTries,
          .elapsed = asked ? clock_.now() - open.started_at : Duration{},
          .node_silent = fault == Fault::timeout &&
                         (open.node == &anonymous_ || open.node->last_answer < open.started_at)};
}

void Transactions::drop_waiting(Guid node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  while (auto* open = next_of(found->second)) {
    auto error = error_of(*open, Fault::timeout);
    error.node_silent = true;
    end(*open, Ending::given_up, std::unexpected(std::move(error)), Deliver::later);
  }
}

void Transactions::forget(Guid node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  const auto& state = found->second;
  if (state.open == 0 && state.first == nullptr && !state.ready) nodes_.erase(found);
}

}  // namespace smd::mad
