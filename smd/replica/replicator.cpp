// SPDX-License-Identifier: Apache-2.0
// The store, and what follows from what this SM is. The two directions of the stream: outgoing.cpp and
// incoming.cpp.
#include "smd/replica/replicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::replica {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// What an answer to a client waits for a standby, at most.
constexpr mad::Duration kSync = milliseconds(50);
/// A master that cannot be reached is about to be found dead by the fabric. A replica without a connection
/// for longer than that takes, and this, may lack what it has committed meanwhile.
constexpr mad::Duration kUnheard = seconds(3);
/// What the network may be later than the fabric by.
constexpr mad::Duration kNetworkLate = milliseconds(600);
/// After a refusal the fabric's ranks decide, in a sweep; the SM that is master then has the highest epoch.
constexpr mad::Duration kRankDecides = seconds(3);

/// A standby tries again every few seconds.
constexpr mad::Duration kRefusalShown = seconds(60);

/// Handshakes at a time: a slow peer does not keep the others out.
constexpr std::size_t kHandshakes = 64;

}  // namespace

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::async:
      return "async";
    case Mode::sync:
      return "sync";
    case Mode::sync_strict:
      return "sync-strict";
  }
  return "async";
}

std::string_view to_string(ReplicaView::Role role) {
  switch (role) {
    case ReplicaView::Role::none:
      return "none";
    case ReplicaView::Role::source:
      return "source";
    case ReplicaView::Role::current:
      return "current";
    case ReplicaView::Role::behind:
      return "behind";
    case ReplicaView::Role::lost:
      return "lost";
  }
  return "";
}

