// SPDX-License-Identifier: Apache-2.0
// What a master gives to standbys that have connected to it. Each end has its own pace.
#include <algorithm>
#include <utility>

#include "mad/suspend.h"
#include "smd/replica/replicator.h"

namespace smd::replica {
namespace {

using std::chrono::seconds;

/// A standby says something at least once a second.
constexpr mad::Duration kRoleEvery = std::chrono::milliseconds(250), kSilence = seconds(10),
                        kDigestsEvery = seconds(10);

/// "127.0.0.1:40112: reason" without the port, which is another one each time.
std::string without_port(const std::string& text) {
  const auto end = text.find(": ");
  const auto colon = end != std::string::npos ? text.rfind(':', end - 1) : std::string::npos;
  return colon != std::string::npos ? text.substr(0, colon) + text.substr(end) : text;
}

}  // namespace

asio::awaitable<void> Replicator::accept() {
  std::string said;
  for (;;) {
    auto stream = co_await parts_.network.accept();
    const bool cancelled = co_await mad::was_cancelled();
    if (cancelled) co_return;
    if (!stream) {
      const auto what = without_port(stream.error());
      turned_away_ = {.what = what, .at = parts_.clock.now()};
      if (std::exchange(said, what) != what)
        parts_.log.warn("ha.peer_refused").kv("reason", stream.error()).subject(what);
      const bool time = co_await parts_.clock.sleep(std::chrono::milliseconds(100));
      if (!time) co_return;
      continue;
    }
    auto end = std::make_shared<Outgoing>(
        Outgoing{.stream = std::move(*stream), .sender = Sender(journal_), .peer = {}});
    end->since = parts_.clock.now();
    outgoing_.push_back(end);
    tasks_.spawn(serve(end));
    tasks_.spawn(give(std::move(end)));
  }
}

/// Reads what the standby says, until the connection ends.
asio::awaitable<void> Replicator::serve(std::shared_ptr<Outgoing> end) {
  FrameReader reader;
  std::string reason;
  while (reason.empty()) {
    const auto silence = parts_.clock.call_at(parts_.clock.now() + kSilence, [end] { end->stream->close(); });
    const auto bytes = co_await end->stream->read();
    parts_.clock.cancel(silence);
    if (bytes.empty()) break;
    reader.add(bytes);
    for (;;) {
      auto frame = reader.next();
      if (!frame) reason = frame.error();
      if (!frame || !*frame) break;
      const auto* call = std::get_if<Call>(&**frame);
      const bool good = call != nullptr ? take_call(end, *call) : hear(*end, **frame);
      if (!good) reason = "not a standby of this subnet with a version that we know";
    }
  }
  if (!reason.empty()) {
    parts_.log.warn("ha.peer_wrong")
        .kv("peer", end->stream->peer())
        .kv("reason", reason)
        .kv("action", "closed")
        .subject(end->stream->peer());
  }
  const bool is_sm = end->peer.port != Guid{};  // else the network says itself what is wrong with it
  if (journal_.active() && is_sm && copied_by_.contains(end->peer.port) && !tasks_.stopping()) {
    parts_.log.warn("ha.standby_lost")
        .kv("guid", end->peer.port)
        .kv("peer", end->stream->peer())
        .kv("reason", reason.empty() ? "closed, or silent" : reason)
        .kv("action", "it can still take over, but lacks all later changes")
        .always();
  }
  end->gone = true;
  end->stream->close();
  end->wake.wake_all();
  outgoing_.remove(end);
}

/// False: it is to be closed.
bool Replicator::hear(Outgoing& end, const Frame& frame) {
  if (const auto* hello = std::get_if<Hello>(&frame)) {
    end.peer = *hello;
    end.greeted = true;
    if (hello->port != Guid{}) copiers_.insert(hello->port);
    const bool named = !hello->subnet.empty() && !options_.subnet.empty();
    return hello->min_reader <= kVersion && hello->version >= kMinReader &&
           (!named || hello->subnet == options_.subnet);
  }
  if (!end.greeted) return false;
  if (const auto* resume = std::get_if<Resume>(&frame)) {
    end.sender.resume(*resume);
    end.wake.wake_all();
  } else if (const auto* ack = std::get_if<Ack>(&frame)) {
    if (!end.sender.acknowledged(ack->at)) return true;
    note_copied(end.peer.port, ack->at);
    if (end.sender.is_current()) lost_sync(false);
    acked_.wake_all();
  } else if (const auto* refuse = std::get_if<Refuse>(&frame)) {
    end.sender.refused();
    const bool news = refuse->epoch > later_epoch_;
    later_epoch_ = std::max(later_epoch_, refuse->epoch);
    // The epoch may be known from the time when that SM was master of another part of the fabric.
    const bool is_standby = !refuse->master && refuse->epoch >= journal_.latest().epoch;
    if (journal_.active() && (news || (is_standby && !raise_))) {
      raise_ = !refuse->master;
      refused_at_ = parts_.clock.now();
    }
    if (news && journal_.active()) say_refused(end, *refuse);
  } else if (const auto* chunk = std::get_if<SnapshotChunk>(&frame)) {
    return inherit(end, *chunk);
  } else {
    return false;
  }
  return true;
}

void Replicator::say_refused(const Outgoing& end, const Refuse& refuse) {
  if (refuse.port != Guid{}) {
    if (parts_.refused) parts_.refused(refuse.port);
    return;
  }
  parts_.log.warn("ha.lower_epoch")
      .kv("peer", end.stream->peer())
      .kv("ours", journal_.latest().epoch)
      .kv("theirs", refuse.epoch)
      .kv("action", "a new epoch begins, above it")
      .subject(end.stream->peer());
}

/// This standby's disk has that of our state.
void Replicator::note_copied(Guid standby, Position at) {
  if (!journal_.active() || at.epoch != journal_.latest().epoch) return;
  auto& copied = copied_by_[standby];
  copied.at = at;
  if (at != journal_.latest()) return;
  copied.common = {.registry = std::get<sa::RegistryPtr>(told_),
                   .policies = std::get<policy::PoliciesPtr>(told_)};
}

Replicator::Common Replicator::common_with(Guid other) const {
  const auto copied = copied_by_.find(other);
  if (copied != copied_by_.end() && copied->second.common.registry) return copied->second.common;
  return other == began_with_ ? began_common_ : Common{};
}

/// A standby leaves us what clients had registered with it, its M_Keys and partitions. False: it makes no
/// sense.
bool Replicator::inherit(Outgoing& end, const SnapshotChunk& chunk) {
  if (chunk.index != end.left_chunks) return false;
  apply_changes(chunk.rows, end.left);
  if (++end.left_chunks < chunk.count) return true;
  auto left = std::exchange(end.left, {});
  end.left_chunks = 0;
  if (journal_.active()) tasks_.spawn(read_left(std::move(left), chunk.source));
  return true;
}

asio::awaitable<void> Replicator::read_left(Image left, Guid source) {
  Changes kinds, of_policies;
  for (const auto& [kind, rows] : left) {
    const bool policy = std::ranges::find(store::policy_kinds(), kind, &store::PolicyKind::table) !=
                        store::policy_kinds().end();
    (policy ? of_policies : kinds).push_back({.kind = kind, .changes = {}});
  }
  const Kept nothing{std::make_shared<const sm::Stored>(), std::make_shared<const sa::Registry>(),
                     std::make_shared<const policy::Policies>(),
                     std::make_shared<const store::ReplicaState>()};
  sa::RegistryPtr registry;
  sm::StoredPtr stored;
  policy::PoliciesPtr policies;
  const bool done = co_await parts_.compute.execute([&] {
    const auto state = state_of(left, kinds, nothing);
    if (!state) return;
    registry = std::get<sa::RegistryPtr>(*state);
    stored = std::get<sm::StoredPtr>(*state);
    // A later version may say of a partition what this one does not know.
    if (const auto read = state_of(left, of_policies, nothing))
      policies = std::get<policy::PoliciesPtr>(*read);
  });
  if (!done || !registry) co_return;
  if (!stored->m_keys.empty()) inherited_m_keys_ = std::make_shared<const sm::Stored::MKeys>(stored->m_keys);
  const auto common = common_with(source);
  // An earlier version tells nothing of partitions.
  if (parts_.inherited_policies && policies && !policies->accepted.empty())
    parts_.inherited_policies(std::move(policies), common.policies);
  if (!parts_.inherited) co_return;
  parts_.log.info("ha.clients_inherited").kv("groups", registry->groups().size()).always();
  parts_.inherited(std::move(registry),
                   common.registry ? common.registry : std::make_shared<const sa::Registry>());
}

/// Sends until the connection ends.
asio::awaitable<void> Replicator::give(std::shared_ptr<Outgoing> end) {
  auto role_due = parts_.clock.now();
  auto digests_due = role_due + kDigestsEvery;
  bool going = co_await end->stream->write(std::make_shared<const Bytes>(hello()));
  bool was_active = false;
  while (going && !end->gone) {
    const auto now = parts_.clock.now();
    if (now >= role_due || was_active != journal_.active()) {
      was_active = journal_.active();
      const replica::Role word{.master = was_active, .port = role().self, .latest = journal_.latest()};
      going = co_await end->stream->write(std::make_shared<const Bytes>(encode(word)));
      role_due = now + kRoleEvery;
      continue;
    }
    if (now >= digests_due) {
      going = co_await give_digests(end);
      digests_due = now + kDigestsEvery;
      continue;
    }
    if (!end->answers.empty()) {
      const auto answer = std::move(end->answers.front());
      end->answers.pop_front();
      going = co_await end->stream->write(answer);
      continue;
    }
    const auto next = end->sender.next();
    if (next.needs_snapshot) {
      going = co_await make_snapshot_now();
      continue;
    }
    if (next.frame) {
      going = co_await end->stream->write(next.frame);
      continue;
    }
    const auto timer = parts_.clock.call_at(std::min(role_due, digests_due), [end] { end->wake.wake_all(); });
    going = co_await end->wake.wait();
    parts_.clock.cancel(timer);
  }
  end->stream->close();
}

/// The journal gets a snapshot of what it leads to. False when cancelled.
asio::awaitable<bool> Replicator::make_snapshot_now() {
  const auto at = journal_.latest();
  const auto now = told_;
  std::shared_ptr<const Snapshot> made;
  const bool done =
      co_await parts_.compute.execute([&] { made = make_snapshot(now, at, journal_.source()); });
  if (done && journal_.latest().epoch == at.epoch) journal_.set_snapshot(std::move(made));
  co_return done;
}

/// For a standby that has all: whether its rows are ours. False where the connection has ended.
asio::awaitable<bool> Replicator::give_digests(std::shared_ptr<Outgoing> end) {
  if (!end->sender.is_current()) co_return true;
  DigestsAt word{.at = journal_.latest(), .digests = {}};
  const auto now = told_;
  const bool done = co_await parts_.compute.execute([&] { word.digests = digests(now); });
  if (!done) co_return false;
  digests_ = word.digests;
  co_return co_await end->stream->write(std::make_shared<const Bytes>(encode(std::move(word))));
}

}  // namespace smd::replica
