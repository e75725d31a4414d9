// SPDX-License-Identifier: Apache-2.0
// How the fabric goes from one SM to another while both live: HANDOVER and ACKNOWLEDGE, trap 144 with
// SMPriorityChange, and what an operator wants.
#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "mad/wire/trap.h"
#include "smd/ha/mastership.h"
#include "smd/ha/other_sms.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline availability {
namespace {

/// How long the end of a process waits for the standby, and between two looks.
constexpr mad::Duration kLeave = std::chrono::seconds(1), kLeaveLook = std::chrono::milliseconds(20);

/// Between two looks at what standbys have copied: the view says who gets the fabric.
constexpr mad::Duration kLookAtCopies = std::chrono::milliseconds(200);

/// How long a standby that outranks us may take to copy what we have committed.
constexpr mad::Duration kCopyPatience = std::chrono::seconds(10);

/// Tries of trap 144 without a TrapRepress.
constexpr unsigned kMostTraps = 5;

/// Trap 144: CapabilityMask as it is, and SMPriorityChange.
wire::Notice rank_notice(const wire::PortInfo& own, bool is_switch) {
  const wire::LocalChangeDetails details{.lid = own.lid,
                                         .other_local_changes = true,
                                         .capability_mask = own.capability_mask,
                                         .sm_priority_change = true,
                                         .capability_mask2 = own.capability_mask2};
  return wire::generic_notice(wire::NoticeType::informational,
                              is_switch ? wire::kProducerSwitch : wire::kProducerCa, wire::trap::kLocalChange,
                              own.lid, details);
}

}  // namespace

asio::awaitable<void> Mastership::send_handover() {
  const auto wanted = std::exchange(handover_, std::nullopt);
  if (!wanted) co_return;
  const auto to = wanted->to;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, to);
  if (!path) {
    on(machine::HandoverAnswered{to.info.guid, false, "no route leads to it"});
    co_return;
  }
  const auto target = target_of(*parts_.subnet, to.at, *path);
  auto own = agent_.info();
  own.state = wire::SmState::master;  // what makes the HANDOVER valid
  if (parts_.settle) co_await parts_.settle(to.info.guid);
  const auto answer = co_await mad::set<wire::SmInfo>(parts_.tx, target, own,
                                                      static_cast<std::uint32_t>(wire::SmControl::handover));
  if (!answer && answer.error().fault == mad::Fault::closed) co_return;
  const auto said = answer ? std::string("taken") : to_string(answer.error());
  auto&& event = answer ? parts_.log.info("sm.handover") : parts_.log.warn("sm.handover");
  event.port(to.at.node, to.node_description, to.at.port).kv("sm_guid", to.info.guid);
  event.kv("priority", to.info.priority).kv("answer", said).always();
  on(machine::HandoverAnswered{to.info.guid, answer.has_value(), said});
}

/// To the SM that has handed over to us: it need not wait any longer.
asio::awaitable<void> Mastership::acknowledge(Guid to) {
  const auto subnet = parts_.subnet;
  if (!subnet) co_return;
  const auto found = std::ranges::find(subnet->other_sms, to, [](const OtherSm& sm) { return sm.info.guid; });
  const auto path =
      found != subnet->other_sms.end() ? path_to(Paths(*subnet), *subnet, *found) : std::nullopt;
  if (!path) co_return;
  const auto target = target_of(*subnet, found->at, *path);
  auto own = agent_.info();
  own.state = wire::SmState::standby;  // what makes it valid
  co_await mad::set<wire::SmInfo>(parts_.tx, target, own,
                                  static_cast<std::uint32_t>(wire::SmControl::acknowledge));
}