Replicator::Replicator(ReplicatorParts parts, ReplicatorOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      kept_{parts_.disk.loaded(), parts_.disk.registry(), parts_.disk.policies(), parts_.disk.replica()},
      told_(kept_),
      receiver_(kept_),
      tasks_(parts_.executor),
      spare_(parts_.clock, parts_.compute, tasks_) {}

Replicator::~Replicator() = default;

void Replicator::start() {
  tasks_.spawn(write_journal());
  for (std::size_t i = 0; i < kHandshakes; ++i) tasks_.spawn(accept());
  tasks_.spawn(tick());
  for (const auto& peer : options_.peers) tasks_.spawn(follow(peer));
  publish();
}

asio::awaitable<void> Replicator::stop() {
  for (const auto& end : outgoing_) end->stream->close();
  co_await tasks_.stop();
  co_await parts_.network.stop();
  while (!asked_.empty()) finish_call(asked_.begin()->first, std::unexpected("smd ends"));
}

Replicator::Part Replicator::role() const {
  const auto view = parts_.sms->get();
  if (!view) return {};
  const auto& state = view->state;
  // A standby whose cable is out has no fabric: what it copies stays the master's.
  const bool keeps_copy = state.alone && following_ && !journal_.active();
  Part now{.master = state.sm == wire::SmState::master && !state.contested && !keeps_copy,
           .self = state.self.guid,
           .follows = std::nullopt,
           .alone = state.alone};
  const bool waits = state.sm == wire::SmState::standby || state.sm == wire::SmState::not_active;
  if (waits) now.follows = state.polled ? std::optional(state.polled->sm.info.guid) : state.followed_in_sweep;
  return now;
}

/// What is kept belongs to the master.
bool Replicator::follows() const { return following_ && !role().master; }

/// A change is not to be kept, because of that.
bool Replicator::drops() {
  if (!follows()) return false;
  strayed_ = strayed_ || role().alone;
  return true;
}

/// What is on our disk is an earlier state of the master that we follow: it goes on from there.
bool Replicator::has_copy() const {
  const auto master = role().follows;
  return master && replica()->position.epoch != 0 && replica()->source == *master;
}

bool Replicator::is_current() const {
  if (!following_ || not_copied_ || strayed_ || !receiver_ || receiver_->position() != latest_) return false;
  if (replica()->position != latest_) return false;
  const auto view = parts_.sms->get();
  // A master that went on answering on the fabric has committed what the network did not bring.
  const bool direct = parts_.network.carries_calls();
  if (direct && view && view->polled_at > heard_at_ + heard_every_ + kNetworkLate) return false;
  const auto patience = (view ? view->takeover : mad::Duration{}) + kUnheard;
  // After a standstill of this process or machine a connection that has ended looks as if it had not, or just
  // now.
  if (parts_.clock.uptime() - heard_up_ > kMasterSilence + patience) return false;
  return !master_.empty() || parts_.clock.now() - lost_at_ <= patience;
}

store::Following Replicator::following() const {
  return {.follows = follows(),
          .stale = following_ ? !is_current() : stale_,
          .replaced = replaced_,
          .knows_clients = following_ || role().master || journal_.active() || has_copy(),
          .current = following_ ? is_current() : began_current_};
}

asio::awaitable<bool> Replicator::commit(sm::StoredPtr now) {
  if (drops()) co_return true;
  std::get<sm::StoredPtr>(kept_) = now;
  const bool written = co_await parts_.disk.commit(std::move(now));
  changed();
  co_return written;
}

asio::awaitable<bool> Replicator::commit_registry(sa::RegistryPtr now) {
  may_answer_ = false;
  if (drops()) co_return true;
  std::get<sa::RegistryPtr>(kept_) = now;
  const bool written = co_await parts_.disk.commit_registry(std::move(now));
  changed();
  co_await wait_for_standby();
  // Another SM is to be master, and does not have it: it is asked next.
  const auto view = parts_.sms->get();
  may_answer_ = may_answer_ && (!view || view->state.sm == wire::SmState::master);
  co_return written;
}

asio::awaitable<bool> Replicator::commit_policies(policy::PoliciesPtr now) {
  co_return co_await commit_by(&store::Store::commit_policies, std::move(now));
}

asio::awaitable<bool> Replicator::commit_change(policy::PoliciesPtr now) {
  co_return co_await commit_by(&store::Store::commit_change, std::move(now));
}

asio::awaitable<bool> Replicator::commit_by(CommitPolicies commit, policy::PoliciesPtr now) {
  if (drops()) co_return true;
  std::get<policy::PoliciesPtr>(kept_) = now;
  const bool written = co_await (parts_.disk.*commit)(std::move(now));
  changed();
  co_await wait_for_standby();
  co_return written;
}

/// What is committed after our mastership stays here: the next master's state replaces it.
void Replicator::changed() {
  unsaid_ = journal_.active() && !role().master;
  if (unsaid_) return;
  ++changes_;
  journal_wake_.wake_all();
}

/// We are master: an epoch begins that is higher than all that we know of.
asio::awaitable<void> Replicator::begin_term() {
  if (std::exchange(beginning_, true)) co_return;
  end_calls("this SM is master now");
  stale_ = following_ ? !is_current() : stale_ && !journal_.active();
  // Another master was beside us for a while, and we have followed none: what others had of our state is
  // known.
  const bool goes_on = left_ && !following_;
  if (!journal_.active() && !goes_on) {  // else the epoch alone is another one
    began_with_ = following_ ? replica()->source : Guid{};
    began_common_ = {.registry = registry(), .policies = policies()};
    began_current_ = following_ && !stale_;
    copied_by_.clear();
  }
  left_.reset();
  if (following_) {
    auto&& event = stale_ ? parts_.log.warn("ha.took_over") : parts_.log.info("ha.took_over");
    event.kv("position", fmt::format("{}.{}", replica()->position.epoch, replica()->position.number))
        .kv("latest", fmt::format("{}.{}", latest_.epoch, latest_.number))
        .kv("current", !stale_);
    if (stale_)
      event.kv(
          "action",
          "clients are asked to register again; look whether partitions that were changed last are there");
    event.always();
  }
  following_ = not_copied_ = false;
  auto next = std::make_shared<store::ReplicaState>(*replica());
  // No peer may say an epoch after which there is none.
  const auto epoch = std::min(std::max(next->position.epoch, later_epoch_) + 1, kLargestEpoch);
  next->position = {.epoch = epoch, .number = 0};
  next->source = role().self;
  std::get<store::ReplicaStatePtr>(kept_) = next;
  co_await parts_.disk.commit_replica(next);
  told_ = kept_;
  told_changes_ = changes_;
  covers_ = {{0, {.changes = changes_, .at = parts_.clock.now()}}};
  journal_.begin(next->position, next->source);
  beginning_ = false;
  wake_all();
  publish();
}

/// What we have is no master's copy: another's is asked for whole.
void Replicator::end_term() {
  if (!journal_.active()) return;
  auto keys = std::make_shared<sm::Stored>();
  keys->m_keys = loaded()->m_keys;
  left_ = Kept{std::move(keys), registry(), policies(), std::make_shared<const store::ReplicaState>()};
  left_at_ = journal_.latest();
  journal_.end();
  stale_ = began_current_ = false;
  raise_ = false;
  unsaid_ = false;
  take_whole();
  wake_all();
}

/// What comes next is a whole state, whatever is kept until then.
void Replicator::take_whole() {
  ++terms_ended_;
  receiver_.emplace(kept_);
  receiver_->forget();
  copied_ = nullptr;
  copied_stored_ = nullptr;
}

/// What was committed meanwhile becomes one transaction.
asio::awaitable<void> Replicator::write_journal() {
  for (;;) {
    while (told_changes_ == changes_ || !journal_.active()) {
      const bool woken = co_await journal_wake_.wait();
      if (!woken) co_return;
      const auto now = role();
      if (now.master && !journal_.active()) co_await begin_term();
    }
    const auto changes = changes_;
    const auto now = kept_;
    const auto at = journal_.latest();
    Changes made;
    const bool done = co_await parts_.compute.execute([&] { made = difference(told_, now); });
    if (!done) co_return;
    if (journal_.latest() != at) continue;  // another term has begun
    told_ = now;
    told_changes_ = changes;
    if (!made.empty()) journal_.add(std::move(made));
    covers_.try_emplace(journal_.latest().number, Committed{.at = parts_.clock.now()}).first->second.changes =
        changes;
    wake_all();
    acked_.wake_all();  // calls wait until they are told
    publish();
  }
}

/// In the modes sync and sync-strict: until one standby has on its disk what is committed now, at most 50 ms.
asio::awaitable<void> Replicator::wait_for_standby() {
  if (options_.mode == Mode::async || !role().master) {
    may_answer_ = true;
    co_return;
  }
  const auto change = changes_;
  const auto end = parts_.clock.now() + kSync;
  const auto is_kept = [&] {
    return std::ranges::any_of(outgoing_, [&](const auto& one) {
      const auto acked = one->sender.acked();
      if (acked.epoch != journal_.latest().epoch) return false;
      const auto covered = covers_.upper_bound(acked.number);
      return covered != covers_.begin() && std::prev(covered)->second.changes >= change;
    });
  };
  const bool waits = !sync_lost_ || options_.mode == Mode::sync_strict;
  bool going = waits;
  const auto timer = parts_.clock.call_at(end, [this] { acked_.wake_all(); });
  while (going && !is_kept() && parts_.clock.now() < end) going = co_await acked_.wait();
  parts_.clock.cancel(timer);
  const bool kept = is_kept();
  if (waits) lost_sync(!kept);
  may_answer_ = kept || options_.mode != Mode::sync_strict;
}

asio::awaitable<void> Replicator::settle(std::optional<Guid> standby) {
  const auto end = parts_.clock.now() + kSync;
  const auto is_meant = [&](Guid port) {
    return !standby || !copiers_.contains(*standby) || port == *standby;
  };
  const auto given = [&] {
    const bool sent = told_changes_ == changes_ && std::ranges::any_of(outgoing_, [&](const auto& one) {
                        return is_meant(one->peer.port) && one->sender.is_current();
                      });
    const auto copies = parts_.network.copies();
    return sent && (copies.empty() || std::ranges::any_of(copies, [&](const auto& copy) {
                      return is_meant(copy.port) && copy.at == journal_.latest();
                    }));
  };
  const auto timer = parts_.clock.call_at(end, [this] { acked_.wake_all(); });
  bool going = true;
  while (going && !outgoing_.empty() && journal_.active() && !given() && parts_.clock.now() < end)
    going = co_await acked_.wait();
  parts_.clock.cancel(timer);
}

/// But for what may be on its way.
bool Replicator::has_all(Position acked) const {
  return journal_.active() && acked.epoch == journal_.latest().epoch && lag_of(acked) <= kSync;
}

std::optional<std::map<Guid, bool>> Replicator::copies() const {
  std::map<Guid, bool> copies;
  const auto add = [&](Guid port, Position acked) {
    if (port == Guid{}) return;
    auto& all = copies[port];
    all = all || has_all(acked);
  };
  for (const auto& copy : parts_.network.copies()) add(copy.port, copy.at);
  for (const auto& end : outgoing_) {
    if (!end->gone) add(end->peer.port, end->sender.acked());
  }
  return copies;
}

bool Replicator::lags(Guid standby) const {
  const auto now = *copies();
  const auto copy = now.find(standby);
  return copy != now.end() ? !copy->second : copiers_.contains(standby);
}

void Replicator::lost_sync(bool lost) {
  if (std::exchange(sync_lost_, lost) == lost) return;
  if (!lost) {
    parts_.log.info("ha.sync_restored").always();
    return;
  }
  const bool strict = options_.mode == Mode::sync_strict;
  parts_.log.warn("ha.sync_lost")
      .kv("reason", "no standby has a change on its disk after 50 ms")
      .kv("action", strict ? "clients are asked to come again" : "clients are answered all the same")
      .always();
}

/// Masterships begin and end without a word to us.
asio::awaitable<void> Replicator::tick() {
  for (;;) {
    const auto now = role();
    if (now.master && !journal_.active()) co_await begin_term();
    if (now.master && unsaid_) changed();
    const bool stays = now.master && parts_.clock.now() - refused_at_ >= kRankDecides;
    if (raise_ && stays) {
      raise_ = false;
      co_await begin_term();
    }
    for (const auto& copy : parts_.network.copies()) {
      note_copied(copy.port, copy.at);
    }
    if (!now.master) end_term();
    strayed_ = strayed_ || (now.alone && follows());
    co_await leave_copy();
    say_port(now.self);
    const auto latest = journal_.latest().number;
    while (covers_.size() > 1 && covers_.begin()->first + 100'000 < latest) covers_.erase(covers_.begin());
    publish();
    const bool time = co_await parts_.clock.sleep(milliseconds(200));
    if (!time) co_return;
  }
}

/// A connection may have begun before our port was known.
void Replicator::say_port(Guid self) {
  for (auto& [peer, link] : links_) {
    if (std::exchange(link.said, self) != self)
      tasks_.spawn(send_frame(link.stream, std::make_shared<const Bytes>(hello())));
  }
}

/// How long the oldest transaction that is not acknowledged has been waiting.
std::chrono::nanoseconds Replicator::lag_of(Position acked) const {
  if (acked == journal_.latest()) return {};
  const bool same = acked.epoch == journal_.latest().epoch;
  const auto oldest = same ? covers_.upper_bound(acked.number) : covers_.begin();
  return oldest == covers_.end() ? std::chrono::nanoseconds() : parts_.clock.now() - oldest->second.at;
}

void Replicator::publish() {
  ReplicaView view;
  view.mode = to_string(options_.mode);
  view.in_sync = options_.mode != Mode::async && !sync_lost_;
  view.digests = digests_;
  view.direct = parts_.network.carries_calls();
  if (journal_.active()) {
    view.role = ReplicaView::Role::source;
    view.position = view.latest = journal_.latest();
    view.source = journal_.source();
    view.failure = parts_.network.failure();
    if (parts_.clock.now() - turned_away_.at < kRefusalShown) view.refused = turned_away_.what;
    const auto behind = [&](Position acked) {
      // Through etcd a standby's position may be of another SM's epoch of this number.
      return view.latest.number -
             (acked.epoch == view.latest.epoch ? std::min(acked.number, view.latest.number) : 0);
    };
    for (const auto& copy : parts_.network.copies()) {  // standbys that have no connection to us
      view.standbys.push_back({.name = fmt::format("{}", copy.port),
                               .port = copy.port,
                               .acked = copy.at,
                               .behind = behind(copy.at),
                               .lag = lag_of(copy.at)});
    }
    for (const auto& end : outgoing_) {
      const auto acked = end->sender.acked();
      view.standbys.push_back(
          {.name = end->stream->peer(),
           .port = end->peer.port,
           .acked = acked,
           .behind = behind(acked),
           .lag = std::min(lag_of(acked), std::chrono::nanoseconds(parts_.clock.now() - end->since))});
    }
  } else {
    view.position = replica()->position;
    view.source = replica()->source;
    view.latest = latest_;
    view.heard = heard_;
    view.master = master_.empty() ? why_unlinked() : master_;
    view.role = master_.empty() ? ReplicaView::Role::lost
                : is_current()  ? ReplicaView::Role::current
                                : ReplicaView::Role::behind;
    const auto master = role().follows;
    if (!master) view.role = ReplicaView::Role::none;
    view.copied = following_ || !master || !parts_.network.carries_calls() || !is_no_peer(*master);
    view.forwards = forwards();
  }
  parts_.published->set(std::make_shared<const ReplicaView>(std::move(view)));
}

void Replicator::wake_all() {
  for (const auto& end : outgoing_) end->wake.wake_all();
}

Bytes Replicator::hello() const {
  return encode(Hello{.subnet = options_.subnet, .port = role().self, .program = options_.program});
}

}  // namespace smd::replica
