// SPDX-License-Identifier: Apache-2.0
// What a standby takes from the master. It connects to every peer, and copies from the one that the fabric
// says is master.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mad/backoff.h"
#include "mad/suspend.h"
#include "smd/replica/replicator.h"
#include "smd/replica/turn_stream.h"

namespace smd::replica {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The first version of a master that takes clients of another part of the fabric.
constexpr std::uint16_t kLeavesClients = 2;
/// The first version of a master that says where it is four times a second, not once.
constexpr std::uint16_t kQuickRoles = 4;

/// Changes of fewer rows take no time that counts. A chunk of a snapshot has fewer.
constexpr std::size_t kFewRows = 2000;
/// The same of digests, which come every few seconds: the master's words wait for work on another thread.
constexpr std::size_t kFewDigests = 20'000;

/// An SM that is never copied is master for so long before what is kept is no copy any more.
constexpr mad::Duration kForeign = seconds(10);

constexpr auto* kCancelled = "cancelled";

/// Why a connection to ourselves ends, and how long until the next: a name may lead elsewhere later.
constexpr auto* kSelf = "it is this SM itself";
constexpr mad::Duration kSelfPause = seconds(60);

/// Partitions, and what the files said, by which the next master sees that they are told.
policy::PoliciesPtr partitions_of(const policy::Policies& all) {
  auto only = std::make_shared<policy::Policies>();
  only->api = all.api;
  only->accepted = all.accepted;
  return only;
}

}  // namespace

/// Connects again and again.
asio::awaitable<void> Replicator::follow(std::string peer) {
  mad::Backoff pause(milliseconds(100), seconds(5));
  std::string said;
  for (;;) {
    auto made = co_await parts_.network.connect(peer);
    std::string reason = made ? std::string() : made.error();
    if (made) {
      const std::shared_ptr<ByteStream> stream =
          std::make_shared<TurnStream>(std::move(*made), parts_.clock, kMasterSilence);
      reason = co_await receive(peer, stream);
      links_.erase(peer);
      lose_calls(peer);
      if (master_ == peer) {
        master_.clear();
        lost_at_ = parts_.clock.now();
        if (!role().master)
          parts_.log.warn("ha.replica_lost").kv("peer", peer).kv("reason", reason).subject(peer).always();
      }
      stream->close();
      pause.reset();
    }
    const bool end = co_await mad::was_cancelled();
    if (end) co_return;
    if (reason == kSelf) {
      if (std::exchange(said, reason) != reason) say_self(peer);
      const bool time = co_await parts_.clock.sleep(kSelfPause);
      if (!time) co_return;
      continue;
    }
    unlinked_.insert_or_assign(peer, reason);
    const bool is_logged = !parts_.network.failure().empty();
    if (std::exchange(said, reason) != reason && !made && !is_logged)
      parts_.log.warn("ha.peer_unreachable").kv("peer", peer).kv("reason", reason).subject(peer);
    publish();
    const bool time = co_await parts_.clock.sleep(pause.next());
    if (!time) co_return;
  }
}

void Replicator::say_self(const std::string& peer) const {
  parts_.log.warn("ha.peer_wrong")
      .kv("peer", peer)
      .kv("reason", kSelf)
      .kv("action", "closed; [ha] peers names the other SMs")
      .subject(peer);
}

/// Until the connection ends, and what it has brought is kept; returns why it has ended.
asio::awaitable<std::string> Replicator::receive(std::string peer, std::shared_ptr<ByteStream> stream) {
  const auto intake = std::make_shared<Intake>();
  tasks_.spawn(keep_all(stream, intake));
  auto reason = co_await read_all(std::move(peer), stream, intake);
  intake->ended = true;
  intake->wake.wake_all();
  bool going = true;
  while (going && !intake->kept) going = co_await intake->wake.wait();
  co_return intake->wrong.empty() ? std::move(reason) : intake->wrong;
}

