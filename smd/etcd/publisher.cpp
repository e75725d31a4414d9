// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/publisher.h"

#include <algorithm>
#include <utility>

#include "smd/etcd/left.h"

namespace smd::etcd {
namespace {

using std::chrono::seconds;

constexpr mad::Duration kRenewMaster = std::chrono::milliseconds(1500), kClaimAgain = seconds(1),
                        kRefuseAgain = seconds(10);
/// Bytes that wait for etcd.
constexpr std::size_t kQueue = std::size_t{4} << 20U;
/// What a snapshot comes with: the head, its digests, and what it makes superfluous.
constexpr std::size_t kBesideRows = 8;
/// The log is replaced by a snapshot when it is longer: the master keeps 32 MB of it and makes a new snapshot
/// only then.
constexpr std::size_t kLog = std::size_t{40} << 20U;

bool outbids(const Term& other, const Term& mine) {
  return other.epoch > mine.epoch || (other.epoch == mine.epoch && other.port != mine.port);
}

std::string_view view_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

asio::awaitable<void> Publisher::run(std::shared_ptr<Publisher> /*self*/) {
  // Of the first version: it takes no calls.
  say(replica::encode(
      replica::Hello{.version = 1, .min_reader = 1, .subnet = parts_.subnet, .port = {}, .program = "etcd"}));
  for (bool going = true; going && !closed();) {
    auto done = co_await step();
    going = done && *done;
    if (!done && !closed()) parts_.failed(done.error());
  }
  close();
}

void Publisher::close() {
  Agent::close();
  for (const auto& client : {client_, asking_, watching_}) {
    if (client) client->close();
  }
  wake_.wake_all();
  queue_room_.wake_all();
}

/// What is due, or the wait for something. False when cancelled.
Answered<bool> Publisher::step() {
  const auto now = parts_.clock.now();
  if (!role_.master && lease_ != 0) co_return co_await resign();
  if (wants_claim() && now >= claim_due_) co_return co_await claim();
  if (lease_ != 0 && now >= renew_due_) co_return co_await renew();
  if (claimed() && left_due_) co_return co_await take_left();
  if (claimed() && (!queue_.empty() || digests_due())) co_return co_await flush();
  co_return co_await wait();
}

Answered<bool> Publisher::wait() {
  const auto now = parts_.clock.now();
  auto until = now + kRefuseAgain;
  if (wants_claim()) until = std::min(until, claim_due_);
  if (lease_ != 0) until = std::min(until, renew_due_);
  const auto timer = parts_.clock.call_at(until, [this] { wake_.wake_all(); });
  const bool woken = co_await wake_.wait();
  parts_.clock.cancel(timer);
  co_return woken;
}

/// Puts our epoch into etcd, which ends the writing of all others.
Answered<bool> Publisher::claim() {
  const Term mine{.epoch = role_.latest.epoch, .port = role_.port};
  const auto span = parts_.layout.live();
  const auto answer = co_await client_->range({.key = span.key, .end = span.end});
  if (!answer) co_return std::unexpected(answer.error());
  const auto live = live_of(*answer, parts_.layout);
  if (!live.holder_text.empty() && !live.holder)
    co_return std::unexpected(
        Error{.kind = ErrorKind::refused, .text = parts_.layout.epoch() + " is not of smd"});
  term_ = {};
  if (live.holder && outbids(*live.holder, mine)) {
    contest(live, mine);
    co_return true;
  }
  if (lease_ == 0) {
    const auto lease = co_await client_->grant(kLease);
    if (!lease) co_return std::unexpected(lease.error());
    lease_ = *lease;
    renew_due_ = parts_.clock.now() + kRenewMaster;
  }
  const Transaction word{.guards = {{.key = parts_.layout.epoch(),
                                     .value = live.holder_text,
                                     .absent = live.holder_text.empty()}},
                         .puts = {{.key = parts_.layout.epoch(), .value = to_text(mine)},
                                  {.key = parts_.layout.alive(), .value = to_text(mine), .lease = lease_}}};
  const auto done = co_await client_->transact(word);
  if (!done) co_return std::unexpected(done.error());
  if (!done->done) co_return true;  // another one was quicker: once more
  term_ = mine;
  contested_ = {};
  queue_.clear();
  queued_ = log_bytes_ = 0;
  staging_ = {};
  digests_.reset();
  const bool ours = live.head && live.head->latest.epoch == mine.epoch && live.head->source == mine.port &&
                    live.head->min_reader <= kLayout;
  head_ = ours ? *live.head : Head{.source = mine.port};
  tail_ = head_.latest;
  ask_from(head_.latest);
  queue_room_.wake_all();
  co_return true;
}

/// Another SM has written under an epoch that is not below ours. One that still writes is master of another
/// part of the fabric; one that has ended is only to be outbid, but may be seen as writing until its lease
/// ends.
void Publisher::contest(const Live& live, const Term& mine) {
  const auto now = parts_.clock.now();
  claim_due_ = now + kClaimAgain;
  if (std::exchange(contested_, *live.holder) != *live.holder) {
    contested_since_ = now;
    told_.reset();
  }
  const bool writes = live.alive && live.alive->port != mine.port;
  if (writes && now - contested_since_ < kLease + seconds(1)) return;
  if (told_ == writes && now - told_at_ < kRefuseAgain) return;
  told_ = writes;
  told_at_ = now;
  const auto port = writes ? live.alive->port : Guid{};
  say(replica::encode(replica::Refuse{.epoch = live.holder->epoch, .port = port, .master = writes}));
}

Answered<bool> Publisher::resign() {
  const auto done = co_await client_->revoke(std::exchange(lease_, 0));
  // One that has ended by itself is as good.
  if (!done && done.error().kind == ErrorKind::unreachable) co_return std::unexpected(done.error());
  term_ = {};
  queue_.clear();
  queued_ = 0;
  queue_room_.wake_all();
  co_return true;
}

Answered<bool> Publisher::renew() {
  const auto lives = co_await client_->renew(lease_);
  if (!lives) co_return std::unexpected(lives.error());
  renew_due_ = parts_.clock.now() + kRenewMaster;
  if (*lives) co_return true;
  lease_ = 0;  // etcd was away for longer: our word is given again, under the same epoch
  term_ = {};
  co_return true;
}

bool Publisher::digests_due() const { return digests_ && digests_at_ == head_.latest && queue_.empty(); }

Publisher::Batch Publisher::next_batch() const {
  Batch batch{.transaction = {.guards = {{.key = parts_.layout.epoch(), .value = to_text(term_)}}},
              .head = head_};
  auto& puts = batch.transaction.puts;
  for (const auto& item : queue_) {
    const bool fits =
        puts.size() + kBesideRows < kMostOperations && batch.bytes + item.row.value.size() <= kBatch;
    const bool alone = item.ends == Item::Ends::snapshot;  // what it erases may be in this very batch
    if (batch.items > 0 && (!fits || alone)) break;
    puts.push_back({.key = item.row.key, .value = item.row.value});
    ++batch.items;
    batch.bytes += item.row.value.size();
    if (item.chunks == 0) batch.log_bytes += item.row.value.size();
    if (item.ends != Item::Ends::nothing) batch.head.latest = std::max(batch.head.latest, item.at);
    if (!alone) continue;
    batch.has_snapshot = true;
    batch.head.snapshot = item.at;
    batch.head.chunks = item.chunks;
    for (const auto& span : parts_.layout.before(item.at))
      batch.transaction.erases.push_back({.key = span.key, .end = span.end});
    break;
  }
  if (batch.head != head_) puts.push_back({.key = parts_.layout.head(), .value = to_text(batch.head)});
  batch.has_digests = digests_due();
  if (batch.has_digests)
    puts.push_back({.key = parts_.layout.digests(), .value = std::string(view_of(*digests_))});
  return batch;
}

Answered<bool> Publisher::flush() {
  const auto batch = next_batch();
  const auto term = term_;
  const auto done = co_await client_->transact(batch.transaction);
  if (!done) co_return std::unexpected(done.error());
  if (!done->done) {
    term_ = {};
    claim_due_ = {};
  } else if (term_ == term) {
    written(batch);
  }
  co_return true;
}

void Publisher::written(const Batch& batch) {
  const bool news = head_ != batch.head;
  head_ = batch.head;
  for (std::size_t i = 0; i < batch.items; ++i) queue_.pop_front();
  queued_ -= batch.bytes;
  log_bytes_ = batch.has_snapshot ? 0 : log_bytes_ + batch.log_bytes;
  if (batch.has_digests) digests_.reset();
  queue_room_.wake_all();
  parts_.works();
  if (log_bytes_ > kLog) {
    log_bytes_ = 0;
    ask_from({});
  } else if (news) {
    acknowledge();
  }
}

/// Asks the master for its stream; what is in etcd counts as on our disk.
void Publisher::ask_from(const Position& have) {
  say(replica::encode(replica::Resume{.have = have, .source = term_.port}));
  acknowledge();
}

void Publisher::acknowledge() { say(replica::encode(replica::Ack{head_.latest})); }

asio::awaitable<bool> Publisher::take(BytesPtr frame) {
  while (!closed() && queued_ > kQueue) {
    const bool woken = co_await queue_room_.wait();
    if (!woken) co_return false;
  }
  if (closed()) co_return false;
  const auto opened = open_frame(*frame);
  if (opened.kind != Opened::Kind::other) {
    accept(opened, std::move(frame));
  } else {
    replica::FrameReader reader;
    reader.add(*frame);
    const auto read = reader.next();
    if (read && *read) hear(**read);
  }
  wake_.wake_all();
  co_return true;
}

void Publisher::hear(const replica::Frame& frame) {
  const auto* word = std::get_if<replica::Role>(&frame);
  if (word == nullptr) return;
  role_ = *word;
  say(replica::encode(replica::Ack{claimed() ? head_.latest : Position{}}));
}

void Publisher::accept(const Opened& opened, BytesPtr frame) {
  // The frames of a new epoch may come before the master's word of it.
  if (role_.master && opened.at.epoch > role_.latest.epoch) role_.latest = opened.at;
  if (!claimed() || opened.at.epoch != term_.epoch) return;
  if (opened.kind == Opened::Kind::digests) {
    digests_ = opened.at == digests_at_ ? nullptr : std::move(frame);
    digests_at_ = opened.at;
    return;
  }
  if (opened.kind == Opened::Kind::chunk) return accept_chunk(opened, *frame);
  // What comes before our question for the stream is answered, or again, is not the next one.
  const bool next = tail_.epoch == opened.at.epoch && opened.at.number == tail_.number + 1;
  if (!next) return;
  tail_ = opened.at;
  add_rows(parts_.layout.log_rows(opened.at, view_of(*frame)),
           {.row = {}, .ends = Item::Ends::transaction, .at = opened.at});
}

void Publisher::accept_chunk(const Opened& opened, const Bytes& frame) {
  if (opened.index == 0) staging_ = {.of = opened.at, .next = 0};
  const bool next = staging_.of == opened.at && staging_.next == opened.index;
  if (!next || opened.at == head_.snapshot) return;
  ++staging_.next;
  const bool last = staging_.next == opened.count;
  add_rows(parts_.layout.chunk_rows(opened.at, opened.index, view_of(frame)),
           {.row = {},
            .ends = last ? Item::Ends::snapshot : Item::Ends::nothing,
            .at = opened.at,
            .chunks = opened.count});
  if (last) tail_ = std::max(tail_, opened.at);
}

void Publisher::add_rows(std::vector<Row> rows, const Item& last) {
  for (auto& row : rows) {
    queued_ += row.value.size();
    queue_.push_back(
        {.row = std::move(row), .ends = Item::Ends::nothing, .at = last.at, .chunks = last.chunks});
  }
  queue_.back().ends = last.ends;
}

/// Tells the master what SMs of other parts of the fabric have left, and takes it out of etcd.
Answered<bool> Publisher::take_left() {
  left_due_ = false;
  const auto span = parts_.layout.standbys();
  const auto marks = co_await client_->range({.key = span.key, .end = span.end});
  if (!marks) co_return std::unexpected(marks.error());
  for (const auto& mark : marks->rows) {
    const auto port = parts_.layout.left_mark_of(mark.key);
    if (!port) continue;
    auto frames = co_await read_left(client_, parts_.layout, *port, number_of(mark.value).value_or(0));
    if (!frames) co_return std::unexpected(frames.error());
    for (auto& frame : *frames) {
      say(std::move(frame));
      const bool room_left = co_await room();
      if (!room_left) co_return false;
    }
    const auto done = co_await client_->transact(erasure_of_left(parts_.layout, *port, to_text(term_)));
    if (!done) co_return std::unexpected(done.error());
  }
  co_return true;
}

asio::awaitable<void> Publisher::watch_standbys(std::shared_ptr<Publisher> /*self*/) {
  while (!closed()) {
    asking_ = parts_.clients.make();
    watching_ = parts_.clients.make();
    watched_ = false;
    auto going = co_await read_standbys();
    while (going && !closed()) {
      const auto news = co_await watching_->changed();
      if (!news) break;
      if (*news != 0) going = co_await read_standbys();
    }
    const bool time = co_await parts_.clock.sleep(seconds(1));
    if (!time) co_return;
  }
}

/// The watch begins with the first reading.
Answered<bool> Publisher::read_standbys() {
  const auto span = parts_.layout.standbys();
  const auto answer = co_await asking_->range({.key = span.key, .end = span.end});
  if (!answer) co_return std::unexpected(answer.error());
  std::vector<replica::StandbyCopy> copies;
  for (const auto& row : answer->rows) {
    const auto port = parts_.layout.standby_of(row.key);
    const auto at = position_of(row.value);
    if (port && at && *port != role_.port) copies.push_back({.port = *port, .at = *at});
    if (parts_.layout.left_mark_of(row.key)) left_due_ = true;
  }
  if (left_due_) wake_.wake_all();
  if (std::exchange(copies_, copies) != copies) acknowledge();
  if (std::exchange(watched_, true)) co_return true;
  co_return co_await watching_->watch(span.key, span.end, answer->revision + 1);
}

}  // namespace smd::etcd