/// To MasterSMLID of our own port, until a TrapRepress comes.
asio::awaitable<void> Mastership::tell_rank(OtherSm master) {
  const auto subnet = parts_.subnet;
  const auto& self = *subnet->find(subnet->sm_node);
  const bool is_switch = self.is_switch();
  const auto ours = target_of(self, subnet->sm_port, mad::DirectedPath{});
  const auto asked = co_await mad::get_port_info(&parts_.tx, ours, subnet->sm_port, self.extended_speeds());
  if (!asked.info) co_return;
  const auto& own = *asked.info;
  const auto lid = own.sm_lid.unicast() && own.sm_lid != own.lid ? own.sm_lid : master.lid;
  auto&& event = parts_.log.info("sm.outranks_master");
  event.port(master.at.node, master.node_description, master.at.port).kv("sm_guid", master.info.guid);
  event.kv("priority", master.info.priority).kv("own_priority", rank().priority);
  event.kv("action", lid.unicast() ? "it is told by trap 144" : "it has no LID yet").always();
  if (!lid.unicast()) co_return;
  const auto target = target_of(*subnet, master.at, mad::LidRoute{.lid = lid, .sl = own.master_sm_sl});
  for (unsigned tries = 0; tries < kMostTraps && machine::outranks_master(state_); ++tries) {
    auto request = mad::request_of(wire::Method::trap, wire::Notice::kAttribute, 0, target);
    request.mad.put(rank_notice(own, is_switch));
    request.single_try = parts_.config->mad.timeout;
    const auto answer = co_await parts_.tx.request(std::move(request));
    if (answer || answer.error().fault != mad::Fault::timeout) co_return;
  }
}

void Mastership::heard(const wire::Notice& notice, Lid from) {
  const auto details = wire::details<wire::LocalChangeDetails>(notice);
  if (!details || !details->other_local_changes || !details->sm_priority_change || !parts_.subnet) return;
  if (!parts_.lids.is_of(parts_.subnet.get())) parts_.lids = LidIndex(parts_.subnet);
  const auto place = parts_.lids.find(notice.issuer_lid.unicast() ? notice.issuer_lid : from);
  if (place.node == nullptr) return;
  const auto& subnet = *parts_.subnet;
  const PeerPort at{place.node->guid(), place.port};
  if (trap_pace_.due(at.node) > parts_.clock.now()) return;
  trap_pace_.looked(at.node, parts_.clock.now());
  const auto known = std::ranges::find(subnet.other_sms, at, &OtherSm::at);
  OtherSm sm{.at = at, .node_description = place.node->description, .lid = from, .info = {}};
  if (known != subnet.other_sms.end()) sm = *known;
  const auto path = path_to(Paths(subnet), subnet, sm);
  const auto at_sm = sm.at;
  if (path) parts_.tasks.spawn(ask_rank(std::move(sm), target_of(subnet, at_sm, *path)));
}

/// Of an SM whose priority is higher, as it has told us.
asio::awaitable<void> Mastership::ask_rank(OtherSm sm, mad::Target target) {
  const auto info = co_await mad::get<wire::SmInfo>(parts_.tx, target);
  if (!info) co_return;
  note(*info);
  sm.info = *info;
  sm.answered = true;
  look_at_copies();
  on(machine::RankTold{by_place(std::move(sm))});
}

void Mastership::sms_read() {
  look_at_copies();
  on(machine::SmsRead{others()});
}

/// One that has been waited for in vain counts as one that has all.
void Mastership::look_at_copies() {
  if (!parts_.lags || !parts_.subnet || state_.sm != wire::SmState::master) return;
  std::set<Guid> lagging;
  for (const auto& other : parts_.subnet->other_sms) {
    const auto guid = other.info.guid;
    const auto awaited = copies_awaited_.find(guid);
    if (!parts_.lags(guid)) {
      if (awaited != copies_awaited_.end()) copies_awaited_.erase(awaited);
    } else if (awaited == copies_awaited_.end() || parts_.clock.now() < awaited->second + kCopyPatience) {
      lagging.insert(guid);
    }
  }
  auto have = copies();
  if (lagging != state_.lagging || have != state_.copies)
    on(machine::CopiesKnown{.lagging = std::move(lagging), .copies = std::move(have)});
}

std::map<Guid, bool> Mastership::copies() const {
  return (parts_.copies ? parts_.copies() : std::nullopt).value_or(std::map<Guid, bool>{});
}

/// Standbys copy, and fall behind, without a word to us. Ends where nothing is ever copied.
asio::awaitable<void> Mastership::watch_copies() {
  while (parts_.copies && parts_.copies()) {
    if (state_.sm == wire::SmState::master) {
      auto have = copies();
      if (have != state_.copies)
        on(machine::CopiesKnown{.lagging = state_.lagging, .copies = std::move(have)});
    }
    const bool time = co_await parts_.clock.sleep(kLookAtCopies);
    if (!time) co_return;
  }
}