asio::awaitable<std::string> Replicator::read_all(std::string peer, std::shared_ptr<ByteStream> stream,
                                                  std::shared_ptr<Intake> intake) {
  const bool sent = co_await stream->write(std::make_shared<const Bytes>(hello()));
  if (!sent) co_return "closed";
  FrameReader reader;
  bool greeted = false;
  for (;;) {
    const auto silence =
        parts_.clock.call_at(parts_.clock.now() + kMasterSilence, [stream] { stream->close(); });
    const auto bytes = co_await stream->read();
    parts_.clock.cancel(silence);
    if (bytes.empty()) co_return "closed, or silent";
    reader.add(bytes);
    bool changed = false;
    const bool ours = co_await image_.take();
    if (!ours) co_return kCancelled;
    auto wrong = co_await take_all(peer, stream, &reader, &greeted, &changed);
    image_.give();
    // What was whole before a wrong frame is kept: the stream goes on after it, where it is not begun anew.
    if (changed && receiver_->position() != Position{}) {
      intake->changed = true;
      intake->wake.wake_all();
    }
    if (!wrong.empty()) co_return wrong;
  }
}

/// Keeps what has come, while more comes: what a slow disk has made wait is kept at once.
asio::awaitable<void> Replicator::keep_all(std::shared_ptr<ByteStream> stream,
                                           std::shared_ptr<Intake> intake) {
  bool going = true;
  while (going && (intake->changed || !intake->ended)) {
    if (!std::exchange(intake->changed, false)) {
      going = co_await intake->wake.wait();
      continue;
    }
    intake->wrong = co_await keep(stream);
    going = intake->wrong.empty();
    if (!going) stream->close();  // the reader ends
  }
  intake->kept = true;
  intake->wake.wake_all();
}

/// Of many rows on another thread: that of the SM has polls to answer.
asio::awaitable<std::expected<std::optional<Frame>, std::string>> Replicator::next_frame(
    FrameReader* reader) {
  if (!reader->is_large()) co_return reader->next();
  std::expected<std::optional<Frame>, std::string> frame;
  const bool done = co_await parts_.compute.execute([&] { frame = reader->next(); });
  if (!done) co_return std::unexpected(kCancelled);
  co_return frame;
}

/// Runs `work`, by the task that has image_; where it is `long_work` on another thread, while readers of the
/// position go on. Returns why it counts as not done; empty: it is done.
asio::awaitable<std::string> Replicator::with_receiver(bool long_work,
                                                       std::move_only_function<void(Receiver&)> work) {
  if (!long_work) {
    work(*receiver_);
    co_return "";
  }
  const auto terms = terms_ended_;
  auto lent = receiver_->lend();
  const bool done = co_await parts_.compute.execute([&] { work(lent); });
  if (terms != terms_ended_) co_return "this SM was master meanwhile";
  *receiver_ = std::move(lent);
  co_return done ? "" : kCancelled;
}

/// The frames that have come as a whole. As take().
asio::awaitable<std::string> Replicator::take_all(std::string peer, std::shared_ptr<ByteStream> stream,
                                                  FrameReader* reader, bool* greeted, bool* changed) {
  for (;;) {
    auto frame = co_await next_frame(reader);
    if (!frame) co_return frame.error();
    if (!*frame) co_return "";
    if (const auto* hello = std::get_if<Hello>(&**frame)) {
      if (hello->min_reader > kVersion) {
        co_return fmt::format("{} wants a reader of version {}; this one has {}", hello->program,
                              hello->min_reader, kVersion);
      }
      const bool named = !hello->subnet.empty() && !options_.subnet.empty();
      if (named && hello->subnet != options_.subnet)
        co_return fmt::format("its subnet is {}, ours {}", hello->subnet, options_.subnet);
      *greeted = true;
      if (hello->version < kLeavesClients) left_.reset();  // it would close the connection
      links_.insert_or_assign(peer, Link{.stream = stream, .version = hello->version, .said = {}});
      unlinked_.erase(peer);
      continue;
    }
    if (!*greeted) co_return "no hello";
    auto wrong = co_await take(peer, stream, **std::move(frame), changed);
    if (!wrong.empty()) co_return wrong;
  }
}

