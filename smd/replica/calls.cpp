// SPDX-License-Identifier: Apache-2.0
// Changes that clients ask of a standby, and that the master does.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "smd/replica/replicator.h"

namespace smd::replica {
namespace {

/// The first version of a master that does what clients ask of its standbys.
constexpr std::uint16_t kTakesCalls = 3;
/// For an answer; clients of UFM's calls wait 10 s.
constexpr mad::Duration kCallPatience = std::chrono::seconds(5);
/// In which kMostTold are told.
constexpr mad::Duration kTellTime = std::chrono::seconds(1);
/// Until the journal has what a call has changed.
constexpr mad::Duration kTold = std::chrono::milliseconds(50);

constexpr auto* kUnknown = "whether the change was made is not known, ask again";

}  // namespace

/// Why the master cannot be asked; empty: it can.
std::string Replicator::no_link() const {
  const auto now = role();
  if (now.master) return "this SM has just become master, ask again";
  if (!now.follows) return "no SM of the fabric is master at present";
  const auto why = why_unlinked();
  if (master_.empty() || !links_.contains(master_))
    return fmt::format("no connection to the master {}{}{}", *now.follows, why.empty() ? "" : ": ", why);
  if (links_.at(master_).version < kTakesCalls) return "the master's smd is too old to be asked by a standby";
  if (asked_.size() >= kMostCalls) return fmt::format("{} changes wait for the master already", kMostCalls);
  return {};
}

/// Why the peer that is master, or may be, is not connected: "peer: reason". Empty: there is none.
std::string Replicator::why_unlinked() const {
  const auto master = role().follows;
  std::string perhaps;
  for (const auto& [peer, reason] : unlinked_) {
    const auto port = peer_ports_.find(peer);
    const bool is_known = master && port != peer_ports_.end();
    if (is_known && port->second != *master) continue;
    auto why = fmt::format("{}: {}", peer, reason);
    if (is_known) return why;
    perhaps = std::move(why);
  }
  return perhaps;
}

/// The SMs of all peers are known, from when they were connected last, and none is this one: an OpenSM.
bool Replicator::is_no_peer(Guid master) const {
  return !options_.peers.empty() && std::ranges::all_of(options_.peers, [&](const std::string& peer) {
    const auto known = peer_ports_.find(peer);
    return known != peer_ports_.end() && known->second != master;
  });
}

/// False only where the master is known to be no smd, or of an earlier version, or cannot be asked by this
/// network.
bool Replicator::forwards() const {
  if (!parts_.network.carries_calls()) return false;
  const auto now = role();
  if (now.follows && is_no_peer(*now.follows)) return false;
  const auto link = links_.find(master_);
  return link == links_.end() || link->second.version >= kTakesCalls;
}

void Replicator::call(Call call, CallDone done) {
  const auto id = next_call_++;
  call.id = id;
  auto reason = no_link();
  const auto frame = std::make_shared<const Bytes>(encode(std::move(call)));
  if (!reason.empty()) {
    asio::post(parts_.executor, [answer = std::move(done), why = std::move(reason)]() mutable {
      answer(std::unexpected(std::move(why)));
    });
    return;
  }
  const auto timer =
      parts_.clock.call_at(parts_.clock.now() + kCallPatience, [this, id] { call_is_late(id); });
  asked_.emplace(id, Asked{.peer = master_, .done = std::move(done), .timer = timer});
  tasks_.spawn(send_frame(links_.at(master_).stream, frame));
}

bool Replicator::tell(Call call) {
  const auto now = parts_.clock.now();
  if (now - tells_since_ >= kTellTime) {
    tells_since_ = now;
    tells_ = 0;
  }
  if (tells_ == kMostTold || !no_link().empty()) return false;
  ++tells_;
  call.id = next_call_++;  // an answer to it is one that comes too late
  tasks_.spawn(send_frame(links_.at(master_).stream, std::make_shared<const Bytes>(encode(std::move(call)))));
  return true;
}

/// Where it cannot be sent the connection ends, and its calls with it.
asio::awaitable<void> Replicator::send_frame(std::shared_ptr<ByteStream> stream, BytesPtr frame) {
  const bool sent = co_await stream->write(frame);
  if (!sent) stream->close();
}

/// A client may read here at once what it has changed, and finds it here when the master dies: an answer
/// waits for our copy.
void Replicator::answered(CallAnswer answer) {
  const auto at = asked_.find(answer.id);
  if (at == asked_.end()) return;  // too late
  at->second.answer = std::move(answer);
  finish_calls();
}

void Replicator::finish_calls() {
  std::vector<std::uint64_t> done;
  for (const auto& [id, asked] : asked_) {
    if (asked.answer && asked.answer->at <= replica()->position) done.push_back(id);
  }
  for (const auto id : done) finish_call(id, *std::move(asked_.at(id).answer));
}

void Replicator::finish_call(std::uint64_t id, std::expected<CallAnswer, std::string> result) {
  auto asked = asked_.extract(id);
  if (asked.empty()) return;
  parts_.clock.cancel(asked.mapped().timer);
  asked.mapped().done(std::move(result));
}

void Replicator::call_is_late(std::uint64_t id) {
  // The master has it on its disk; that we have not is what `behind` in the status says.
  if (auto& answer = asked_.at(id).answer) return finish_call(id, *std::move(answer));
  finish_call(id, std::unexpected(fmt::format("the master has not answered in 5 s: {}", kUnknown)));
}

void Replicator::lose_calls(const std::string& peer) {
  std::vector<std::uint64_t> lost;
  for (const auto& [id, asked] : asked_) {
    if (asked.peer == peer) lost.push_back(id);
  }
  for (const auto id : lost)
    finish_call(id, std::unexpected(fmt::format("the connection to the master was lost: {}", kUnknown)));
}

/// The SM that they were sent to is not master any more.
void Replicator::end_calls(std::string_view reason) {
  while (!asked_.empty())
    finish_call(asked_.begin()->first, std::unexpected(fmt::format("{}: {}", reason, kUnknown)));
}

/// False: the end is to be closed.
bool Replicator::take_call(const std::shared_ptr<Outgoing>& end, const Call& call) {
  if (!end->greeted) return false;
  std::string reason;
  if (!role().master || !journal_.active() || !parts_.answer) reason = "that SM is not master any more";
  if (end->calls >= kMostCalls + kMostTold)
    reason = fmt::format("{} changes wait at the master already", kMostCalls);
  if (!reason.empty()) {
    give_answer(*end, {.id = call.id, .body = std::move(reason)});
    return end->answers.size() <= 2 * kMostCalls;  // it asks, and does not read
  }
  ++end->calls;
  tasks_.spawn(do_call(end, call));
  return true;
}

asio::awaitable<void> Replicator::do_call(std::shared_ptr<Outgoing> end, Call call) {
  const auto id = call.id;
  CallAnswer answer = co_await parts_.answer(std::move(call), end->peer.port);
  answer.id = id;
  const auto changes = changes_;
  const auto late = parts_.clock.now() + kTold;
  const auto timer = parts_.clock.call_at(late, [this] { acked_.wake_all(); });
  bool going = true;
  while (going && journal_.active() && told_changes_ < changes && parts_.clock.now() < late)
    going = co_await acked_.wait();
  parts_.clock.cancel(timer);
  if (journal_.active()) answer.at = journal_.latest();
  --end->calls;
  give_answer(*end, answer);
}

void Replicator::give_answer(Outgoing& end, const CallAnswer& answer) {
  end.answers.push_back(std::make_shared<const Bytes>(encode(answer)));
  end.wake.wake_all();
}

}  // namespace smd::replica
