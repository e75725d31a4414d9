// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr mad::Duration kLookEvery = seconds(1), kTellAgain = seconds(5), kRenewStandby = seconds(3);
/// A standby that has not renewed for so long does not show any more.
constexpr seconds kStandbyLease{10};
/// Rows of one answer: few, so that the loop of the subnet is not kept busy. Those of the log are small.
constexpr std::int64_t kChunkRows = 4, kLogRows = 32;
/// Snapshots that were gone before they were read.
constexpr unsigned kPatience = 10;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

asio::awaitable<void> Follower::run(std::shared_ptr<Follower> /*self*/) {
  // Of the second version: it takes no calls, but what clients had registered with us.
  say(replica::encode(
      replica::Hello{.version = 2, .min_reader = 1, .subnet = parts_.subnet, .port = {}, .program = "etcd"}));
  for (bool going = true; going && !closed();) {
    const auto done = co_await step();
    going = done && *done;
  }
  close();
}

void Follower::close() {
  Agent::close();
  for (const auto& client : {client_, watching_}) {
    if (client) client->close();
  }
  if (leaving_) leaving_->close();
  wake_.wake_all();
}

/// What is due, or the wait for something. False when cancelled.
Answered<bool> Follower::step() {
  const auto now = parts_.clock.now();
  if (look_ || now >= look_due_) co_return co_await look();
  if (refused_) co_return co_await fence();
  const bool renews = lease_ != 0 && now >= renew_due_;
  if ((acked_ != told_ || renews) && now >= tell_due_) co_return co_await tell();
  auto until = look_due_;
  if (acked_ != told_) until = std::min(until, tell_due_);
  if (lease_ != 0) until = std::min(until, std::max(renew_due_, tell_due_));
  const auto timer = parts_.clock.call_at(until, [this] { wake_.wake_all(); });
  const bool woken = co_await wake_.wait();
  parts_.clock.cancel(timer);
  co_return woken;
}

Answered<bool> Follower::look() {
  look_ = false;
  look_due_ = parts_.clock.now() + kLookEvery;
  const auto span = parts_.layout.live();
  const auto answer = co_await client_->range({.key = span.key, .end = span.end});
  if (!answer) co_return std::unexpected(answer.error());
  revision_ = answer->revision;
  const auto live = live_of(*answer, parts_.layout);
  say_role(live);
  if (!asks() || !live.written()) co_return true;
  if (live.head->min_reader > kLayout)
    co_return std::unexpected(Error{.kind = ErrorKind::refused, .text = "written by a newer smd"});
  const auto done = co_await catch_up(live);
  if (!done && done.error().kind == ErrorKind::compacted && ++again_ < kPatience) {
    look_ = true;
    co_return true;
  }
  if (done && *done) again_ = 0;
  co_return done;
}

/// Once a second, and where it is another than before.
void Follower::say_role(const Live& live) {
  const auto holder = live.holder.value_or(Term{});
  const replica::Role word{.master = live.holder && live.alive == live.holder,
                           .port = holder.port,
                           .latest = live.written() ? live.head->latest : Position{holder.epoch, 0}};
  const auto now = parts_.clock.now();
  if (word == said_ && now < role_due_) return;
  said_ = word;
  role_due_ = now + kLookEvery - milliseconds(100);
  say(replica::encode(word));
}

/// Gives what the standby does not have.
Answered<bool> Follower::catch_up(Live live) {
  const auto& head = *live.head;
  const bool same = given_source_ == head.source && given_.epoch == head.latest.epoch &&
                    given_.number >= head.snapshot.number && given_.number <= head.latest.number;
  if (!same) {
    const bool in_part = asked_->snapshot == head.snapshot && asked_->chunk < head.chunks;
    const auto from = in_part ? asked_->chunk : 0;
    asked_->snapshot = {};
    const auto done = co_await give(parts_.layout.snapshot(head.snapshot, from),
                                    {.revision = live.revision, .limit = kChunkRows}, from, head.chunks);
    if (!done || !*done) co_return done;
    given_ = head.snapshot;
    given_source_ = head.source;
  }
  if (given_.number < head.latest.number) {
    const auto from = given_.number + 1, before = head.latest.number + 1;
    const auto done = co_await give(parts_.layout.log(given_.epoch, from, before),
                                    {.revision = live.revision, .limit = kLogRows}, from, before);
    if (!done || !*done) co_return done;
    given_ = head.latest;
  }
  const auto digests = bytes_of(live.digests);
  const auto opened = open_frame(digests);
  const bool fits = opened.kind == Opened::Kind::digests && opened.at == given_;
  if (fits && std::exchange(last_digests_, live.digests) != live.digests) say(digests);
  co_return true;
}