void Mastership::await_copy(OtherSm of) {
  const bool first = copies_awaited_.try_emplace(of.info.guid, parts_.clock.now()).second;
  if (first) parts_.tasks.spawn(wait_for_copy(std::move(of)));
}

/// What we have committed would be lost if it were master before it has that.
asio::awaitable<void> Mastership::wait_for_copy(OtherSm of) {
  const auto guid = of.info.guid;
  const auto end = parts_.clock.now() + kCopyPatience;
  parts_.log.info("sm.handover_waits")
      .port(of.at.node, of.node_description, of.at.port)
      .kv("sm_guid", guid)
      .kv("reason", "it outranks this SM, but lacks some of what was committed here")
      .kv("seconds", std::chrono::duration_cast<std::chrono::seconds>(kCopyPatience).count())
      .always();
  while (parts_.lags(guid) && parts_.clock.now() < end) {
    const bool time = co_await parts_.clock.sleep(kLeaveLook);
    if (!time) co_return;
  }
  if (parts_.lags(guid)) {
    parts_.log.warn("sm.handover_behind")
        .port(of.at.node, of.node_description, of.at.port)
        .kv("sm_guid", guid)
        .kv("reason", "it still lacks some of what was committed here")
        .kv("action", "it gets the fabric by its rank; look whether the last changes are there")
        .always();
  } else {
    copies_awaited_.erase(guid);
  }
  if (!parts_.subnet || state_.sm != wire::SmState::master) co_return;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, of);
  const auto at = of.at;
  if (path) co_await ask_rank(std::move(of), target_of(*parts_.subnet, at, *path));
}

std::expected<OtherSm, std::string> Mastership::hand_over(std::optional<Guid> only) {
  look_at_copies();
  auto to = successor(view(), only);
  if (!to) return to;
  const bool replicated = parts_.copies && parts_.copies();
  if (replicated && !state_.copies.contains(to->info.guid)) {
    parts_.log.warn("sm.handover_uncopied")
        .port(to->at.node, to->node_description, to->at.port)
        .kv("sm_guid", to->info.guid)
        .kv("reason", "it does not copy what was committed here")
        .kv("action",
            "it gets the fabric all the same; clients have to register again there, and where it does not "
            "ask them to, services and groups that they had are gone")
        .always();
  }
  on(machine::HandOver{*to});
  return to;
}

asio::awaitable<void> Mastership::leave() {
  const auto end = parts_.clock.now() + kLeave;
  const auto to = hand_over(std::nullopt);
  if (!to) co_return;
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, *to);
  auto next_poll = parts_.clock.now() + 3 * kLeaveLook;
  while (state_.yielded && !state_.yielded->acknowledged && parts_.clock.now() < end) {
    const bool time = co_await parts_.clock.sleep(kLeaveLook);
    if (!time) co_return;
    if (parts_.clock.now() < next_poll || !state_.polled) continue;
    next_poll = parts_.clock.now() + 3 * kLeaveLook;
    const bool polled = co_await poll(path, *to);  // OpenSM sends no ACKNOWLEDGE, and reads the fabric
    if (!polled) co_return;
  }
}

void Mastership::set_priority(std::uint8_t priority) {
  const auto before = state_.self.priority;
  priority_ = {priority, parts_.config->sm.priority};
  parts_.log.info("sm.priority").kv("was", before).kv("priority", priority).always();
  if (state_.deferral != machine::Deferral::none) on(machine::DeferralOver{});
  set_port(state_.self.guid);
  if (parts_.subnet) sms_read();
}

void Mastership::begin_quiet() {
  quiet_began_ = parts_.clock.now();
  parts_.log.info("sm.quiet")
      .kv("seconds", std::chrono::duration_cast<std::chrono::seconds>(parts_.config->quiet()).count())
      .kv("reason", "another SM is master: this one does not ask for the fabric yet")
      .always();
  time_quiet();
}

void Mastership::time_quiet() {
  if (quiet_timer_ != 0) parts_.clock.cancel(std::exchange(quiet_timer_, 0));
  if (state_.deferral != machine::Deferral::quiet) return;
  quiet_timer_ = parts_.clock.call_at(quiet_began_ + mad::Duration(parts_.config->quiet()), [this] {
    quiet_timer_ = 0;
    if (state_.deferral == machine::Deferral::quiet) on(machine::DeferralOver{});
  });
}

}  // namespace smd::sm::inline availability
