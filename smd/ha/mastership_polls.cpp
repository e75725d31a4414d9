// SPDX-License-Identifier: Apache-2.0
// What takes time: the SM's place on the port, and polls of other SMs. IBA 14.4: of two masters the
// lower-ranked one sends HANDOVER, and the other waits for it before it writes.
#include <algorithm>
#include <utility>

#include "mad/suspend.h"
#include "mad/transactions/ask.h"
#include "smd/ha/mastership.h"
#include "smd/ha/other_sms.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline availability {
namespace {

/// How long a lower-ranked master may take to send HANDOVER: OpenSM sends it after its next light sweep (10
/// s). After that we are its standby: HANDOVER counts then as well, and trap 144 asks for it. One that cannot
/// see us, because our ports have an M_Key that it does not know, never sends it, and is to have the fabric.
constexpr auto kContestPatience = std::chrono::seconds(15);

/// How long an SM that has got HANDOVER may take to be master. One that acknowledges it takes the fabric, and
/// reads all of it before where it has no copy. OpenSM acknowledges nothing, and is master at once.
constexpr auto kAcknowledgedPatience = std::chrono::seconds(50), kHandoverPatience = std::chrono::seconds(5);

/// How long a master that has stood still may take to find that it was replaced: smd asks the SMs that it
/// knows, and sweeps. OpenSM keeps to the ranks.
constexpr auto kReturnPatience = std::chrono::seconds(10);

}  // namespace

asio::awaitable<bool> Mastership::start(ClaimSm* claim_sm, bool watch) {
  agent_.listen();
  const bool claimed = co_await claim(claim_sm);
  if (!claimed) co_return false;
  standstill_.start();
  if (watch) parts_.tasks.spawn(watch_others());
  if (watch) parts_.tasks.spawn(watch_copies());
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

/// Until the time, or until work is requested. False when cancelled.
asio::awaitable<bool> Mastership::agenda_or(mad::TimePoint until) {
  const auto timer = parts_.clock.call_at(until, [this] { parts_.agenda.wake(); });
  const bool woken = co_await parts_.agenda.changed();
  parts_.clock.cancel(timer);
  co_return woken;
}

namespace {

/// One poll by several ways, of which one answer is enough.
struct PollWays {
  std::optional<wire::SmInfo> answer;
  std::string reason;    ///< why a way has no answer
  std::size_t open = 0;  ///< ways that may still have one
  bool by_lid = false;   ///< the LID has answered
  bool enough = false;   ///< there is an answer, and the other way has had its time
  mad::WaitList ended;
};

mad::Request poll_request(const mad::Target& target, mad::Duration wait) {
  auto request = mad::get_request<wire::SmInfo>(target);
  request.single_try = wait;
  return request;
}

/// Fills in what has come by one way. `port`: a LID may lead to another SM by now.
mad::Completion poll_ended(std::shared_ptr<PollWays> ways, std::optional<Guid> port) {
  return [ways = std::move(ways), port](const mad::Answer& answer) {
    --ways->open;
    if (!answer) ways->reason = to_string(answer.error());
    const auto info = answer ? std::optional(answer->get<wire::SmInfo>()) : std::nullopt;
    const bool meant = info && (!port || info->guid == *port);
    if (meant && port) ways->by_lid = true;
    if (meant && !ways->answer) ways->answer = info;
    ways->ended.wake_all();
  };
}

/// Polls by LID without one answer after which no more are sent; and that there was an answer.
constexpr std::uint32_t kUselessLid = 8, kUsefulLid = ~std::uint32_t{0};

}  // namespace

/// One poll of State::polled, by directed route (`path`: nothing where no route leads to it) and by LID.
/// False when cancelled.
asio::awaitable<bool> Mastership::poll(std::optional<mad::DirectedPath> path, OtherSm sm) {
  const auto wait = mad::Duration(parts_.config->ha.poll_interval());
  const auto ways = std::make_shared<PollWays>();
  std::vector<mad::Transactions::RequestId> ids;
  const auto target = [&](mad::Route route) {
    return parts_.subnet ? target_of(*parts_.subnet, sm.at, std::move(route))
                         : mad::Target{.route = std::move(route), .node = sm.at.node};
  };
  const auto ask = [&](mad::Route route, std::optional<Guid> port) {
    ++ways->open;
    ids.push_back(parts_.tx.submit(poll_request(target(std::move(route)), wait), poll_ended(ways, port)));
  };
  const bool useful = lid_unanswered_ < kUselessLid || lid_unanswered_ == kUsefulLid;
  const bool by_lid = sm.lid.unicast() && useful;
  if (path) ask(*path, std::nullopt);
  if (by_lid) ask(mad::LidRoute{.lid = sm.lid}, sm.info.guid);
  if (ids.empty()) {
    on(machine::PollUnroutable{});
    co_return true;
  }
  bool waits = true;
  mad::Clock::TimerId timer = 0;
  while (waits && ways->open != 0 && !ways->enough) {
    if (ways->answer && timer == 0) {
      timer = parts_.clock.call_at(parts_.clock.now() + wait / 10, [ways] {
        ways->enough = true;
        ways->ended.wake_all();
      });
    }
    waits = co_await ways->ended.wait();
  }
  if (timer != 0) parts_.clock.cancel(timer);
  if (ways->by_lid) lid_unanswered_ = kUsefulLid;
  if (by_lid && path && ways->answer && lid_unanswered_ != kUsefulLid) ++lid_unanswered_;
  for (const auto id : ids) parts_.tx.cancel(id);
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled || !waits) co_return false;
  if (ways->answer) {
    note(*ways->answer);
    if (ways->answer->state == wire::SmState::master) polled_at_ = parts_.clock.now();
    sm.info = *ways->answer;
    on(machine::PollAnswered{by_place(std::move(sm)).info});
  } else {
    on(machine::PollUnanswered{ways->reason});
  }
  co_return true;
}

