// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/mastership.h"

#include <algorithm>
#include <utility>

#include "mad/suspend.h"
#include "mad/wire/capability.h"
#include "smd/ha/machine_log.h"
#include "smd/ha/other_sms.h"
#include "smd/ha/sm_changes.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline availability {
namespace {

/// Half of what a standby waits for before it becomes master: after a longer standstill another SM may be.
mad::Duration longest_standstill(const config::HaConfig& config) {
  return mad::Duration(config.poll_interval()) * config.polls_lost() / 2;
}

/// ActCount has to grow for so long with each poll before it counts: longer than between two sweeps of an SM
/// that counts requests only.
constexpr auto kSteady = std::chrono::seconds(20);

/// Reads after traps of one node: the first at once.
constexpr mad::Duration kFirstRead = std::chrono::milliseconds(100), kLastRead = std::chrono::seconds(10);
constexpr mad::Duration kFirstLook = std::chrono::seconds(10), kLastLook = std::chrono::minutes(10);

/// An SM that asks is answered after this, whether it has answered itself or not: within a poll of the fast
/// profile.
constexpr mad::Duration kHeldAnswer = std::chrono::milliseconds(20);
constexpr mad::Duration kUnheardAnswer = std::chrono::milliseconds(100);
constexpr std::size_t kMostHeld = 8;  ///< answers to one SM

template <class... Case>
struct Cases : Case... {
  using Case::operator()...;
};

machine::Policy policy_of(const config::SubnetConfig& config) {
  return {.allowed = config.sm.allowed_guids,
          .force = config.sm.force,
          .losses = config.ha.polls_lost(),
          .quiet = config.quiet().count() != 0,
          .steady = static_cast<std::uint32_t>(kSteady / config.ha.poll_interval()) + 1};
}

}  // namespace

std::optional<std::vector<OtherSm>> with_reads(std::vector<OtherSm> others, const SmReads& reads) {
  bool changed = false;
  for (auto& other : others) {
    const auto now = std::ranges::find(reads.sms, other.info.guid, &std::pair<Guid, wire::SmInfo>::first);
    if (now == reads.sms.end()) continue;
    changed = changed || !other.answered || now->second.state != other.info.state ||
              now->second.priority != other.info.priority;
    other.info = now->second;
    other.answered = true;
  }
  return changed ? std::optional{std::move(others)} : std::nullopt;
}

Mastership::Mastership(Parts parts, OnTrap on_trap)
    : parts_(std::move(parts)),
      lookup_(parts_.tx, parts_.clock, parts_.tasks),
      agent_(parts_.tx, parts_.log, state_,
             {.trap = std::move(on_trap),
              .control = [this](const mad::Received& from,
                                const wire::Smp& request) { return control(from, request); },
              .is_sm = [this](const mad::Received& from, const wire::Smp& request,
                              SmLookup::Answer answer) { is_sm(from, request, std::move(answer)); },
              .asked = [this](const mad::Received& from, const wire::Smp& request,
                              GoOn go_on) { asked_by(from, request, std::move(go_on)); },
              .m_key = [this](Lid lid) { return m_key_at(lid); }}),
      standstill_(parts_.clock, longest_standstill(parts_.config->ha),
                  [this](mad::Duration took) { on(machine::StoodStill{took}); }),
      trap_pace_(kFirstRead, kLastRead),
      asker_pace_(kFirstLook, kLastLook) {
  on(machine::PolicyChanged{policy_of(*parts_.config)});
  parts_.tx.hold_sets([this] {
    standstill_.check();
    return state_.sets_held || state_.sm != wire::SmState::master;
  });
}

Mastership::~Mastership() {
  if (quiet_timer_ != 0) parts_.clock.cancel(quiet_timer_);
}

std::uint64_t Mastership::m_key_at(Lid lid) {
  if (!parts_.subnet) return 0;
  if (!parts_.lids.is_of(parts_.subnet.get())) parts_.lids = LidIndex(parts_.subnet);
  const auto place = parts_.lids.find(lid);
  return place.node != nullptr ? m_key_of(*place.node, place.port) : 0;
}