/// Whether the fabric says that we are this SM's standby.
bool Replicator::accepts(Guid source) const {
  const auto now = role();
  return !now.master && now.follows == source;
}

/// An SM that is never copied, an OpenSM, has been master for a while: what is kept is ours again, and what
/// clients have registered since is not in it. Which SM has written to etcd last says nothing of that.
asio::awaitable<void> Replicator::leave_copy() {
  const auto now = role();
  const bool foreign = following_ && !now.master && now.follows && *now.follows != replica()->source &&
                       parts_.network.carries_calls() && is_no_peer(*now.follows);
  if (!foreign) foreign_since_.reset();
  if (foreign && !foreign_since_) foreign_since_ = parts_.clock.now();
  if (!foreign || parts_.clock.now() - *foreign_since_ < kForeign) co_return;
  foreign_since_.reset();
  following_ = not_copied_ = false;
  stale_ = left_copy_ = true;
  // The master before may go on where it was: what is committed here meanwhile is none of its states.
  auto next = std::make_shared<store::ReplicaState>(*replica());
  next->source = {};
  std::get<store::ReplicaStatePtr>(kept_) = next;
  co_await parts_.disk.commit_replica(std::move(next));
}

/// A peer says whether it is master, and what it has. The rest as take().
asio::awaitable<std::string> Replicator::take_role(std::string peer, std::shared_ptr<ByteStream> stream,
                                                   replica::Role word, bool* changed) {
  if (word.port != Guid{}) peer_ports_.insert_or_assign(peer, word.port);
  // What is in etcd may be our own.
  if (word.port != Guid{} && word.port == role().self && parts_.network.carries_calls()) co_return kSelf;
  // Two that were masters of a part each from the start have one epoch: neither has what the other commits.
  // Through etcd that word is our own. An SM without a link has no part.
  const auto now = role();
  const auto ours = journal_.latest().epoch;
  const bool same = word.latest.epoch == ours && parts_.network.carries_calls();
  const bool both = word.master && now.master && !now.alone;
  const bool refuses = both && (word.latest.epoch < ours || same);
  if (refuses) {
    if (master_ == peer) master_.clear();  // where it is our master again the stream begins anew
    const Refuse refuse{.epoch = journal_.latest().epoch, .port = role().self, .master = true};
    co_await stream->write(std::make_shared<const Bytes>(encode(refuse)));
    co_return "";
  }
  if (!word.master || !accepts(word.port)) {
    if (master_ != peer) co_return "";
    const auto next = role().follows;
    not_copied_ = not_copied_ || (next && *next != word.port);
    co_return "it is not our master any more";
  }
  heard_ = parts_.wall();
  heard_at_ = parts_.clock.now();
  heard_up_ = parts_.clock.uptime();
  if (receiver_->source() == word.port) not_copied_ = false;
  if (std::exchange(master_, peer) != peer) {
    end_term();
    if (std::exchange(left_copy_, false)) take_whole();  // with what was committed here meanwhile
    refused_ = false;
    latest_ = word.latest;  // it may be less than the master before had
    const auto link = links_.find(peer);
    const bool quick = link != links_.end() && link->second.version >= kQuickRoles;
    heard_every_ = quick ? mad::Duration(milliseconds(250)) : mad::Duration(seconds(1));
    const bool takes_clients = link != links_.end() && link->second.version >= kLeavesClients;
    if (takes_clients) co_await leave_clients(stream, word.port);
    co_await stream->write(std::make_shared<const Bytes>(encode(receiver_->resume())));
    parts_.log.info("ha.following").kv("peer", peer).kv("master", word.port).always();
  }
  if (refused_ && word.latest.epoch >= replica()->position.epoch) {
    refused_ = false;
    co_await stream->write(std::make_shared<const Bytes>(encode(receiver_->resume())));
  }
  if (word.latest.epoch >= latest_.epoch) latest_ = word.latest;
  // Our disk had it all before this process began, or our cable was out: no transaction will tell.
  if ((!following_ || strayed_) && receiver_->position() == word.latest && receiver_->source() == word.port) {
    receiver_->touch_all();
    *changed = true;
  }
  // Two SMs may have begun the same epoch, each in its part of a fabric: a position of one says nothing to
  // the other.
  const Ack ack{replica()->source == word.port ? replica()->position : Position{}};
  co_await stream->write(std::make_shared<const Bytes>(encode(ack)));
  co_return "";
}

