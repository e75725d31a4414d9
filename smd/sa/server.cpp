// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/server.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "mad/suspend.h"
#include "smd/sa/moved_sls.h"
#include "smd/sa/registry/group_members.h"

namespace smd::sa {
namespace {

/// Requests that are looked at in one go, each in some microseconds: others wait no longer than that takes.
constexpr std::size_t kWrites = 256, kBrief = 256;

/// Bytes of a request: the longest that there is names 510 GIDs. What is longer is no client's.
constexpr std::size_t kLongestRequest = 65'536;

/// Questions that are begun in one round, of different ports where many ask.
constexpr std::size_t kBegun = 8;

/// Bytes of answers that are not sent yet.
constexpr std::size_t kHeld = std::size_t{256} << 20U;

Length length_of(const Request& request) {
  return is_write(request) || is_fast(request) ? Length::brief : Length::open;
}

}  // namespace

Server::Server(ServerParts parts, Settings settings)
    : parts_(std::move(parts)),
      settings_(std::make_shared<const Settings>(std::move(settings))),
      reports_(parts_.gsi, parts_.clock, parts_.log,
               [this](const Addressee& subscriber) {
                 pending_tasks_.unheard.push_back(subscriber);
                 lost_.lost(subscriber.port, parts_.clock.now());
                 wake_writer_.wake_all();
               }),
      fast_path_(std::make_shared<FastPath>(&parts_.clock, parts_.counts)),
      tasks_(parts_.executor) {
  if (!parts_.registry.get()) {
    parts_.registry.set(parts_.store != nullptr ? parts_.store->registry()
                                                : std::make_shared<const Registry>());
  }
  parts_.gsi.on_receive([this](std::span<mad::Received> batch) { received(batch); });
  parts_.gsi.on_receive_ahead(std::make_shared<const mad::Transport::Ahead>(
      [path = fast_path_](std::vector<mad::Received>& batch, const mad::Transport::Reply& reply) {
        path->answer(batch, reply);
      }));
  tasks_.spawn(index());
  tasks_.spawn(serve());
  tasks_.spawn(write());
  tasks_.spawn(tick());
  if (parts_.asking != nullptr) begin_reading();
  subscribe();
}

Server::~Server() { deafen(); }

void Server::deafen() {
  subscriber_.reset();
  fast_path_->set(nullptr);
  parts_.gsi.on_receive_ahead(nullptr);
  parts_.gsi.on_receive(nullptr);
}

asio::awaitable<void> Server::stop() {
  deafen();
  co_await tasks_.stop();
  reports_.stop();
}

void Server::set(Settings settings) {
  settings_ = std::make_shared<const Settings>(std::move(settings));
  publish_fast_path();
  refresh();
}

void Server::publish_fast_path() {
  const bool answers = view_ && view_->directory.snapshot().state == wire::SmState::master;
  if (!answers) {
    fast_path_->set(nullptr);
    return;
  }
  fast_path_->set(std::make_shared<const FastPath::Context>(FastPath::Context{
      .directory = {view_, &view_->directory}, .registry = parts_.registry.get(), .settings = *settings_}));
}

void Server::refresh(std::span<const Guid> came_up) {
  of_next_.refresh = true;
  lost_.forget(came_up);
  of_next_.came_up.insert(of_next_.came_up.end(), came_up.begin(), came_up.end());
  look_again();
}

void Server::look_again() {
  look_again_ = true;
  wake_indexer_.wake_all();
}

/// What a snapshot gives to do waits for its directory; questions do not.
asio::awaitable<void> Server::index() {
  for (;;) {
    while (!look_again_) {
      const bool woken = co_await wake_indexer_.wait();
      if (!woken) co_return;
    }
    look_again_ = false;
    auto tasks = std::exchange(of_next_, {});
    auto now = parts_.source();
    // Groups of partitions are made by what is decided, which may change between two sweeps.
    if (view_ && now && view_->directory.snapshot().decided.partitions != now->decided.partitions)
      tasks.refresh = true;
    if (!view_ || &view_->directory.snapshot() != now.get()) {
      ViewPtr made;
      if (now && now->subnet) {
        co_await parts_.indexing.execute(
            [&, before = view_] { made = std::make_shared<View>(std::move(now), before.get()); });
      }
      view_.swap(made);
      publish_fast_path();
      wake_.wake_all();
      co_await compare_sls(std::move(made));
    }
    if (tasks.refresh) {
      pending_tasks_.refresh = true;
      pending_tasks_.came_up.insert(pending_tasks_.came_up.end(), tasks.came_up.begin(), tasks.came_up.end());
      wake_writer_.wake_all();
    }
    const bool end = co_await mad::was_cancelled();
    if (end) co_return;
  }
}

/// Clients keep the SLs of their paths: those of ports with another one are asked to register again.
asio::awaitable<void> Server::compare_sls(ViewPtr before) {
  const auto is_master = [](const ViewPtr& view) {
    return view && view->directory.snapshot().state == wire::SmState::master;
  };
  std::vector<Guid> moved;
  // Not on this thread: to free the snapshot of a large fabric takes milliseconds, too.
  co_await parts_.indexing.execute([&, now = view_, old = std::move(before)]() mutable {
    if (is_master(old) && is_master(now)) moved = ports_of_moved_sls(old->directory, now->directory);
    old.reset();
  });
  if (moved.empty()) co_return;
  parts_.log.info("sa.sls_changed")
      .kv("ports", moved.size())
      .kv("reason", "paths from these ports have another SL than before")
      .kv("action", "their clients are asked to register again, and then to ask for their paths");
  pending_tasks_.sls_moved.insert(pending_tasks_.sls_moved.end(), moved.begin(), moved.end());
  wake_writer_.wake_all();
}

void Server::asked(std::span<const Guid> ports) {
  pending_tasks_.asked.insert(pending_tasks_.asked.end(), ports.begin(), ports.end());
  lost_.asked(ports, parts_.clock.now());
  wake_writer_.wake_all();
}

/// Leases, and graces, end by the second.
asio::awaitable<void> Server::tick() {
  for (;;) {
    const bool time = co_await parts_.clock.sleep(std::chrono::seconds(1));
    if (!time) co_return;
    look_for_lost();
    const auto registry = parts_.registry.get();
    const auto now = parts_.wall();
    const bool over = std::ranges::any_of(registry->services(), [now](const auto& row) {
      return row.second.ends != 0 && row.second.ends <= now;
    });
    const bool silent = silence_ends_ != 0 && silence_ends_ <= now;
    const bool grace_over = grace_ends_ && *grace_ends_ <= parts_.clock.now();
    if (!over && !silent && !grace_over) continue;
    if (grace_over) grace_ends_.reset();
    pending_tasks_.grace_over = pending_tasks_.grace_over || grace_over;
    pending_tasks_.expire = pending_tasks_.expire || over;
    pending_tasks_.refresh = pending_tasks_.refresh || silent;
    wake_writer_.wake_all();
  }
}

void Server::received(std::span<mad::Received> batch) {
  const auto now = parts_.clock.now();
  for (auto& mad : batch) {
    if (mad.error != 0) continue;  // an answer or a report of ours that was not delivered
    heard(mad.from.lid);
    if (const auto header = wire::decode<wire::MadHeader>(mad.bytes);
        header && header->mgmt_class == wire::MgmtClass::sa && header->method == wire::Method::report_resp) {
      reports_.answered(header->tid.value());
      continue;
    }
    if (mad.bytes.size() > kLongestRequest) {
      parts_.log.warn("sa.request_too_long")
          .kv("lid", mad.from.lid)
          .kv("longest", kLongestRequest)
          .kv("action", "dropped")
          .subject("sa.request_too_long");
      continue;
    }
    const auto request = Request::parse(mad.bytes);
    if (!request || !is_question(*request)) continue;
    if (has_wrong_key(*request, *settings_)) {
      parts_.counts->at_server.unanswered(request->mad.attribute, request->mad.method);
      continue;
    }
    Arrived arrived{.mad = std::move(mad), .at = now};
    if (queue_.put(arrived, length_of(*request), *settings_)) continue;
    send(refusal(*request, wire::kStatusBusy, arrived));
  }
  wake_.wake_all();
}

/// A fabric has just come up. In some milliseconds there are answers: no BUSY is sent.
bool Server::first_view_is_awaited() {
  const auto now = parts_.source();
  if (view_ || !now || !now->subnet) return false;
  look_again();
  return true;
}

/// A question of a port that has many in hand waits for those.
bool Server::has_work() const { return !pending_.empty() || !queue_.empty(); }

asio::awaitable<void> Server::serve() {
  for (;;) {
    while (!has_work() || first_view_is_awaited()) {
      const bool woken = co_await wake_.wait();
      if (!woken) co_return;
    }
    auto batch = next_batch();
    if (!view_ || &view_->directory.snapshot() != parts_.source().get()) look_again();
    ReadBatch looked;
    Round round{.view = view_,
                .registry = parts_.registry.get(),
                .settings = settings_,
                .now = parts_.wall(),
                .act_count = parts_.act_count ? parts_.act_count() : 0,
                .room = kHeld};
    co_await parts_.compute.execute([&] { looked = look_at(std::move(batch), round); });
    for (const auto& one : looked.replies) {
      tell_unread(one);
      send(one);
    }
    queue(std::move(looked.writes));
    const bool end = co_await mad::was_cancelled();
    if (end) co_return;
    // Where work is done in place, what has come meanwhile is received between two slices.
    co_await asio::post(parts_.executor, asio::use_awaitable);
  }
}

/// As much as is looked at in some milliseconds: who comes meanwhile waits no longer for others.
std::vector<Arrived> Server::next_batch() {
  std::vector<Arrived> batch;
  while (batch.size() < kBrief) {
    auto request = queue_.next(Length::brief);
    if (!request) break;
    batch.push_back(*std::move(request));
  }
  for (std::size_t begun = 0; begun < kBegun; ++begun) {
    auto request = queue_.next(Length::open, [this](Lid lid) { return pending_.has_room(lid); });
    if (!request) break;
    batch.push_back(*std::move(request));
  }
  return batch;
}

void Server::queue(std::vector<Arrived> writes) {
  std::unordered_map<Lid, std::uint32_t> waiting;
  for (const auto& one : writes_) ++waiting[one.mad.from.lid];
  for (auto& one : writes) {
    if (writes_.size() < settings_->queue && waiting[one.mad.from.lid] < settings_->per_source) {
      ++waiting[one.mad.from.lid];
      writes_.push_back(std::move(one));
    } else if (const auto request = Request::parse(one.mad.bytes)) {
      send(refusal(*request, wire::kStatusBusy, one));
    }
  }
  if (!writes_.empty()) wake_writer_.wake_all();
}

asio::awaitable<void> Server::write() {
  for (;;) {
    while (writes_.empty() && !pending_tasks_.any()) {
      const bool woken = co_await wake_writer_.wait();
      if (!woken) co_return;
    }
    std::vector<Arrived> batch;
    const auto some = writes_.begin() + static_cast<std::ptrdiff_t>(std::min(writes_.size(), kWrites));
    std::move(writes_.begin(), some, std::back_inserter(batch));
    writes_.erase(writes_.begin(), some);
    auto tasks = std::exchange(pending_tasks_, {});
    tasks.not_yet = lost_.ports_except(tasks.lost);
    if (parts_.store != nullptr) tasks.copy = parts_.store->following();
    tasks.before = parts_.registry.get();
    tasks.prior = prior_;
    Written done;
    co_await parts_.compute.execute([&, settings = settings_, view = view_, room = reports_.room()] {
      done = written(batch, tasks, *settings, view.get(), room);
    });
    const auto& before = tasks.before;
    const bool multicast = done.registry.multicast_version() != before->multicast_version();
    const bool told = co_await keep(before, &done);
    for (auto& one : done.replies) {
      if (!told) one.bytes = busy_instead_of(one.bytes);
      send(one);
    }
    reports_.add(std::move(done.reports));
    say(done.effects);
    say_inherited(done);
    if (tasks.refresh) silence_ends_ = done.silence_ends;
    const bool first = tasks.refresh && !std::exchange(told_, true);
    ask_fabric(done, multicast || first);
    const bool end = co_await mad::was_cancelled();
    if (end) co_return;
  }
}

/// What a batch has changed of `before` comes into force. Whether its clients may be told: else they are to
/// ask again.
asio::awaitable<bool> Server::keep(RegistryPtr before, Written* done) {
  auto* const store = parts_.store;
  // Replaced meanwhile: it is another SM's, which is master.
  if (parts_.registry.get() != before) co_return false;
  if (done->registry.version() != before->version()) {
    auto now = std::make_shared<const Registry>(std::move(done->registry));
    // Where it cannot be kept the store says so, and clients are served all the same.
    if (store != nullptr) co_await store->commit_registry(now);
    // Another SM's copy may have come while the disk was written.
    const bool replaced = parts_.registry.get() != before;
    if (!replaced) parts_.registry.set(std::move(now));
    publish_fast_path();
    if (replaced) co_return false;
  } else if (store != nullptr && !done->replies.empty() && !store->may_answer()) {
    // What is asked for again is registered, but its client was not told.
    co_await store->commit_registry(before);
  }
  co_return store == nullptr || store->may_answer();
}

/// What follows from a batch of writes. `groups`: they have changed and are kept, or are known for the first
/// time.
void Server::ask_fabric(const Written& done, bool groups) {
  auto* fabric = parts_.fabric;
  if (fabric == nullptr) return;
  if (!done.guids.empty()) fabric->set_guids(done.guids);
  if (!done.to_ask.empty()) fabric->reregister(done.to_ask);
  if (groups) fabric->set_groups([&registry = parts_.registry] { return group_members(*registry.get()); });
}

Server::ReadBatch Server::look_at(std::vector<Arrived> batch, const Round& round) {
  ReadBatch looked;
  // A client asks the master; where that is not us, another SA answers.
  if (const auto now = parts_.source(); now && now->state != wire::SmState::master) {
    pending_.clear();
    return looked;
  }
  Slice fresh(kSliceWork);
  for (auto& one : batch) {
    const auto request = Request::parse(one.mad.bytes);
    if (!request) continue;
    if (is_write(*request)) {
      if (round.view) {
        looked.writes.push_back(std::move(one));
      } else {
        looked.replies.push_back(refusal(*request, wire::kStatusBusy, one));
      }
      continue;
    }
    Slice brief(kFastPathWork);
    pending_.begin(std::move(one), round, is_fast(*request) ? brief : fresh, looked.replies);
  }
  pending_.go_on(Slice(kSliceWork), round.room, looked.replies);
  return looked;
}

void Server::count(const Reply& reply, std::uint16_t status) {
  parts_.counts->at_server.answered(reply.attribute, reply.method, status,
                                    parts_.clock.now() - reply.asked_at);
}

void Server::send(const Reply& reply) {
  if (reply.table) std::ranges::copy(reply.bytes, reply.table->begin());
  const auto& bytes = reply.table ? *reply.table : reply.bytes;
  const auto sent = parts_.gsi.send(bytes, reply.to, std::chrono::milliseconds(0));
  if (sent) return count(reply, status_of(bytes));
  // More is under way than may be: a status alone needs no room.
  if (sent.error().error == EAGAIN && parts_.gsi.send(busy_instead_of(bytes), reply.to, {}))
    return count(reply, wire::kStatusBusy);
  parts_.counts->at_server.unanswered(reply.attribute, reply.method);
  parts_.log.warn("sa.not_answered")
      .kv("lid", reply.to.lid)
      .kv("errno", sent.error().error)
      .kv("reason", sent.error().what);
}

}  // namespace smd::sa