/// The port that a Get(SMInfo) comes from; nothing: our own, or it is not known.
std::optional<PeerPort> Mastership::asker(const mad::Received& from, const wire::Smp& request) {
  if (!parts_.subnet) return std::nullopt;
  const auto place = sender_of(from, request);
  const auto* node = place ? parts_.subnet->find(place->node) : nullptr;
  if (node == nullptr || node->guid() == parts_.subnet->sm_node) return std::nullopt;
  return PeerPort{place->node, node->is_switch() ? PortNum{} : place->port};
}

void Mastership::asked_by(const mad::Received& from, const wire::Smp& request, GoOn go_on) {
  const auto at = asker(from, request);
  if (!at) return go_on();
  const auto known = std::ranges::find(parts_.subnet->other_sms, *at, &OtherSm::at);
  if (known != parts_.subnet->other_sms.end()) return known_asks(*known, std::move(go_on));
  newcomer_asks(from, request, *at);
  go_on();
}

/// An SM has begun after its port was read. It polls us as our standby: its trap was lost, and we would not
/// know of it before the next heavy sweep. Or it reads the fabric, and asks us beside its master, which alone
/// gets the trap: if that fails we are to know who outranks us before we ask the others.
void Mastership::newcomer_asks(const mad::Received& from, const wire::Smp& request, PeerPort at) {
  const bool master = state_.sm == wire::SmState::master;
  if (!master && state_.sm != wire::SmState::standby) return;
  if (master && request.is_directed()) return;  // it hears of it by a trap
  if (master)
    return look_at_sm(at.node,
                      fmt::format("SMInfo is asked for by LID {}, where no SM is known", from.from.lid));
  if (!may_look_at_sm(at.node)) return;
  is_sm(from, request, [this, newcomer = at.node](bool is) {
    if (is) newcomers_.insert(newcomer);
  });
}

/// Looks at the node of an SM keep a distance; true begins it anew.
bool Mastership::may_look_at_sm(Guid node) {
  const auto now = parts_.clock.now();
  if (asker_pace_.due(node) > now) return false;
  asker_pace_.looked(node, now);
  return true;
}

void Mastership::look_at_sm(Guid node, std::string reason) {
  if (may_look_at_sm(node)) parts_.agenda.look_at(node, std::move(reason));
}

/// One that has not asked for as long as a standby waits for its master may have taken the fabric: our port
/// had no link for a moment, which nothing else tells. It is asked before it hears that we are master.
void Mastership::known_asks(const OtherSm& sm, GoOn go_on) {
  const auto guid = sm.info.guid;
  const auto now = parts_.clock.now();
  const auto [last, is_first] = asked_at_.try_emplace(guid, now);
  const auto unheard = now - std::exchange(last->second, now);
  const auto held = held_answers_.find(guid);
  if (held != held_answers_.end() && held->second.size() < kMostHeld)
    return held->second.push_back(std::move(go_on));
  const auto answer = answers_.find(guid);
  const auto& info = answer != answers_.end() ? answer->second.first : sm.info;
  const bool had_fabric = state_.sm == wire::SmState::master && !state_.contested && !state_.alone;
  const bool doubted = !is_first && unheard > longest_standstill(parts_.config->ha);
  const bool was_standby = info.state != wire::SmState::master && state_.replaced != guid;
  if (held != held_answers_.end() || !had_fabric || !doubted || !was_standby) return go_on();
  const auto path = path_to(Paths(*parts_.subnet), *parts_.subnet, sm);
  if (!path) return go_on();
  held_answers_[guid].push_back(std::move(go_on));
  parts_.tasks.spawn(ask_unheard(sm, target_of(*parts_.subnet, sm.at, *path)));
  parts_.tasks.spawn(answer_in_time(guid));
}

asio::awaitable<void> Mastership::ask_unheard(OtherSm sm, mad::Target target) {
  const auto guid = sm.info.guid;
  const auto info = co_await mad::get_once<wire::SmInfo>(parts_.tx, target, kUnheardAnswer);
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) co_return;
  if (info) {
    note(*info);
    sm.info = *info;
    on(machine::UnheardSmAnswered{by_place(std::move(sm)).info});
  }
  answer_held(guid);
}

/// The window of requests may be full.
asio::awaitable<void> Mastership::answer_in_time(Guid asker) {
  const bool time = co_await parts_.clock.sleep(kHeldAnswer);
  if (time) answer_held(asker);
}