/// `changed`: there is something to keep. Returns what is wrong; empty: nothing.
asio::awaitable<std::string> Replicator::take(std::string peer, std::shared_ptr<ByteStream> stream,
                                              Frame frame, bool* changed) {
  if (const auto* word = std::get_if<replica::Role>(&frame))
    co_return co_await take_role(std::move(peer), std::move(stream), *word, changed);
  if (auto* answer = std::get_if<CallAnswer>(&frame)) {
    answered(std::move(*answer));
    co_return "";
  }
  if (master_ != peer) co_return "";  // its stream begins when the fabric says that it is our master
  if (auto* word = std::get_if<DigestsAt>(&frame)) co_return co_await compare(std::move(*word));
  auto* const chunk = std::get_if<SnapshotChunk>(&frame);
  auto* const transaction = std::get_if<Transaction>(&frame);
  if (chunk == nullptr && transaction == nullptr) co_return "a frame that a master does not send";
  latest_ = std::max(latest_, chunk != nullptr ? chunk->of : transaction->at);
  // The last chunk ends the copy that was there before.
  const bool last = chunk != nullptr && chunk->index + 1 == chunk->count;
  const auto rows =
      last ? receiver_->rows() : row_count(chunk != nullptr ? chunk->rows : transaction->changes);
  much_taken_ = much_taken_ || rows >= kFewRows;
  std::expected<Receiver::Took, std::string> took = Receiver::Took::nothing;
  auto missed = co_await with_receiver(rows >= kFewRows, [&](Receiver& to) {
    took = chunk != nullptr ? to.take(std::move(*chunk)) : to.take(std::move(*transaction));
  });
  if (!missed.empty()) co_return missed;
  if (!took) co_return took.error();
  if (*took == Receiver::Took::changed) *changed = true;
  if (*took == Receiver::Took::refused && !std::exchange(refused_, true)) {
    const Refuse refuse{.epoch = replica()->position.epoch, .port = role().self, .master = role().master};
    co_await stream->write(std::make_shared<const Bytes>(encode(refuse)));
    parts_.log.warn("ha.lower_epoch")
        .kv("peer", peer)
        .kv("ours", refuse.epoch)
        .kv("action", "refused until it has a higher one")
        .subject(peer);
  }
  co_return "";
}

/// The fabric was split, and this SM was master of the other part: it lacks what clients have registered with
/// us since then, and the M_Keys of ports and partitions of the API that were set since. An SM that had all
/// of our state goes on with it, and knows better who has left since.
asio::awaitable<void> Replicator::leave_clients(std::shared_ptr<ByteStream> stream, Guid master) {
  const auto left = std::exchange(left_, std::nullopt);
  if (!left) co_return;
  const auto& registry = std::get<sa::RegistryPtr>(*left);
  const auto& policies = std::get<policy::PoliciesPtr>(*left);
  const auto copied = copied_by_.find(master);
  const bool in_journal =
      std::get<sa::RegistryPtr>(told_) == registry && std::get<policy::PoliciesPtr>(told_) == policies;
  const bool has_all = in_journal && copied != copied_by_.end() && copied->second.at == left_at_;
  if (has_all) co_return;
  std::shared_ptr<const Snapshot> made;
  auto only = *left;
  std::get<policy::PoliciesPtr>(only) = partitions_of(*policies);
  const bool done =
      co_await parts_.compute.execute([&] { made = make_snapshot(only, left_at_, role().self); });
  bool sent = done;
  for (std::size_t i = 0; sent && i < made->chunks.size(); ++i)
    sent = co_await stream->write(made->chunks[i]);
  if (!sent) left_ = left;
  if (sent)
    parts_.log.info("ha.clients_left").kv("master", master).kv("groups", registry->groups().size()).always();
}

