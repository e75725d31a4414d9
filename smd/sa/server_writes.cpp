// SPDX-License-Identifier: Apache-2.0
// What a batch of writes, a sweep and a takeover come to: work of `compute`, which sends nothing.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "mad/wire/sa/member_record.h"
#include "smd/sa/policy.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/services.h"
#include "smd/sa/registry/unite.h"
#include "smd/sa/server.h"
#include "smd/sa/traps.h"

namespace smd::sa {
namespace {

/// Our own port, whose word notices of ports and groups are.
const EndPort* own_port(const Directory& directory) {
  const auto& lids = directory.snapshot().decided.lids;
  return directory.by_lid(lids ? lids->sm_lid : Lid{});
}

/// As the path from our own port (null: not known) has it.
mad::LidRoute route_to(const Directory& directory, const EndPort* sm, const EndPort& port, std::uint32_t qp) {
  const Policy policy;
  return {.lid = port.lid,
          .sl = policy.sl(directory.snapshot().decided, Sl{0}, sm, port.lid),
          .qp = qp,
          .qkey = kQp1QKey,
          .pkey_index = sm != nullptr ? policy.pkey_index(*sm, port) : std::uint16_t{0}};
}

/// For those who have subscribed, of `events` and of groups that have come and gone; as many as there is room
/// for.
ReportBatch reports_of(const Directory& directory, const Registry& registry, const Effects& effects,
                       std::vector<Event> events, std::size_t room) {
  ReportBatch batch;
  if (registry.subscriptions().empty()) return batch;
  const auto* sm = own_port(directory);
  if (sm != nullptr) {
    for (const auto& group : effects.groups) {
      auto event = event_of(*sm, directory.gid_of(*sm), group.created ? kGroupCreated : kGroupDeleted,
                            Gid{group.mgid.bytes});
      event.pkey = group.pkey;
      events.push_back(std::move(event));
    }
  }
  for (const auto& event : events) {
    if (batch.reports.size() >= room) {
      ++batch.dropped_events;
      continue;
    }
    const auto mad = std::make_shared<const std::vector<std::uint8_t>>(report_of(event));
    for (const auto& [who, response_time] : addressees(directory, registry, event)) {
      const auto* port = directory.by_guid(who.port);
      if (port == nullptr) continue;
      batch.reports.push_back({.mad = mad,
                               .to = route_to(directory, sm, *port, who.qp),
                               .subscriber = who,
                               .wait = report_wait(response_time)});
    }
  }
  return batch;
}

/// What was told of groups after an earlier refresh is not told again.
void tell_once(WaitingTerms& told, Effects& effects, const Registry& registry) {
  effects.terms_applied = told.refreshed(effects.terms_kept, registry);
  told.keep_new(effects.dropped_groups);
}

/// A client that has joined or left by itself is not to be waited for.
void confirm_inherited(const Request& request, const Answer& answer, Inherited& inherited) {
  if (request.mad.attribute != wire::McMemberRecord::kRecord || answer.status != wire::kStatusOk) return;
  if (const auto record = wire::decode<wire::McMemberRecord>(answer.records))
    confirm(inherited, {record->mgid, record->port_gid.guid()});
}

}  // namespace

Server::Written Server::written(const std::vector<Arrived>& batch, const PendingTasks& tasks,
                                const Settings& settings, const View* view, std::size_t room_for_reports) {
  Written done;
  done.registry = *tasks.before;
  const auto* directory = view != nullptr ? &view->directory : nullptr;
  if (directory == nullptr || directory->snapshot().state != wire::SmState::master) {
    taken_over_ = false;
    inherited_ = {};
    waiting_terms_.clear();
    if (parts_.source() && !tasks.copy.knows_clients)
      done.registry.forget_clients();  // they register with another SM
    return done;
  }
  Writing writing{*directory, settings, done.registry, done.effects, parts_.wall(), &liveness_};
  std::vector<Event> events;
  const bool takes_over = tasks.refresh && !taken_over_;
  if (tasks.refresh) {
    taken_over_ = true;
    if (takes_over) take_over(writing, tasks, done);
    for (const auto port : tasks.came_up) done.registry.drop_client(port);
    sa::refresh(writing);
    tell_once(waiting_terms_, done.effects, done.registry);
    done.silence_ends = liveness_.next_end();
    events = port_events(*directory);
  }
  for (const auto& [other, common] : tasks.others) sa::unite(writing, *other, *common);
  for (const auto* ports : {&tasks.lost, &tasks.sls_moved}) {
    for (const auto port : *ports) done.registry.drop_client(port);
  }
  for (const auto port : tasks.asked) done.registry.put_client(port);
  if (tasks.refresh || !tasks.lost.empty() || !tasks.sls_moved.empty()) {
    done.to_ask = to_ask(writing);
    std::erase_if(done.to_ask, [&](Guid port) { return std::ranges::binary_search(tasks.not_yet, port); });
  }

  if (tasks.grace_over) {
    sa::end_inherited(writing, inherited_);
    done.ended = std::exchange(inherited_, {});
  }
  if (tasks.expire) expire(writing);
  for (const auto& subscriber : tasks.unheard) drop_subscriptions(done.registry, subscriber);
  write_batch(writing, batch, done);
  std::ranges::move(waiting_terms_.apply(done.registry), std::back_inserter(done.effects.terms_applied));
  for (const auto& [trap, from] : tasks.traps) {
    if (auto event = event_from(*directory, trap, from)) events.push_back(*std::move(event));
  }
  done.reports = reports_of(*directory, done.registry, done.effects, std::move(events), room_for_reports);
  done.guids = guids_to_write(*directory, done, tasks, takes_over);
  return done;
}

/// In the order of arrival, each with its reply.
void Server::write_batch(Writing& writing, const std::vector<Arrived>& batch, Written& done) {
  for (const auto& [mad, at] : batch) {
    const auto request = Request::parse(mad.bytes);
    if (!request) continue;
    const Requester requester{.port = writing.directory.by_lid(mad.from.lid),
                              .lid = mad.from.lid,
                              .trusted = request->sa.sm_key != 0,  // a wrong one does not get here
                              .qp = mad.from.qp == 0 ? 1U : mad.from.qp};
    const auto answer = sa::write(writing, requester, *request);
    if (!inherited_.empty()) confirm_inherited(*request, answer, inherited_);
    done.replies.push_back({.bytes = reply(*request, answer),
                            .to = back_to(mad.from),
                            .attribute = request->mad.attribute,
                            .method = request->mad.method,
                            .asked_at = at});
  }
}

void Server::take_over(Writing& writing, const PendingTasks& tasks, Written& done) {
  if (tasks.copy.stale) done.registry.forget_clients();
  sa::take_over(writing);
  done.took_over = true;
  // What was read of its groups before its state came says less than the copy, whose members need not join.
  if (!tasks.prior || tasks.copy.current) return;
  inherited_ = inherit(writing, *tasks.prior);
  done.inherited = inherited_;
}

/// Of ports whose aliases have changed, and of those that may have lost them.
std::vector<sm::GuidBlock> Server::guids_to_write(const Directory& directory, const Written& done,
                                                  const PendingTasks& tasks, bool all) const {
  const auto& before = tasks.before;
  std::set<Guid> ports;
  if (done.registry.alias_version() != before->alias_version()) {
    Registry::Aliases::difference(before->aliases(), done.registry.aliases(),
                                  [&](const AliasKey& key, const Guid*) { ports.insert(key.port); });
  }
  const auto has = [&](Guid port) {
    const auto row = done.registry.aliases().lower_bound({port, 0});
    return row != done.registry.aliases().end() && row->first.port == port;
  };
  std::ranges::copy_if(tasks.came_up, std::inserter(ports, ports.end()), has);
  if (all) {
    for (const auto& [key, alias] : done.registry.aliases()) ports.insert(key.port);
  }
  return blocks_of(directory, done.registry, ports);
}

/// Ports that came or went since the last time; none the first time.
std::vector<Event> Server::port_events(const Directory& directory) {
  std::vector<KnownPort> now;
  for (const auto& port : directory.end_ports())
    now.push_back({port.guid, port.info().held<wire::PKeyTable>()});
  std::ranges::sort(now, {}, &KnownPort::guid);
  const auto before = std::exchange(ports_, now);
  std::vector<Event> events;
  const auto* sm = own_port(directory);
  if (before.empty() || sm == nullptr) return events;
  const auto add = [&](std::uint16_t trap) {
    return [&, trap](const KnownPort& port) {
      auto event = event_of(*sm, directory.gid_of(*sm), trap, Gid::of(directory.prefix(), port.guid));
      if (trap == kPortOut) event.keys = port.keys;
      events.push_back(std::move(event));
    };
  };
  std::vector<KnownPort> came, went;
  std::ranges::set_difference(now, before, std::back_inserter(came), {}, &KnownPort::guid, &KnownPort::guid);
  std::ranges::set_difference(before, now, std::back_inserter(went), {}, &KnownPort::guid, &KnownPort::guid);
  std::ranges::for_each(came, add(kPortIn));
  std::ranges::for_each(went, add(kPortOut));
  return events;
}

}  // namespace smd::sa