void Mastership::answer_held(Guid asker) {
  auto held = held_answers_.extract(asker);
  if (held.empty()) return;
  for (auto& go_on : held.mapped()) go_on();
}

void Mastership::set_port(Guid port) {
  const auto& sm = parts_.config->sm;
  if (priority_ && priority_->second != sm.priority) priority_.reset();
  const auto priority = priority_ ? priority_->first : sm.priority;
  on(machine::IdentityKnown{{priority, port}, sm.master_priority.value_or(priority), sm.sm_key});
}

void Mastership::configure() {
  on(machine::PolicyChanged{policy_of(*parts_.config)});
  set_port(state_.self.guid);
  standstill_.set_limit(longest_standstill(parts_.config->ha));
  time_quiet();
  if (parts_.subnet) sms_read();
}

std::uint16_t Mastership::on(const machine::Event& event) {
  auto step = machine::step(std::move(state_), event);
  state_ = std::move(step.next);
  std::uint16_t status = wire::kStatusOk;
  for (auto& action : step.actions) execute(std::move(action), &status);
  const bool sweeps = std::holds_alternative<machine::SweepRead>(event);
  if (handover_ && !sweeps) parts_.tasks.spawn(send_handover());  // else by the sweep itself
  parts_.sms->set(std::make_shared<SmView>(view()));
  return status;
}

void Mastership::execute(machine::Action&& action, std::uint16_t* status) {
  std::visit(Cases{[&](machine::Answer& answer) { *status = answer.status; },
                   [&](machine::RequestSweep& request) {
                     parts_.agenda.add(request.heavy ? Work::heavy : Work::light, std::move(request.reason));
                     if (request.at_once) parts_.agenda.hurry();
                   },
                   [&](machine::Follow&) { parts_.agenda.add(Work::follow, "HANDOVER"); },
                   [&](machine::BeginQuiet&) { begin_quiet(); },
                   [&](machine::AwaitCopy& wait) { await_copy(std::move(wait.of)); },
                   [&](machine::SendAcknowledge& ack) { parts_.tasks.spawn(acknowledge(ack.to)); },
                   [&](machine::TellRank& tell) { parts_.tasks.spawn(tell_rank(std::move(tell.master))); },
                   [&](machine::SendHandover& handover) { handover_ = std::move(handover); },
                   [&](machine::Became& change) {
                     write(parts_.log, change);
                     parts_.events.publish(events::SmStateChanged{.from = change.from, .to = change.to});
                     if (change.to != wire::SmState::master) return;
                     master_since_ = parts_.clock.now();
                     copies_awaited_.clear();
                   },
                   [&](machine::LogControl& accepted) {
                     write(parts_.log, accepted);
                     parts_.events.publish(events::SmControlReceived{.control = accepted.control,
                                                                     .from = accepted.from.guid,
                                                                     .priority = accepted.from.priority});
                   },
                   [&](auto& line) { write(parts_.log, line); }},
             action);
}

/// After one that has failed nothing is polled.
void Mastership::begin_sweep() {
  if (state_.sm == wire::SmState::master || state_.handed_over_by) followed_.reset();
  if (state_.sm != wire::SmState::master && !state_.handed_over_by && state_.polled)
    followed_ = state_.polled->sm;
  on(machine::SweepBegins{});
}

/// The local side may not have known our port's GUID at the start; the fabric does.
machine::Verdict Mastership::observed(bool whole, bool dry_run) {
  const auto& subnet = *parts_.subnet;
  if (const auto* self = subnet.find(subnet.sm_node); self != nullptr)
    set_port(port_guid(*self, subnet.sm_port));
  const auto is_gone = [&](const auto& entry) {
    return std::ranges::none_of(subnet.other_sms,
                                [&](const OtherSm& sm) { return sm.info.guid == entry.first; });
  };
  std::erase_if(answers_, is_gone);
  std::erase_if(asked_at_, is_gone);
  for (const auto& other : subnet.other_sms) {
    if (other.answered) note(other.info);
  }
  look_at_copies();
  on(machine::SweepRead{.others = others_after(std::exchange(followed_, std::nullopt)),
                        .whole = whole,
                        .dry_run = dry_run,
                        .cut_off = is_cut_off(subnet)});
  return machine::verdict(state_);
}

