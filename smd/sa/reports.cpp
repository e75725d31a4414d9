// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/reports.h"

#include <algorithm>
#include <utility>

#include "mad/base/bug.h"
#include "mad/wire/packet.h"

namespace smd::sa {
namespace {

/// Where the transactions of reports start. Any number does: answers come to this agent only.
constexpr std::uint64_t kSeed = 0x168;
/// Of as many reports as can be under way so many are left to subscribers that answer.
constexpr std::size_t kLeftToLive = mad::kMostOpen / 4;

/// Subscribers that are remembered although nothing is under way to them: how they answered the last time.
constexpr std::size_t kRemembered = 65'536;

}  // namespace

std::chrono::milliseconds report_wait(std::uint8_t response_time) {
  constexpr std::int64_t kLeast = 1000, kMost = 10'000;
  const std::int64_t us = (std::int64_t{4096} << std::min<unsigned>(response_time, 31)) / 1000;
  return std::chrono::milliseconds(std::clamp(us / 1000, kLeast, kMost));
}

Reports::Reports(mad::Transport& gsi, mad::Clock& clock, log::Log log,
                 std::function<void(const Addressee&)> gone)
    : gsi_(gsi),
      clock_(clock),
      log_(std::move(log)),
      gone_(std::move(gone)),
      tx_({}, clock, gsi, {}, kSeed, mad::Feed::owner, mad::kMostOpen) {}

void Reports::add(ReportBatch batch) {
  if (batch.dropped_events != 0) {
    log_.warn("sa.report_dropped").kv("events", batch.dropped_events).kv("reason", "too many reports wait");
  }
  forget_idle();
  std::size_t dropped = 0;
  for (auto& report : batch.reports) {
    const auto entry = subscribers_.try_emplace(report.subscriber).first;
    auto& subscriber = entry->second;
    auto& waiting = waiting_for(subscriber);
    if (subscriber.state == Subscriber::State::silent && waiting >= kQueue) {
      ++dropped;
      continue;
    }
    ++waiting;
    subscriber.waiting.push_back(std::move(report));
    take_turn(entry);
  }
  if (dropped != 0) {
    log_.warn("sa.report_dropped").kv("reports", dropped).kv("reason", "their subscribers do not answer");
  }
  pump();
}

void Reports::answered(std::uint64_t tid) { tx_.answered(Tid{tid}); }

void Reports::on_answer(Id id) {
  const auto found = tried_.find(id);
  auto& tried = found->second;
  const auto entry = subscribers_.find(tried.subscriber);
  auto& subscriber = entry->second;
  if (std::erase(subscriber.open, id) == 0) std::erase(subscriber.again, id);  // the answer to an earlier try
  let_go(tried);
  tried_.erase(found);
  set_state(subscriber, Subscriber::State::answers);
  subscriber.window = std::min(2 * subscriber.window, kWindow);
  take_turn(entry);
  pump();
}

void Reports::stop() {
  stopped_ = true;
  if (timer_ != 0) clock_.cancel(std::exchange(timer_, 0));
}

std::size_t Reports::line_of(const Subscriber& subscriber) {
  switch (subscriber.state) {
    case Subscriber::State::answers:
      return kLive;
    case Subscriber::State::unknown:
      break;
    case Subscriber::State::silent:
      return kSilent;
  }
  return kLive + 1;
}

/// It stands in one line only, by what it was when it came.
void Reports::take_turn(Entry entry) {
  auto& subscriber = entry->second;
  if (subscriber.in_turn || !subscriber.has_more()) return;
  subscriber.in_turn = true;
  turns_[line_of(subscriber)].push_back(entry->first);
}

void Reports::pump() {
  if (stopped_) return;
  end_places();
  std::size_t line = kLive;
  while (line < turns_.size()) {
    auto& turns = turns_[line];
    if (turns.empty() || !has_room(line)) {
      ++line;
      continue;
    }
    const auto entry = subscribers_.find(turns.front());
    turns.pop_front();
    if (entry == subscribers_.end()) continue;
    auto& subscriber = entry->second;
    subscriber.in_turn = false;
    if (line_of(subscriber) == line && subscriber.has_more()) send_next(entry);
    take_turn(entry);
    line = std::min(line, line_of(subscriber));
  }
  arm();
}

/// A kernel with flow control sends few reports at once, and each is there until its answer or its time-out:
/// a quarter at most for subscribers that do not answer. What finds no room waits here, and is no try.
bool Reports::has_room(std::size_t line) const {
  if (places_[line] >= kPlaces || gsi_.room() == 0) return false;
  // Those that do not answer begin no report: they get the one again that they have not answered.
  if (line != kSilent && tx_.paced_room() <= (line == kLive ? 0 : kLeftToLive)) return false;
  return line != kSilent || held_ < std::max<std::size_t>(gsi_.places() / 4, 1);
}

bool Reports::waits() const {
  return std::ranges::any_of(turns_, [](const auto& turns) { return !turns.empty(); });
}

void Reports::send_next(Entry entry) {
  auto& subscriber = entry->second;
  auto id = Id{0};
  if (!subscriber.again.empty()) {
    id = subscriber.again.front();
    subscriber.again.pop_front();
  } else {
    id = begin_next(subscriber);
  }
  subscriber.open.push_back(id);
  auto& tried = tried_.at(id);
  tried.place = line_of(subscriber);
  ++places_[tried.place];
  tried.held = tried.place == kSilent;
  held_ += tried.held ? 1U : 0U;
  place_ends_.emplace_back(clock_.now() + kPlaceTime, id);
  transmit(id, tried);
}

/// The first report that waits, from now on a request.
Reports::Id Reports::begin_next(Subscriber& subscriber) {
  const auto& report = subscriber.waiting.front();
  const auto mad = wire::Mad::from_bytes(*report.mad);
  SMD_ASSERT(mad);  // of our own making
  const auto id = tx_.open_paced(*mad, report.to, *this);
  tried_[id] = {.subscriber = report.subscriber, .lid = report.to.lid, .wait = report.wait};
  subscriber.waiting.pop_front();
  --waiting_for(subscriber);
  return id;
}

/// One that cannot be sent counts as one that is not answered.
void Reports::transmit(Id id, Tried& tried) {
  ++tried.tries;
  if (const auto sent = tx_.try_paced(id, tried.wait, give_up_after(tried)); !sent) {
    log_.debug("sa.report_not_sent").kv("lid", tried.lid).kv("reason", sent.error().what);
  }
}

/// How long the kernel takes an answer. Where others wait for its places a subscriber that should answer at
/// once does not keep one: the next try, which has the whole time, tells a slow one from one that is gone.
std::chrono::milliseconds Reports::give_up_after(const Tried& tried) const {
  const bool few = gsi_.places() < kPlaces;
  return few && !tried.held && waits() ? std::min(kPlaceTime, tried.wait) : tried.wait;
}

void Reports::give_up_place(Tried& tried) {
  if (tried.place != kNone) --places_[std::exchange(tried.place, kNone)];
}

/// Its try is over, answered or not.
void Reports::let_go(Tried& tried) {
  give_up_place(tried);
  if (std::exchange(tried.held, false)) --held_;
}

/// Reports that are not answered yet give up their places, and their subscribers stand behind those that
/// answer; the answers are awaited as before.
void Reports::end_places() {
  const auto now = clock_.now();
  while (!place_ends_.empty() && place_ends_.front().first <= now) {
    const auto found = tried_.find(place_ends_.front().second);
    place_ends_.pop_front();
    if (found == tried_.end() || found->second.place == kNone) continue;
    give_up_place(found->second);
    auto& subscriber = subscribers_.at(found->second.subscriber);
    if (subscriber.state == Subscriber::State::answers) set_state(subscriber, Subscriber::State::unknown);
  }
}

/// The kernel's places are free again by answers, or by time-outs that are not reported to us.
void Reports::arm() {
  auto next = mad::TimePoint::max();
  if (waits()) next = place_ends_.empty() ? clock_.now() + kPlaceTime : place_ends_.front().first;
  if (timer_ != 0 && armed_ == next) return;
  if (timer_ != 0) clock_.cancel(std::exchange(timer_, 0));
  if (next == mad::TimePoint::max()) return;
  armed_ = next;
  timer_ = clock_.call_at(next, [this] {
    timer_ = 0;
    pump();
  });
}

void Reports::on_unanswered(Id id) {
  if (stopped_) return;
  auto& tried = tried_.at(id);
  const auto entry = subscribers_.find(tried.subscriber);
  auto& subscriber = entry->second;
  std::erase(subscriber.open, id);
  let_go(tried);
  if (tried.tries >= kTries) {
    end(entry, id);
    return;
  }
  set_state(subscriber, Subscriber::State::silent);
  subscriber.window = 1;
  // The first that was not answered is sent until it is decided; the others wait for that.
  if (tried.tries > 1) {
    subscriber.again.push_front(id);
  } else {
    subscriber.again.push_back(id);
  }
  take_turn(entry);
}

/// Its subscriptions end, and nothing is under way to it any more.
void Reports::end(Entry entry, Id id) {
  auto& subscriber = entry->second;
  const auto addressee = entry->first;
  log_.warn("sa.subscriber_gone")
      .kv("port_guid", addressee.port)
      .kv("lid", tried_.at(id).lid)
      .kv("qp", addressee.qp)
      .kv("reports_sent", kTries)
      .kv("action", "its subscriptions end, and its port is asked to register again")
      .subject("sa.subscriber_gone");
  auto all = subscriber.open;
  all.insert(all.end(), subscriber.again.begin(), subscriber.again.end());
  all.push_back(id);
  for (const auto each : all) {
    let_go(tried_.at(each));
    tried_.erase(each);
    tx_.drop_paced(each);
  }
  waiting_for(subscriber) -= subscriber.waiting.size();
  subscribers_.erase(entry);
  gone_(addressee);
}

void Reports::forget_idle() {
  if (subscribers_.size() < kRemembered) return;
  std::erase_if(subscribers_, [](const auto& row) { return row.second.idle(); });
}

void Reports::set_state(Subscriber& subscriber, Subscriber::State state) {
  waiting_for(subscriber) -= subscriber.waiting.size();
  subscriber.state = state;
  waiting_for(subscriber) += subscriber.waiting.size();
}

}  // namespace smd::sa
