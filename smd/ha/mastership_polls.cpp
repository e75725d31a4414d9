// SPDX-License-Identifier: Apache-2.0
// What takes time: the SM's place on the port, polls of other SMs, and HANDOVER. IBA 14.4: of two masters the
// lower-ranked one sends HANDOVER, and the other waits for it before it writes.
#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/ha/mastership.h"
#include "smd/ha/other_sms.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline availability {
namespace {

/// How long a lower-ranked master may take to send HANDOVER: OpenSM sends it after its next light sweep (10
/// s) and itself waits for five polls of 10 s.
constexpr auto kHandoverPatience = std::chrono::seconds(50);

asio::awaitable<bool> is_cancelled() {
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  co_return cancellation.cancelled() != asio::cancellation_type::none;
}

}  // namespace

asio::awaitable<bool> Mastership::start(ClaimSm* claim_sm, bool watch_silent) {
  agent_.listen();
  const bool claimed = co_await claim(claim_sm);
  if (!claimed) co_return false;
  standstill_.start();
  if (watch_silent) parts_.tasks.spawn(watch_silent_sms());
  co_return true;
}

/// A place that another SM has taken is reported once.
asio::awaitable<bool> Mastership::claim(ClaimSm* claim_sm) {
  std::string said;
  for (;;) {
    const auto claimed = (*claim_sm)();
    if (claimed) co_return true;
    if (std::exchange(said, claimed.error()) != claimed.error()) {
      parts_.log.warn("sm.place_taken").kv("reason", claimed.error()).always();
    }
    const bool time = co_await parts_.clock.sleep(std::chrono::seconds(1));
    if (!time) co_return false;
  }
}

asio::awaitable<void> Mastership::send_handover() {
  const auto wanted = std::exchange(handover_, std::nullopt);
  if (!wanted) co_return;
  const auto& to = wanted->to;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, to);
  if (!path) co_return;
  const mad::Target target{.route = *path, .node = to.at.node};
  auto own = agent_.info();
  own.state = wire::SmState::master;  // what makes the HANDOVER valid
  if (!wanted->with_sm_key) own.sm_key = 0;
  const auto answer = co_await mad::set<wire::SmInfo>(parts_.tx, target, own,
                                                      static_cast<std::uint32_t>(wire::SmControl::handover));
  auto&& event = answer ? parts_.log.info("sm.handover") : parts_.log.warn("sm.handover");
  event.port(to.at.node, to.node_description, to.at.port).kv("sm_guid", to.info.guid);
  event.kv("priority", to.info.priority).kv("answer", answer ? "taken" : to_string(answer.error())).always();
}

/// Until the time, or until work is requested. False when cancelled.
asio::awaitable<bool> Mastership::agenda_or(mad::TimePoint until) {
  const auto timer = parts_.clock.call_at(until, [this] { parts_.agenda.wake(); });
  const bool woken = co_await parts_.agenda.changed();
  parts_.clock.cancel(timer);
  co_return woken;
}

/// One poll of State::polled; `path`: nothing where no route leads to it. False when cancelled.
asio::awaitable<bool> Mastership::poll(std::optional<mad::DirectedPath> path, Guid node) {
  if (!path) {
    on(machine::PollUnroutable{});
    co_return true;
  }
  const mad::Target target{.route = *path, .node = node};
  const auto info = co_await mad::get_once<wire::SmInfo>(parts_.tx, target, parts_.config->ha.poll);
  const bool cancelled = co_await is_cancelled();
  if (cancelled) co_return false;
  if (info) {
    on(machine::PollAnswered{*info});
  } else {
    on(machine::PollUnanswered{to_string(info.error())});
  }
  co_return true;
}

asio::awaitable<Mastership::Wait> Mastership::await_handover() {
  const auto other = state_.polled->sm;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, other);
  const auto end = parts_.clock.now() + kHandoverPatience;
  auto next = parts_.clock.now() + parts_.config->ha.poll;
  while (parts_.clock.now() < end) {
    const bool woken = co_await agenda_or(next);
    if (!woken) co_return Wait::cancelled;
    if (!state_.polled) co_return Wait::settled;  // by HANDOVER
    if (parts_.clock.now() < next) continue;
    next = parts_.clock.now() + parts_.config->ha.poll;
    const bool polled = co_await poll(path, other.at.node);
    if (!polled) co_return Wait::cancelled;
    if (!state_.polled) co_return Wait::settled;
  }
  on(machine::PatienceOver{});
  co_return Wait::conceded;
}

asio::awaitable<bool> Mastership::stand_by(std::function<bool()> look_again) {
  on(machine::PollingBegins{});
  const auto master = state_.polled->sm;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, master);
  auto next = parts_.clock.now();
  for (;;) {
    next = std::max(next + parts_.config->ha.poll, parts_.clock.now());
    const bool time = co_await parts_.clock.until(next);
    if (!time) co_return false;
    if (parts_.agenda.asks(Work::heavy)) co_return true;
    if (state_.sm == wire::SmState::not_active) continue;
    const bool polled = co_await poll(path, master.at.node);
    if (!polled) co_return false;
    if (!state_.polled) co_return true;
    if (state_.polled->unanswered == 0 && look_again()) co_return true;
  }
}

/// While we are master: SMs that were silent are polled as a standby polls its master. One that wakes up may
/// believe that it is still master.
asio::awaitable<void> Mastership::watch_silent_sms() {
  for (;;) {
    const bool time = co_await parts_.clock.sleep(parts_.config->ha.poll);
    if (!time) co_return;
    const auto subnet = parts_.subnet;
    if (!subnet || state_.sm != wire::SmState::master) continue;
    const Paths paths(*subnet);
    for (const auto& other : subnet->other_sms) {
      const auto path = other.answered ? std::nullopt : path_to(paths, *subnet, other);
      if (!path) continue;
      const mad::Target target{.route = *path, .node = other.at.node};
      const auto info = co_await mad::get_once<wire::SmInfo>(parts_.tx, target, parts_.config->ha.poll);
      if (info) on(machine::SilentSmAnswered{*info});
    }
  }
}

}  // namespace smd::sm::inline availability