void Mastership::report_sms() {
  auto now = others();
  log_sms(parts_.log, sm_changes(reported_, now));
  reported_ = std::move(now);
  parts_.sms->set(std::make_shared<SmView>(view()));
}

void Mastership::note(const wire::SmInfo& info) { answers_[info.guid] = {info, parts_.wall()}; }

SmView Mastership::view() const {
  const auto& ha = parts_.config->ha;
  SmView view{.state = state_,
              .shown = machine::shown(state_),
              .act_count = agent_.act_count(),
              .quiet_until = 0,
              .takeover = mad::Duration(ha.poll_interval()) * (ha.polls_lost() + 1),
              .polled_at = polled_at_,
              .others = {}};
  if (state_.deferral == machine::Deferral::quiet) {
    const auto left = quiet_began_ + mad::Duration(parts_.config->quiet()) - parts_.clock.now();
    view.quiet_until = parts_.wall() + std::chrono::ceil<std::chrono::seconds>(left).count();
  }
  if (!parts_.subnet) return view;
  for (const auto& other : parts_.subnet->other_sms) {
    auto& seen = view.others.emplace_back(SeenSm{.sm = other});
    const auto answer = answers_.find(other.info.guid);
    const bool known = answer != answers_.end();
    if (known && other.answered) seen.sm.info = answer->second.first;
    if (known) seen.seen = answer->second.second;
    seen.sm = by_place(std::move(seen.sm));
  }
  return view;
}

std::uint16_t Mastership::control(const mad::Received& from, const wire::Smp& request) {
  const auto info = request.get<wire::SmInfo>();
  const auto& policy = state_.policy;
  const auto at = sender_of(from, request);
  const bool listed = policy.allowed.empty() || (at && policy.lists(port_guid_at(*at)));
  return on(machine::ControlReceived{.control = static_cast<wire::SmControl>(request.modifier()),
                                     .from = info,
                                     .from_known_master = at && is_known_master(*at, info.guid),
                                     .from_stranger = !listed});
}

/// The SM on this port has this GUID, and is master.
bool Mastership::is_known_master(const PeerPort& at, Guid guid) const {
  return std::ranges::any_of(parts_.subnet->other_sms, [&](const OtherSm& other) {
    const bool is_there =
        other.at.node == at.node && (other.at.port == PortNum{} || other.at.port == at.port);
    return is_there && other.info.guid == guid && other.info.state == wire::SmState::master;
  });
}

/// 0: it is not known.
Guid Mastership::port_guid_at(const PeerPort& at) const {
  const auto* node = parts_.subnet ? parts_.subnet->find(at.node) : nullptr;
  return node != nullptr && at.port.value() < node->ports.size() ? port_guid(*node, at.port) : Guid{};
}

/// An SM says any GUID: where [sm] allowed_guids does not name its port, it has that of the port.
OtherSm Mastership::by_place(OtherSm sm) const {
  const auto guid = port_guid_at(sm.at);
  if (guid != Guid{} && !state_.policy.allows(guid)) sm.info.guid = guid;
  return sm;
}

/// The other SMs of the current Subnet.
std::vector<OtherSm> Mastership::others() const {
  auto all = parts_.subnet->other_sms;
  for (auto& other : all) other = by_place(std::move(other));
  return all;
}

/// What a sweep has found. Where it could not read the port of the SM that we follow (an M_Key that is not
/// known here, a node that hangs) that is one that does not answer: its polls decide.
std::vector<OtherSm> Mastership::others_after(std::optional<OtherSm> followed) const {
  auto all = others();
  if (!followed || std::ranges::find(all, followed->at, &OtherSm::at) != all.end()) return all;
  const auto* node = parts_.subnet->find(followed->at.node);
  const std::size_t port = node != nullptr && node->is_switch() ? 0 : followed->at.port.value();
  const bool is_read = node != nullptr && port < node->ports.size() && node->ports[port].known;
  if (is_read) return all;
  followed->answered = false;
  all.push_back(*std::move(followed));
  return all;
}

/// The port that a request came from; nothing: it is our own, or not known.
std::optional<PeerPort> Mastership::sender_of(const mad::Received& from, const wire::Smp& request) {
  const auto back = request.is_directed() ? path_back(request) : std::nullopt;
  if (request.is_directed() && !back) return std::nullopt;
  return place_of(from, back);
}