/// Frames of the keys of `span`, which are to be those of these numbers. False where we have ended.
Answered<bool> Follower::give(Span span, RangeAsk ask, std::uint64_t from, std::uint64_t before) {
  ask.key = std::move(span.key);
  ask.end = std::move(span.end);
  Joiner joiner(from);
  for (bool more = true; more;) {
    const auto answer = co_await client_->range(ask);
    if (!answer) co_return std::unexpected(answer.error());
    for (const auto& row : answer->rows) {
      const auto frame = joiner.add(row);
      if (!frame) co_return std::unexpected(Error{.kind = ErrorKind::refused, .text = frame.error()});
      if (*frame) say(bytes_of(**frame));
    }
    more = answer->more && !answer->rows.empty();
    if (more) ask.key = answer->rows.back().key + '\0';
    const bool room_left = co_await room();
    if (!room_left) co_return false;
  }
  if (!joiner.between() || joiner.next() != before)
    co_return std::unexpected(
        Error{.kind = ErrorKind::refused,
              .text = fmt::format("{} of {} frames are missing", before - joiner.next(), before - from)});
  co_return true;
}

/// The master's epoch is lower than that of the standby's copy: it is to begin a higher one.
Answered<bool> Follower::fence() {
  const auto refuse = *std::exchange(refused_, std::nullopt);
  const auto span = parts_.layout.live();
  const auto answer = co_await client_->range({.key = span.key, .end = span.end});
  if (!answer) co_return std::unexpected(answer.error());
  const auto live = live_of(*answer, parts_.layout);
  if (!live.holder || live.holder->epoch >= refuse.epoch) co_return true;
  const Term term{.epoch = refuse.epoch, .port = refuse.port};
  const auto done =
      co_await client_->transact({.guards = {{.key = parts_.layout.epoch(), .value = live.holder_text}},
                                  .puts = {{.key = parts_.layout.epoch(), .value = to_text(term)}}});
  if (!done) co_return std::unexpected(done.error());
  co_return true;
}

/// What we have, for the master's status and for its HANDOVER. That it cannot be written is the master's
/// failure, too, and no reason not to read.
Answered<bool> Follower::tell() {
  const auto self = parts_.self();
  tell_due_ = parts_.clock.now() + kTellAgain;
  if (self == Guid{}) co_return true;
  if (lease_ != 0 && parts_.clock.now() >= renew_due_) {
    renew_due_ = parts_.clock.now() + kRenewStandby;
    const auto lives = co_await client_->renew(lease_);
    if (!lives) co_return std::unexpected(lives.error());
    if (!*lives) {
      lease_ = 0;
      told_ = {};
    }
  }
  if (lease_ == 0) {
    const auto lease = co_await client_->grant(kStandbyLease);
    if (!lease && lease.error().kind == ErrorKind::unreachable) co_return std::unexpected(lease.error());
    if (!lease) co_return true;
    lease_ = *lease;
    renew_due_ = parts_.clock.now() + kRenewStandby;
  }
  const auto word = acked_;
  if (word != told_) {
    const auto done = co_await client_->transact(
        {.guards = {},
         .puts = {{.key = parts_.layout.standby(self), .value = to_text(word), .lease = lease_}}});
    if (!done && done.error().kind == ErrorKind::unreachable) co_return std::unexpected(done.error());
    if (!done) co_return true;
    told_ = word;
  }
  tell_due_ = {};
  co_return true;
}

/// Returns when it is in etcd: until then the standby keeps it, for another try.
asio::awaitable<bool> Follower::leave(BytesPtr frame) {
  const auto opened = open_frame(*frame);
  if (opened.index == 0)
    leaving_ = std::make_shared<LeftWriter>(parts_.layout, opened.source, parts_.clients.make());
  const auto writer = leaving_;
  if (!writer) co_return false;
  const auto done = co_await writer->add(std::move(frame), opened);
  if (opened.index + 1 == opened.count) leaving_.reset();
  if (!done) close();
  co_return done.has_value();
}

asio::awaitable<bool> Follower::take(BytesPtr frame) {
  if (closed()) co_return false;
  if (open_frame(*frame).kind == Opened::Kind::chunk) co_return co_await leave(std::move(frame));
  replica::FrameReader reader;
  reader.add(*frame);
  const auto read = reader.next();
  if (!read || !*read) co_return false;
  if (const auto* resume = std::get_if<replica::Resume>(&**read)) {
    asked_ = *resume;
    given_ = resume->have;
    given_source_ = resume->source;
    last_digests_.clear();
    look_ = true;
  } else if (const auto* ack = std::get_if<replica::Ack>(&**read)) {
    acked_ = ack->at;
  } else if (const auto* refuse = std::get_if<replica::Refuse>(&**read)) {
    asked_.reset();
    if (!refuse->master) refused_ = *refuse;
  }
  wake_.wake_all();
  co_return true;
}

asio::awaitable<void> Follower::watch(std::shared_ptr<Follower> /*self*/) {
  const auto span = parts_.layout.live();
  while (!closed() && revision_ == 0) {
    const bool time = co_await parts_.clock.sleep(milliseconds(100));
    if (!time) co_return;
  }
  while (!closed()) {
    watching_ = parts_.clients.make();
    // What came before the watch has begun is seen by the look that follows.
    auto going = co_await watching_->watch(span.key, span.end, revision_ + 1);
    while (going && !closed()) {
      const auto news = co_await watching_->changed();
      if (!news) break;
      if (*news <= revision_) continue;
      look_ = true;
      wake_.wake_all();
    }
    const bool time = co_await parts_.clock.sleep(seconds(1));
    if (!time) co_return;
  }
}

}  // namespace smd::etcd
