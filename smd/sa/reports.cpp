// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/reports.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "mad/wire/mad.h"

namespace smd::sa {
namespace {

/// The kernel puts a number of its own into the upper half of a request's transaction.
constexpr std::uint64_t kOurs = 0xFFFFFFFF;

}  // namespace

std::chrono::milliseconds report_wait(std::uint8_t response_time) {
  constexpr std::int64_t kLeast = 1000, kMost = 10'000;
  const std::int64_t us = (std::int64_t{4096} << std::min<unsigned>(response_time, 31)) / 1000;
  return std::chrono::milliseconds(std::clamp(us / 1000, kLeast, kMost));
}

Reports::Reports(asio::any_io_executor executor, mad::Transport& gsi, mad::Clock& clock, log::Log log,
                 std::function<void(const Addressee&)> gone)
    : gsi_(gsi), clock_(clock), log_(std::move(log)), gone_(std::move(gone)), tasks_(std::move(executor)) {
  tasks_.spawn(resend());
}

void Reports::add(ReportBatch batch) {
  if (batch.dropped_events != 0) {
    log_.warn("sa.report_dropped").kv("events", batch.dropped_events).kv("reason", "too many reports wait");
  }
  std::ranges::move(batch.reports, std::back_inserter(queue_));
  pump();
}

void Reports::answered(std::uint64_t tid) {
  if (open_.erase(static_cast<std::uint32_t>(tid & kOurs)) != 0) pump();
}

void Reports::pump() {
  while (open_.size() < kOpen && !queue_.empty()) {
    auto report = std::move(queue_.front());
    queue_.pop_front();
    send({.report = std::move(report), .tid = next_tid_++});
  }
}

/// Again under the same number: an answer to any of them is one.
void Reports::send(Open open) {
  auto bytes = *open.report.mad;
  auto header = wire::decode<wire::MadHeader>(bytes);
  header->tid = Tid{open.tid};
  wire::encode(*header, bytes);
  ++open.tries;
  const auto wait = open.report.wait;
  open.until = clock_.now() + wait;
  // One that cannot be sent counts as one that nobody answers.
  if (const auto sent = gsi_.send(bytes, open.report.to, wait); !sent) {
    log_.debug("sa.report_not_sent").kv("lid", open.report.to.lid).kv("reason", sent.error().what);
  }
  const auto tid = open.tid;
  open_.insert_or_assign(tid, std::move(open));
  wake_.wake_all();
}

asio::awaitable<void> Reports::resend() {
  for (;;) {
    if (open_.empty()) {
      const bool woken = co_await wake_.wait();
      if (!woken) co_return;
      continue;
    }
    const auto first = std::ranges::min_element(open_, {}, [](const auto& row) { return row.second.until; });
    const bool time = co_await clock_.until(first->second.until);
    if (!time) co_return;
    std::vector<Open> due;
    std::erase_if(open_, [&](auto& row) {
      if (row.second.until > clock_.now()) return false;
      due.push_back(std::move(row.second));
      return true;
    });
    for (auto& one : due) {
      if (one.tries < kTries) {
        send(std::move(one));
        continue;
      }
      log_.warn("sa.subscriber_gone")
          .kv("port_guid", one.report.subscriber.port)
          .kv("lid", one.report.to.lid)
          .kv("qp", one.report.subscriber.qp)
          .kv("reports_sent", kTries)
          .kv("action", "its subscriptions end")
          .subject("sa.subscriber_gone");
      const auto subscriber = one.report.subscriber;
      std::erase_if(queue_, [&](const Report& report) { return report.subscriber == subscriber; });
      gone_(subscriber);
    }
    pump();
  }
}

}  // namespace smd::sa