/// As take().
asio::awaitable<std::string> Replicator::compare(DigestsAt word) {
  if (word.at != receiver_->position()) co_return "";
  std::vector<std::string> kinds;
  auto missed = co_await with_receiver(receiver_->rows() >= kFewDigests,
                                       [&](Receiver& ours) { kinds = ours.compare(word); });
  if (!missed.empty()) co_return missed;
  digests_ = std::move(word.digests);
  if (kinds.empty()) co_return "";
  parts_.log.error("ha.replica_differs")
      .kv("kinds", fmt::format("{}", fmt::join(kinds, ",")))
      .kv("action", "copied anew")
      .always();
  co_return "the copy differs";
}

/// What is kept, with what the receiver has taken: the kinds of `changed`, which get no rows. The error is
/// empty when cancelled.
asio::awaitable<std::expected<Kept, std::string>> Replicator::read_image(Changes* changed) {
  const auto now = kept_;
  auto base = now;
  auto& copied = std::get<sa::RegistryPtr>(base);
  const bool known = copied_ != nullptr;
  if (known) copied = copied_;
  std::get<sm::StoredPtr>(base) = copied_stored_ ? copied_stored_ : std::make_shared<const sm::Stored>();
  std::expected<Kept, std::string> made;
  const auto missed = co_await with_receiver(true, [&](Receiver& from) {
    auto rows = from.take_changed();
    for (auto& kind : rows) {
      changed->push_back({.kind = kind.kind, .changes = {}});
      // What is kept may have been changed here since it was the master's: all rows are read.
      if (!known) kind.changes.clear();
    }
    made = state_of(from.image(), rows, base);
  });
  copied_ = nullptr;
  auto copied_stored = std::exchange(copied_stored_, nullptr);
  if (!missed.empty()) co_return std::unexpected(missed == kCancelled ? std::string() : missed);
  if (!made) co_return made;
  auto& registry = std::get<sa::RegistryPtr>(*made);
  const bool read = registry != copied;
  if (known || read) copied_ = registry;
  if (!read) registry = std::get<sa::RegistryPtr>(now);
  auto& stored = std::get<sm::StoredPtr>(*made);
  const bool stored_read = stored != std::get<sm::StoredPtr>(base);
  copied_stored_ = stored_read ? stored : std::move(copied_stored);
  if (!stored_read) stored = std::get<sm::StoredPtr>(now);
  co_return made;
}

/// What the receiver has taken comes into force at once, then to the disk, and is acknowledged.
asio::awaitable<std::string> Replicator::keep(std::shared_ptr<ByteStream> stream) {
  const bool ours = co_await image_.take();
  if (!ours) co_return kCancelled;
  const auto at = receiver_->position();
  const auto source = receiver_->source();
  Changes changed;
  auto now = co_await read_image(&changed);
  image_.give();
  if (!now || !accepts(source)) {  // we may be master by now
    receiver_->touch_again(changed);
    if (!now && now.error().empty()) co_return kCancelled;
    receiver_->forget();
    co_return now ? "it is not our master any more" : now.error();
  }
  kept_ = *std::move(now);
  auto& replica = std::get<store::ReplicaStatePtr>(kept_);
  auto placed = std::make_shared<store::ReplicaState>(*replica);
  placed->position = at;
  placed->source = source;
  replica = std::move(placed);
  following_ = true;
  not_copied_ = strayed_ = false;
  ++replaced_;
  if (parts_.replaced) parts_.replaced();
  co_await parts_.disk.commit_all(kept_);
  if (std::exchange(much_taken_, false)) spare_.give_back_soon();
  publish();
  finish_calls();
  // Where it cannot be sent the stream ends by itself: what the master has said before that is kept, too.
  co_await stream->write(std::make_shared<const Bytes>(encode(Ack{at})));
  co_return "";
}

}  // namespace smd::replica
