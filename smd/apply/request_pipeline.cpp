// SPDX-License-Identifier: Apache-2.0
#include "smd/apply/request_pipeline.h"

#include <chrono>
#include <utility>

#include "smd/sweep/not_sent.h"

namespace smd::sm::inline applying {
namespace {

/// Without any answer for so long nodes are not just busy.
constexpr auto kPatience = std::chrono::milliseconds(50);

}  // namespace

void RequestPipeline::begin(std::size_t slot, Job&& job) {
  ++open_;
  auto& place = slots_[slot];
  place.job = std::move(job);
  place.id =
      tx_.submit(place.job->request, [this, slot](mad::Answer answer) { ended(slot, std::move(answer)); });
}

bool RequestPipeline::fill(std::size_t slot) {
  if (stopping_ || held_) return false;
  auto job = source_();
  if (!job) return false;
  begin(slot, std::move(*job));
  return true;
}

void RequestPipeline::ended(std::size_t slot, mad::Answer answer) {
  --open_;
  ++ended_;
  auto job = std::exchange(slots_[slot].job, std::nullopt);
  slots_[slot].id = 0;
  // Nothing but a hold drops what this has not given up itself.
  held_ = held_ || (!answer && was_dropped(answer.error()) && !stopping_ && !gave_up_);
  auto next = job->done(std::move(answer));
  if (next && !stopping_ && !held_) {
    begin(slot, std::move(*next));
  } else {
    fill(slot);
  }
  if (open_ == 0) done_.wake_all();
}

void RequestPipeline::give_up() {
  gave_up_ = true;
  for (const auto& slot : slots_) {
    if (slot.id != 0) tx_.cancel(slot.id);
  }
}

asio::awaitable<bool> RequestPipeline::run(Source source) {
  source_ = std::move(source);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!fill(slot)) break;
  }
  while (open_ != 0) {
    const auto ended = ended_;
    mad::Clock::TimerId timer = 0;
    if (urgent_) timer = clock_.call_at(clock_.now() + kPatience, [this] { done_.wake_all(); });
    const bool woken = co_await done_.wait();
    if (urgent_) clock_.cancel(timer);
    if (woken && ended == ended_ && urgent_ && urgent_()) give_up();
    if (woken || stopping_) continue;
    stopping_ = true;
    give_up();
    // Closed requests still deliver their ends; they are ours until then. A cancelled coroutine cannot wait
    // on a list any more, so it takes turns with the event loop.
    while (open_ != 0) co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  }
  co_return !stopping_;
}

}  // namespace smd::sm::inline applying