/// Where the fabric was handed over the SM that has it may give way to one that outranks it, and never be
/// master. Asks the SMs that are known, one try each.
asio::awaitable<bool> Mastership::another_is_master() {
  constexpr auto kOneTry = std::chrono::milliseconds(100);
  const auto subnet = parts_.subnet;
  if (!subnet || !state_.yielded) co_return false;
  const auto to = state_.yielded->to;
  const Paths paths(*subnet);
  for (const auto& other : subnet->other_sms) {
    if (other.info.guid == to || state_.hung.contains(other.info.guid)) continue;
    const auto path = path_to(paths, *subnet, other);
    if (!path) continue;
    const auto info =
        co_await mad::get_once<wire::SmInfo>(parts_.tx, target_of(*subnet, other.at, *path), kOneTry);
    auto now = other;
    if (info) now.info = *info;
    const bool master = info && info->state == wire::SmState::master;
    if (master && state_.policy.allows(by_place(std::move(now)).info.guid)) co_return true;
  }
  co_return false;
}

asio::awaitable<Mastership::Wait> Mastership::await_handover() {
  const auto other = state_.polled->sm;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, other);
  const bool returns = machine::outranked_by_replaced(state_, other.info);
  const auto end = parts_.clock.now() + (returns ? kReturnPatience : kContestPatience);
  auto next = parts_.clock.now() + parts_.config->ha.poll_interval();
  while (parts_.clock.now() < end) {
    const bool woken = co_await agenda_or(next);
    if (!woken) co_return Wait::cancelled;
    if (!state_.polled) co_return Wait::settled;  // by HANDOVER
    if (parts_.clock.now() < next) continue;
    next = parts_.clock.now() + parts_.config->ha.poll_interval();
    const bool polled = co_await poll(path, other);
    if (!polled) co_return Wait::cancelled;
    if (!state_.polled) co_return Wait::settled;
  }
  on(machine::PatienceOver{});
  co_return state_.sm == wire::SmState::master ? Wait::settled : Wait::conceded;
}

asio::awaitable<bool> Mastership::stand_by(std::function<bool()> look_again) {
  on(machine::PollingBegins{});
  const auto master = state_.polled->sm;
  auto subnet = parts_.subnet;
  auto path = path_to(Paths(*subnet), *subnet, master);
  const auto began = parts_.clock.now();
  lid_unanswered_ = 0;
  auto next = parts_.clock.now();
  for (;;) {
    next = std::max(next + parts_.config->ha.poll_interval(), parts_.clock.now());
    while (parts_.clock.now() < next) {
      if (parts_.agenda.asks(Work::heavy)) co_return true;
      const bool woken = co_await agenda_or(next);
      if (!woken) co_return false;
    }
    if (parts_.agenda.asks(Work::heavy)) co_return true;
    if (state_.sm == wire::SmState::not_active) continue;
    if (parts_.subnet != subnet) {  // a standby looks at the fabric meanwhile
      subnet = parts_.subnet;
      path = path_to(Paths(*subnet), *subnet, master);
    }
    const bool polled = co_await poll(path, master);
    if (!polled) co_return false;
    if (state_.yielded) {
      const bool another = co_await another_is_master();
      const bool acknowledged = state_.yielded && state_.yielded->acknowledged;
      const auto patience = acknowledged ? kAcknowledgedPatience : kHandoverPatience;
      if (another || parts_.clock.now() >= began + patience) on(machine::PatienceOver{});
    }
    if (!state_.polled) co_return true;
    if (state_.polled->unanswered == 0 && look_again()) co_return true;
  }
}

/// While we are master: SMs that were silent are polled as a standby polls its master. One that wakes up may
/// believe that it is still master. SMs that read the fabric are asked until they are standby: only a standby
/// can have the fabric.
asio::awaitable<void> Mastership::watch_others() {
  for (;;) {
    const bool time = co_await parts_.clock.sleep(parts_.config->ha.poll_interval());
    if (!time) co_return;
    const auto subnet = parts_.subnet;
    if (!subnet || subnet->other_sms.empty() || state_.sm != wire::SmState::master) continue;
    const Paths paths(*subnet);
    for (auto other : subnet->other_sms) {
      const auto last = answers_.find(other.info.guid);
      const bool reads = last != answers_.end() && last->second.first.state == wire::SmState::discovering;
      const auto path = other.answered && !reads ? std::nullopt : path_to(paths, *subnet, other);
      if (!path) continue;
      const auto target = target_of(*subnet, other.at, *path);
      const auto wait = mad::Duration(parts_.config->ha.poll_interval());
      const auto info = co_await mad::get_once<wire::SmInfo>(parts_.tx, target, wait);
      if (!info) continue;
      note(*info);
      if (!other.answered && info->state == wire::SmState::master) {
        on(machine::SilentMasterAnswered{});
      } else if (!other.answered) {
        look_at_sm(other.at.node, "a silent SM answers");
      } else {
        other.info = *info;
        look_at_copies();
        on(machine::RankTold{by_place(std::move(other))});
      }
    }
  }
}

}  // namespace smd::sm::inline availability