/// The port that a request came from, as far as the current Subnet knows it. `back`: the directed route to
/// it.
std::optional<PeerPort> Mastership::place_of(const mad::Received& from,
                                             const std::optional<mad::DirectedPath>& back) {
  const auto& subnet = parts_.subnet;
  if (!subnet) return std::nullopt;
  if (back) return port_at(*subnet, *back);
  if (!parts_.lids.is_of(subnet.get())) parts_.lids = LidIndex(subnet);
  const auto found = parts_.lids.find(from.from.lid);
  return found.node != nullptr ? std::optional{PeerPort{found.node->guid(), found.port}} : std::nullopt;
}

/// Decided by what the last sweep has read of the sender's port, else by reading that port now.
void Mastership::is_sm(const mad::Received& from, const wire::Smp& request, SmLookup::Answer answer) {
  std::optional<mad::DirectedPath> back;
  if (request.is_directed()) {
    back = path_back(request);
    if (!back) return answer(false);  // a program on our own port
  }
  const auto& subnet = parts_.subnet;
  // Before the first sweep no port's M_Key is known, and one that hides what it says would not answer.
  if (!subnet && parts_.config->keys.m_key_level >= 2) return answer(false);
  const auto place = place_of(from, back);
  if (place) {
    const auto& node = *subnet->find(place->node);
    const auto& port = node.ports[node.is_switch() ? 0 : place->port.value()];
    if (port.known && (port.info.capability_mask & wire::kCapIsSm) != 0)
      return answer(state_.policy.allows(port_guid(node, place->port)));
  }
  const auto route = [&]() -> std::optional<mad::Target> {
    const auto index = place && !back ? subnet->index_of(place->node) : std::nullopt;
    const auto path = index ? Paths(*subnet).to_port(*subnet, *index, place->port) : back;
    if (!path) return std::nullopt;
    return place ? target_of(*subnet, *place, *path) : mad::Target{.route = *path};
  };
  lookup_.look_up({from.from.lid, back}, route, state_.policy.allowed, std::move(answer));
}

/// After a standstill, Gets only.
asio::awaitable<std::optional<SmReads>> Mastership::read_known_sms() {
  const auto subnet = parts_.subnet;
  const Paths paths(*subnet);
  mad::TaskGroup group(parts_.executor);
  SmReads found;
  for (const auto& other : subnet->other_sms) {
    const auto path = path_to(paths, *subnet, other);
    if (path) group.spawn(read_sm(target_of(*subnet, other.at, *path), &found));
  }
  group.spawn(read_own_port(subnet, &found));
  co_await group.join();
  co_await group.stop();
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) co_return std::nullopt;
  co_return found;
}

asio::awaitable<void> Mastership::read_sm(mad::Target target, SmReads* found) {
  const auto info = co_await mad::get<wire::SmInfo>(parts_.tx, target);
  if (info) found->sms.emplace_back(info->guid, *info);
  if (info) note(*info);
  const auto stuck = info ? state_.stuck.find(info->guid) : state_.stuck.end();
  if (stuck != state_.stuck.end() && stuck->second == info->act_count) co_return;  // as it was
  if (!info && info.error().fault == mad::Fault::closed) co_return;
  if (!machine::may_be_master(info ? std::optional{*info} : std::nullopt)) co_return;
  found->heavy = true;
  found->reason = info ? "another master" : "another SM does not answer";
}

asio::awaitable<void> Mastership::read_own_port(std::shared_ptr<const Subnet> subnet, SmReads* found) {
  const auto& self = *subnet->find(subnet->sm_node);
  const auto& was = self.ports[subnet->sm_port.value()].info;
  const auto target = target_of(self, subnet->sm_port, mad::DirectedPath{});
  const auto asked = co_await mad::get_port_info(&parts_.tx, target, subnet->sm_port, self.extended_speeds());
  const auto& now = asked.info;
  if (!now && now.error().fault == mad::Fault::closed) co_return;
  if (now && now->port_state == was.port_state && now->lid == was.lid && now->sm_lid == was.sm_lid) co_return;
  found->heavy = true;
  found->reason = "own port";
}

}  // namespace smd::sm::inline availability
