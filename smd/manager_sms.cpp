// SPDX-License-Identifier: Apache-2.0
// Other SMs that are master, silent, or awake again. IBA 14.4: of two masters the lower-ranked one sends
// HANDOVER, and the other waits for it before it writes.
#include <fmt/format.h>

#include <utility>

#include "mad/transactions/ask.h"
#include "mad/wire/capability.h"
#include "smd/ha/other_sms.h"
#include "smd/manager.h"

namespace smd::sm {
namespace {

/// How long a lower-ranked master may take to send HANDOVER: OpenSM sends it after its next light sweep (10
/// s) and itself waits for five polls of 10 s.
constexpr auto kHandoverPatience = std::chrono::seconds(50);

}  // namespace

/// On a beat of standstill_, or before a Set.
void SubnetManager::stood_still(mad::Duration took) {
  sets_held_ = true;
  parts_.log.warn("sm.stood_still")
      .kv("seconds", fmt::format("{:.1f}", std::chrono::duration<double>(took).count()))
      .kv("action", "no Set until the other SMs and our own port have been asked who is master")
      .always();
  agenda_.add(Work::light, "stood still");
}

/// By what the last sweep has read of the sender's port, else by reading it now.
void SubnetManager::is_sm(const mad::Received& from, const wire::Smp& request, SmLookup::Answer answer) {
  std::optional<PeerPort> place;
  std::optional<mad::DirectedPath> back;
  if (request.is_directed()) {
    back = path_back(request);
    if (!back) return answer(false);  // a program on our own port
    if (loop_.subnet()) place = port_at(*loop_.subnet(), *back);
  } else if (loop_.subnet()) {
    if (!lids_.is_of(loop_.subnet().get())) lids_ = LidIndex(loop_.subnet());
    const auto found = lids_.find(from.from.lid);
    if (found.node != nullptr) place = PeerPort{found.node->guid(), found.port};
  }
  if (place) {
    const auto& node = *loop_.subnet()->find(place->node);
    const auto& port = node.ports[node.is_switch() ? 0 : place->port.value()];
    const auto guid = node.is_switch() ? node.guid() : port.guid;
    const bool belongs = config_->sm.allowed_guids.empty() || known_sm(guid);
    if (port.known && (port.info.capability_mask & wire::kCapIsSm) != 0) return answer(belongs);
  }
  const auto way = [&]() -> std::optional<mad::DirectedPath> {
    const auto index = place && !back ? loop_.subnet()->index_of(place->node) : std::nullopt;
    return index ? Paths(*loop_.subnet()).to_port(*loop_.subnet(), *index, place->port) : back;
  };
  sm_lookup_.ask({from.from.lid, back}, way, config_->sm.allowed_guids, std::move(answer));
}

/// Who is master has been read since the last standstill.
void SubnetManager::allow_sets() {
  if (standstill_.count() == standstills_seen_) sets_held_ = false;
}

/// After a standstill: the SMs that are known and our own port, Gets only. Sets stay held where one of them
/// says that another SM may be master: then a heavy sweep decides. False when cancelled.
asio::awaitable<bool> SubnetManager::look_at_sms() {
  const auto subnet = loop_.subnet();
  const Paths paths(*subnet);
  mad::TaskGroup group(parts_.executor);
  Looked found;
  for (const auto& other : subnet->other_sms) {
    const auto path = path_to(paths, *subnet, other);
    if (path) group.spawn(look_at_sm(mad::Target{.route = *path, .node = other.at.node}, &found));
  }
  group.spawn(look_at_own_port(subnet, &found));
  co_await group.join();
  co_await group.stop();
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
  learn_of_sms(found);
  if (!found.heavy) allow_sets();
  co_return true;
}

/// We are master, and so is `to`, which ranks above us. Afterwards we are its standby, answered or not: it is
/// master.
asio::awaitable<void> SubnetManager::hand_over(OtherSm to) {
  const Paths paths(*loop_.subnet());
  const auto path = path_to(paths, *loop_.subnet(), to);
  allow_sets();
  agent_.set_state(wire::SmState::standby);
  if (!path) co_return;
  const mad::Target target{.route = *path, .node = to.at.node};
  auto own = agent_.info();
  own.state = wire::SmState::master;  // what makes the HANDOVER valid
  if (!config_->sm.allowed_guids.empty() && !known_sm(to.info.guid)) own.sm_key = 0;
  const auto answer = co_await mad::set<wire::SmInfo>(tx_, target, own,
                                                      static_cast<std::uint32_t>(wire::SmControl::handover));
  auto&& event = answer ? parts_.log.info("sm.handover") : parts_.log.warn("sm.handover");
  event.port(to.at.node, to.node_description, to.at.port).kv("sm_guid", to.info.guid);
  event.kv("priority", to.info.priority).kv("answer", answer ? "taken" : to_string(answer.error())).always();
}

/// Until the time, or until work is asked for. False when cancelled.
asio::awaitable<bool> SubnetManager::pause_or_asked(mad::TimePoint until) {
  const auto timer = parts_.clock.call_at(until, [this] { agenda_.wake(); });
  const bool woken = co_await agenda_.changed();
  parts_.clock.cancel(timer);
  co_return woken;
}

/// Another master ranks below us: nothing is written until it hands over, is no master any more, or is
/// silent. One that goes on being master keeps the fabric. False when cancelled.
asio::awaitable<bool> SubnetManager::await_handover() {
  const auto other = *other_master();
  const Paths paths(*loop_.subnet());
  const auto path = path_to(paths, *loop_.subnet(), other);
  const auto end = parts_.clock.now() + kHandoverPatience;
  auto next = parts_.clock.now() + config_->ha.poll;
  unsigned unanswered = 0;
  while (parts_.clock.now() < end) {
    const bool time = co_await pause_or_asked(next);
    if (!time) co_return false;
    if (agent_.handed_over_by() == other.info.guid) co_return true;
    if (parts_.clock.now() < next) continue;
    next = parts_.clock.now() + config_->ha.poll;
    std::optional<wire::SmInfo> info;
    if (path) {
      const mad::Target target{.route = *path, .node = other.at.node};
      const auto answer = co_await mad::get_once<wire::SmInfo>(tx_, target, config_->ha.poll);
      const auto cancellation = co_await asio::this_coro::cancellation_state;
      if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
      if (answer) info = *answer;
    }
    if (info && info->state != wire::SmState::master) co_return true;
    unanswered = info ? 0 : unanswered + 1;
    if (unanswered < config_->ha.losses) continue;
    silent_sms_.insert(other.info.guid);
    co_return true;
  }
  parts_.log.warn("sm.no_handover")
      .port(other.at.node, other.node_description, other.at.port)
      .kv("sm_guid", other.info.guid)
      .kv("priority", other.info.priority)
      .kv("action", "it stays master, this SM stands by")
      .always();
  agent_.set_state(wire::SmState::standby);
  contested_ = false;
  summary_ = {};
  summary_.subnet = name_;
  summary_.reason = "no HANDOVER";
  summarise(tx_.counters());
  publish();
  co_return true;
}

/// While we are master: SMs that were silent are polled as a standby polls its master. One that wakes up may
/// believe that it is still master.
asio::awaitable<void> SubnetManager::watch_silent_sms() {
  for (;;) {
    const bool time = co_await pause(config_->ha.poll);
    if (!time) co_return;
    const auto subnet = loop_.subnet();
    if (!subnet || agent_.state() != wire::SmState::master) continue;
    const Paths paths(*subnet);
    for (const auto& other : subnet->other_sms) {
      const auto path = other.answered ? std::nullopt : path_to(paths, *subnet, other);
      if (!path) continue;
      const mad::Target target{.route = *path, .node = other.at.node};
      const auto info = co_await mad::get_once<wire::SmInfo>(tx_, target, config_->ha.poll);
      if (!info) continue;
      const bool masters = info->state == wire::SmState::master;
      agenda_.add(Work::heavy, masters ? "a silent SM answers as master" : "a silent SM answers");
    }
  }
}

}  // namespace smd::sm
