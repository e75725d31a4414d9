// SPDX-License-Identifier: Apache-2.0
// What the server hears beside requests, and what it says in the log.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "mad/wire/trap.h"
#include "smd/sa/server.h"
#include "smd/sa/traps.h"

namespace smd::sa {

void Server::subscribe() {
  if (parts_.events == nullptr) return;
  const auto kinds = events::kinds_of<events::SweepEnded, events::SubnetSettled, events::SnapshotPublished,
                                      events::TrapReceived, events::ClientsReregistered>;
  subscriber_.emplace(parts_.executor, *parts_.events, events::Wants{.kinds = kinds, .subnet = parts_.subnet},
                      events::Subscriber::Calls{.event = [this](const events::Event& event) { hear(event); },
                                                .gap = [this](events::Gap) { missed(); }});
}

void Server::hear(const events::Event& event) {
  if (const auto* sweep = std::get_if<events::SweepEnded>(&event.payload)) return refresh(sweep->came_up);
  if (std::holds_alternative<events::SubnetSettled>(event.payload)) return refresh();
  if (std::holds_alternative<events::SnapshotPublished>(event.payload)) return look_again();
  if (const auto* trap = std::get_if<events::TrapReceived>(&event.payload))
    return forward(trap->notice, trap->from);
  if (const auto* clients = std::get_if<events::ClientsReregistered>(&event.payload))
    return asked(clients->ports);
}

/// Events are lost. What is, is in the snapshot; ports that were asked to register again are asked once more.
void Server::missed() {
  const auto now = parts_.source();
  refresh(now ? now->came_up : std::vector<Guid>{});
}

void Server::unite(RegistryPtr other, RegistryPtr common) {
  pending_tasks_.others.emplace_back(std::move(other), std::move(common));
  wake_writer_.wake_all();
}

void Server::know_before(PriorGroupsPtr groups) { prior_ = std::move(groups); }

void Server::begin_reading() {
  client_.emplace(parts_.executor, parts_.clock, *parts_.asking, parts_.seed);
  reader_.emplace(GroupReader::Parts{
      .client = *client_,
      .clock = parts_.clock,
      .log = parts_.log,
      .source = parts_.source,
      .copied = [this] { return parts_.store != nullptr && parts_.store->following().knows_clients; },
      .sm_key = [this] { return settings_->sm_key; },
      .found = [this](PriorGroupsPtr groups) { know_before(std::move(groups)); },
      .wall = parts_.wall,
      .shown = parts_.groups_read});
  tasks_.spawn(reader_->run());
}

asio::awaitable<void> Server::read_groups(mad::LidRoute to) { co_await reader_->read_before(to); }

/// After a takeover, and when its grace is over.
void Server::say_inherited(const Written& done) {
  if (done.took_over) prior_.reset();
  if (done.inherited) {
    grace_ends_ = parts_.clock.now() + std::chrono::seconds(settings_->grace);
    parts_.log.info("ha.groups_inherited")
        .kv("groups", done.inherited->groups.size())
        .kv("members", done.inherited->members.size())
        .kv("grace_s", settings_->grace)
        .always();
  }
  if (done.ended && !done.ended->empty()) {
    parts_.log.info("ha.groups_not_joined")
        .kv("groups", done.ended->groups.size())
        .kv("members", done.ended->members.size())
        .kv("action", "these groups and memberships are removed")
        .always();
  }
}

void Server::forward(const wire::Notice& notice, Lid from) {
  // No subscriber needs events faster than this; the sweeps see all of it.
  constexpr std::size_t kTraps = 1024;
  if (is_for_the_sm_to_say(notice)) return forged(notice, from);
  if (parts_.registry.get()->subscriptions().empty() || pending_tasks_.traps.size() >= kTraps) return;
  pending_tasks_.traps.emplace_back(notice, from);
  wake_writer_.wake_all();
}

void Server::forged(const wire::Notice& notice, Lid from) const {
  const auto* sender = view_ ? view_->directory.by_lid(from) : nullptr;
  auto&& event = parts_.log.warn("trap.forged");
  if (sender != nullptr) event.port(sender->node->guid(), sender->node->description, sender->port);
  event.kv("trap", notice.trap).kv("trap_name", wire::trap_name(notice.trap)).kv("lid", from);
  event.kv("reason", "traps 64 to 67 are sent by the SM alone").kv("action", "it is not forwarded");
  event.subject(fmt::format("{}", from));
}

/// Ports that lost subscriptions are asked to register again, some in each second: many may be silent.
void Server::look_for_lost() {
  constexpr std::size_t kLostPortsAtOnce = 64;
  if (lost_.empty() || !view_) return;
  if (view_->directory.snapshot().state != wire::SmState::master) return lost_.clear();
  for (const auto port : lost_.due(parts_.clock.now(), kLostPortsAtOnce)) {
    if (view_->directory.by_guid(port) == nullptr) {
      lost_.forget({&port, 1});  // it is asked when it is back
    } else {
      pending_tasks_.lost.push_back(port);
    }
  }
  if (!pending_tasks_.lost.empty()) wake_writer_.wake_all();
}

/// What a client waits for is read first.
void Server::tell_unread(const Reply& reply) const {
  if (reply.unread == Lid{} || !view_ || parts_.fabric == nullptr) return;
  if (const auto* port = view_->directory.by_lid(reply.unread))
    parts_.fabric->read_vl_tables_first(port->node->guid());
}

/// Something has come from this LID: where a port lost subscriptions, it answers again.
void Server::heard(Lid from) {
  if (lost_.empty() || !view_) return;
  if (const auto* port = view_->directory.by_lid(from)) lost_.heard(port->guid, parts_.clock.now());
}

void Server::say(const Effects& effects) const {
  for (const auto& one : effects.groups) {
    // Those of clients may come by thousands.
    const std::string_view event = one.created ? "sa.group_created" : "sa.group_deleted";
    parts_.log.info(event)
        .kv("mgid", one.mgid)
        .kv("mlid", fmt::format("0x{:04x}", one.mlid.value()))
        .kv("reason", one.why)
        .subject(one.configured ? to_string(one.mgid) : std::string(event));
  }
  for (const auto& one : effects.terms_kept) {
    parts_.log.warn("sa.group_terms_kept")
        .kv("mgid", one.mgid)
        .kv("change", term_changes(one.terms, one.configured))
        .kv("members", one.members)
        .kv("reason", "its members have joined with the values of before")
        .kv("action", "all members have to leave it, as by ip link set down; then it gets the new values")
        .subject(to_string(one.mgid));
  }
  for (const auto& one : effects.terms_applied) {
    parts_.log.info("sa.group_terms_changed")
        .kv("mgid", one.mgid)
        .kv("change", term_changes(one.terms, one.next))
        .kv("reason", "its last member has left")
        .subject(to_string(one.mgid));
  }
  for (const auto& [sl, groups] : effects.dropped_groups) {
    parts_.log.warn("qos.sl_dropped")
        .kv("sls", fmt::format("{}", sl))
        .kv("groups", groups.count)
        .kv("first", groups.first)
        .kv("reason",
            "the SL is mapped to VL 15, and members have joined these multicast groups with it: their "
            "packets are dropped")
        .kv("action",
            "all members have to leave them, as by ip link set down, or sl2vl has to map the SL again")
        .subject(fmt::format("SL {}", sl));
  }
  for (const auto& one : effects.refused) {
    auto line = parts_.log.warn("sa.refused");
    line.kv("request", one.what);
    if (one.node != Guid{}) line.port(one.node, one.name, one.number);
    line.kv("from_lid", one.from).kv("about", one.about).kv("component", one.refusal.component);
    if (!one.refusal.wanted.empty()) line.kv("wanted", one.refusal.wanted);
    if (!one.refusal.has.empty()) line.kv("has", one.refusal.has);
    line.kv("status", fmt::format("0x{:04x}", one.refusal.status)).kv("reason", one.refusal.why);
    line.subject(fmt::format("{} {} {}", one.port, one.about, one.refusal.component));
  }
}

}  // namespace smd::sa
