// SPDX-License-Identifier: Apache-2.0
// How requests end, and the coroutine's way to wait for that.
#include <utility>

#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

Unanswered::Question question_of(const OpenRequest& open) {
  return {operation_of(open.mad), open.mad.modifier(), open.route};
}

bool has_own_time(const OpenRequest& open) {
  return open.single_try != Duration::zero() || open.life != Duration::zero();
}

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
  forget_postponed(open);
  auto& node = *open.node;
  if (open.started) {
    free_slot(open, ending);
    leave_window(open);
    --node.open;
    count_open(open_ - 1);
  }
  if (open.held && ending == Ending::answered && !held_.empty()) held_.pop_back();
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

void Transactions::end_refused(OpenRequest& open, std::uint16_t status,
                               std::shared_ptr<const wire::Mad> answer) {
  auto& row = table_[open.row];
  ++row.answered;
  ++row.refused;
  auto error = error_of(open, Fault::refused);
  error.status = status;
  error.answer = std::move(answer);
  end(open, Ending::answered, std::unexpected(std::move(error)), Deliver::now);
}

/// No try was answered. Who says nothing at all may be another node when it speaks again.
void Transactions::end_unanswered(OpenRequest& open) {
  ++table_[open.row].unanswered;
  auto error = error_of(open, Fault::timeout);
  auto& node = *open.node;
  const bool counts = !has_own_time(open) && !losses_.heavy();
  if (&node == &anonymous_) {
    slow_places_.erase(open.place);
    if (counts) unanswered_.failed(open.place);
  } else {
    const auto question = question_of(open);
    const bool whole = node.last_heard(question.operation) < open.started_at;
    if (counts)
      unanswered_.failed(open.guid, question, {error.tries, error.elapsed}, error.node_silent, whole);
    if (error.node_silent && counts) {
      node.answer_time = {};
      node.slow = false;
    }
  }
  end(open, Ending::given_up, std::unexpected(std::move(error)), Deliver::now);
}

/// What the node has left unanswered in this round is not sent to it again: true where that is so.
bool Transactions::refuse_again(OpenRequest& open) {
  if (has_own_time(open)) return false;
  const auto before = unanswered_.find(open.guid, open.place, question_of(open));
  if (!before) return false;
  auto error = error_of(open, Fault::timeout);
  error.tries = before->tries;
  error.elapsed = before->elapsed;
  error.node_silent = before->tries == 0;
  end(open, Ending::given_up, std::unexpected(std::move(error)), Deliver::later);
  return true;
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
