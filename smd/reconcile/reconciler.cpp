// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/reconciler.h"

#include <chrono>
#include <memory>
#include <utility>

#include "smd/decide/accepted_losses.h"
#include "smd/reconcile/progress.h"
#include "smd/report/qos_tables.h"
#include "smd/report/tables.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline reconciling {
namespace {

double ms_between(mad::TimePoint begin, mad::TimePoint end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

}  // namespace

Reconciler::Reconciler(ReconcilerParts parts, std::shared_ptr<const config::SubnetConfig> config,
                       StoredPtr stored, PolicyPtr policy)
    : parts_(std::move(parts)), config_(std::move(config)), stored_(std::move(stored)) {
  configure(config_, std::move(policy));
}

void Reconciler::configure(std::shared_ptr<const config::SubnetConfig> config, PolicyPtr policy) {
  config_ = std::move(config);
  // An equal one is the same pointer: what was decided by it stands.
  if (!policy || !partitions_ || *policy != *partitions_) partitions_ = std::move(policy);
  note_own_tables();
}

/// P_Key tables stay smd's when the last partition goes. Layered routes need SL to VL tables of smd's without
/// QoS, too.
void Reconciler::note_own_tables() {
  const bool managed = decided_.partitions && decided_.partitions->managed;
  baseline_.decide({.pkeys = managed || (partitions_ && partitions_->configured),
                    .vl_tables = config_->qos.enabled || decided_.qos_tables != nullptr});
}

void Reconciler::take_tables(Subnet now) {
  baseline_.look(now, subnet_.get());
  log_altered(parts_.log, subnet_.get(), now);
  take(std::move(now));
}

void Reconciler::begin_sweep() {
  failures_.begin();
  came_up_.clear();
  times_ = {};
}

StoredPtr Reconciler::take_accepted(StoredPtr now) {
  if (!now->reference || !now->inventory) return now;
  auto reference = std::make_shared<const routing::ReferenceTopology>(
      without_accepted(*now->reference, *now->inventory, decided_.routes.get()));
  if (*reference == *now->reference) return now;
  if (decided_.routes) decided_.routes = with_reference(*decided_.routes, reference);
  auto stored = std::make_shared<Stored>(*now);
  stored->reference = std::move(reference);
  return stored;
}

asio::awaitable<bool> Reconciler::commit() {
  if (parts_.store == nullptr) co_return true;
  const bool written = co_await parts_.store->commit(stored_);
  if (written && std::exchange(m_keys_unsaved_, false))
    parts_.agenda.add(Work::incremental, "the database has the M_Keys now");
  co_return written;
}

asio::awaitable<bool> Reconciler::keep(StoredPtr now) {
  stored_ = std::move(now);
  co_return co_await commit();
}

void Reconciler::set_guids(const std::vector<GuidBlock>& blocks) {
  for (const auto& block : blocks) requests_.guids[{block.port, block.block}] = block.guids;
}

std::optional<mad::TimePoint> Reconciler::repaired_at() const {
  if (!decided_.routes || decided_.routes->origin != RoutePart::Origin::repaired) return std::nullopt;
  if (not_converged_ == converges_from()) return std::nullopt;
  return routes_since_;
}

asio::awaitable<Ran> Reconciler::run(Run how) {
  Progress run{
      .how = how, .result = {}, .requests = {}, .out = {}, .applied = {}, .wrote = false, .left = false};
  if (m_keys_unsaved_ && !how.dry_run) co_await commit();
  for (const auto part : how.parts) {
    const bool going = co_await run_part(&part_kind(part), &run);
    run.result.cancelled = !going;
    if (!going) break;
  }
  co_return std::move(run.result);
}

/// False when cancelled, as are all that return bool.
asio::awaitable<bool> Reconciler::run_part(const PartKind* kind, Progress* run) {
  if (kind->is_asked != nullptr && !kind->is_asked(requests_)) {
    unfinished_.erase(kind->part);
    co_return true;
  }
  run->requests = requests_;
  if (kind->take != nullptr) kind->take(requests_, *subnet_);
  run->out = {};
  run->applied = {};
  run->wrote = run->left = false;
  const auto multicast = decided_.multicast;
  const auto partitions = decided_.partitions;
  const auto qos_policy = decided_.qos_policy;
  const auto qos_tables = decided_.qos_tables;
  const auto sls = decided_.service_levels;
  const auto before = parts_.tx.counters();
  const auto began = parts_.clock.now();
  const bool decided = co_await decide(kind, run);
  if (!decided) co_return false;
  const auto settled = parts_.clock.now();
  const bool written = co_await write_until_done(kind, run);
  if (kind->whole) {
    run->result.decide_ms = ms_between(began, settled);
    run->result.apply_ms = ms_between(settled, parts_.clock.now());
  }
  if (!written) co_return false;
  const bool changed = run->wrote || decided_.multicast != multicast || decided_.partitions != partitions ||
                       decided_.qos_policy != qos_policy || decided_.qos_tables != qos_tables ||
                       decided_.service_levels != sls;
  if (!kind->whole) run->result.changed |= changed;
  const auto sets = [&] {
    return (parts_.tx.counters() - before).total(&mad::AttributeCounters::sent, wire::Method::set);
  };
  if (kind->part == Part::multicast && changed) {
    parts_.log.debug("multicast")
        .kv("groups", decided_.multicast ? decided_.multicast->groups->size() : 0)
        .kv("smps_set", sets());
  }
  if (kind->part == Part::qos && run->wrote) parts_.log.info("qos.written").kv("smps_set", sets()).always();
  end_part(kind, run);
  if (kind->part == Part::partitions && partitions) look_at_released(*partitions);
  co_return true;
}

/// Links that stayed Armed until their switch could check all P_Keys: an incremental sweep brings them up.
void Reconciler::look_at_released(const PartitionPart& before) {
  for (const auto& one : before.not_enforced) {
    if (one.held_back && !decided_.partitions->holds_back(one.at))
      parts_.agenda.look_at(one.at.node, "partitions are enforced");
  }
}

asio::awaitable<bool> Reconciler::make_plan(const PartKind* kind, const Progress* run, Plan* made) {
  const auto left_out = run->out.all();
  const PlanInput input{.subnet = *subnet_,
                        .decided = decided_,
                        .left_out = &left_out,
                        .draining = parts_.clock.now() < drain_.until,
                        .sls_before = sls_before_.get(),
                        .holds_m_keys = m_keys_unsaved_};
  co_return co_await parts_.compute.execute([&](const std::stop_token& stop) {
    *made = kind->plan(input, run->requests, parts_.compute.parallel(), stop);
  });
}

/// Plans and writes until nothing differs, or until what is left fails again. Nodes that do not answer, or
/// refuse tables, are left out at once and the rest is planned without them: none waits for another. Those
/// that refuse are tried once more in the end.
asio::awaitable<bool> Reconciler::write_until_done(const PartKind* kind, Progress* run) {
  auto& out = run->out;
  bool first = true;
  for (unsigned attempt = 1; attempt <= kind->attempts;) {
    // What is decided and stored before it is written stays, unless a node has failed to take it.
    const bool stays = kind->binds && !run->left;
    if (!first && !kind->whole && !stays) {  // what it was decided on may have changed
      const bool decided = co_await decide(kind, run);
      if (!decided) co_return false;
    }
    Plan next;
    bool going = co_await make_plan(kind, run, &next);
    if (going && first && (next.interrupts || next.drains()) && routes_before_ && !may_interrupt_) {
      going = co_await interrupt_less(next.interrupts);
      if (going) going = co_await make_plan(kind, run, &next);
    }
    if (!going) co_return false;
    if (first && next.vls_unproven) log_unproven_vls(parts_.log);
    if (std::exchange(first, false) && kind->whole)
      run->result.lft_entries_changed = next.lft_entries_changed;
    if (run->how.dry_run) {
      run->result.plan = std::move(next);
      co_return true;
    }
    const bool all = out.silent.empty() && out.refusing.empty();
    if (next.empty() && all) {  // what failed at first was made good
      run->left = false;
      if (kind->whole) {
        failures_.end(0);
        co_await end_writing();
      }
      co_return true;
    }
    if (next.empty() && out.refusing.empty()) break;
    if (next.empty()) {
      out.refusing.clear();
      ++attempt;
      continue;
    }
    run->left = true;
    if (parts_.may_write) going = co_await parts_.may_write();
    if (!going) break;
    going = co_await write(kind, run, std::move(next));
    if (!going) co_return false;
    const auto& applied = run->applied;
    run->left = !applied.failed.empty() || applied.cut_short || applied.held;
    const bool leaves_out = kind->whole && out.take(*subnet_, applied);
    if (!leaves_out && !applied.held) ++attempt;
    if (kind->whole && run->how.hurry && !applied.silent.empty()) co_await parts_.look_again();
    // The nodes that did not answer may be what the event is about.
    if (kind->gives_way && run->left && parts_.newer_waits()) break;
  }
  co_return co_await count_left(kind, run);
}

/// What is still not as decided although it was Set well counts as failed: some node does not do it.
asio::awaitable<bool> Reconciler::count_left(const PartKind* kind, Progress* run) {
  if (!kind->whole) co_return true;
  run->out = {};
  Plan left;
  const bool planned = co_await make_plan(kind, run, &left);
  // Of a table whose Set was given up for something newer nothing is known, and so nothing planned.
  const auto lost = std::ranges::count(run->applied.failed, true, &FailedSet::given_up);
  if (planned) failures_.end(left.sets() + static_cast<std::size_t>(lost));
  co_return planned;
}

/// What the part was asked for is done, or stays asked for.
void Reconciler::end_part(const PartKind* kind, Progress* run) {
  bool left = !kind->whole && run->left;
  switch (kind->part) {
    case Part::fabric:
      unfinished_.erase(Part::multicast);
      unfinished_.erase(Part::partitions);
      for (const auto& failed : run->applied.failed) {
        if (failed.given_up && failed.attribute == wire::PKeyTable::kAttribute)
          parts_.agenda.look_at(subnet_->nodes[failed.node]->guid(), "P_Key table");
      }
      break;
    case Part::partitions:
      // What failed is not known any more: the node is read again, and its sweep writes it.
      for (const auto& failed : run->applied.failed)
        parts_.agenda.look_at(subnet_->nodes[failed.node]->guid(), "P_Key table");
      left = false;
      break;
    case Part::qos:
      if (left) look_at_refused(run->applied);
      break;
    case Part::multicast:
      break;
    case Part::guids:
      requests_.guids =
          remaining(std::move(requests_.guids), run->requests.guids, *decided_.part<wire::GuidInfo>(),
                    *subnet_, run->applied.answers<wire::GuidInfo>());
      left = !requests_.guids.empty();
      break;
    case Part::clients:
      for (const auto& answer : run->applied.ports) {
        run->result.reregistered.push_back(port_guid(*subnet_->nodes[answer.node], answer.port));
      }
      run->result.not_reregistered = run->requests.clients.size() - run->result.reregistered.size();
      left = false;  // to be asked for again after the next sweep
      break;
    case Part::ports:
      look_at_ordered(run->applied);
      left = false;  // the next sweep finds them
      break;
    case Part::retraining:
      left = false;  // the next sweep finds them
      break;
  }
  unfinished_.erase(kind->part);
  if (left) unfinished_.insert(kind->part);
}

/// A sweep counts what is left, and says it in the state. Nodes that it has counted are tried again by that.
void Reconciler::look_at_refused(const Applied& applied) {
  const auto look = [&](const auto& answers) {
    for (const auto& answer : answers) {
      const auto guid = subnet_->nodes[answer.node]->guid();
      if (answer.refused && !failures_.nodes.contains(guid)) parts_.agenda.look_at(guid, "VL tables refused");
    }
  };
  look(applied.answers<wire::SlToVl>());
  look(applied.answers<wire::VlArbitration>());
}

/// Ports that were disabled, enabled or reset. A node that was cut off by that would not answer.
void Reconciler::look_at_ordered(const Applied& applied) {
  if (applied.ports.empty()) return;  // they were so already: no way round them has to be found
  Paths::Avoid avoid;
  for (const auto& [at, by] : *requests_.ports.disabled) avoid.ports.insert(at);
  const Paths around(*subnet_, avoid);
  for (const auto& port : applied.ports) {
    const auto& node = *subnet_->nodes[port.node];
    parts_.agenda.look_at(node.guid(), "port order");
    const auto& peer = node.ports[port.port.value()].peer;
    const auto index = peer ? subnet_->index_of(peer->node) : std::nullopt;
    if (index && around.to(*index)) parts_.agenda.look_at(peer->node, "port order");
  }
}

}  // namespace smd::sm::inline reconciling
