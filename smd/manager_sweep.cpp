// SPDX-License-Identifier: Apache-2.0
// One sweep: observe, decide, plan, apply, advance.
#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/apply/advance.h"
#include "smd/apply/apply.h"
#include "smd/manager.h"
#include "smd/report/tally.h"
#include "smd/report/trouble.h"
#include "smd/sweep/discover.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// Plans of one sweep: what fails is planned again, at once and then once more, before the next sweep.
constexpr unsigned kAttempts = 3;

/// Within which links come up again, most of them.
constexpr auto kTraining = std::chrono::seconds(1);

/// Milliseconds by the manager's clock since the last call.
class Lap {
 public:
  explicit Lap(mad::Clock& clock) : clock_(clock), last_(clock.now()) {}
  double operator()() {
    const auto now = clock_.now();
    const std::chrono::duration<double, std::milli> lap = now - std::exchange(last_, now);
    return lap.count();
  }

 private:
  mad::Clock& clock_;
  mad::TimePoint last_;
};

}  // namespace

asio::awaitable<SubnetManager::Outcome> SubnetManager::heavy_sweep(std::string reason) {
  const auto before = tx_.counters();
  Lap total(parts_.clock), lap(parts_.clock);
  summary_ = {};
  summary_.subnet = name_;
  summary_.reason = std::move(reason);
  failed_sets_ = 0;
  times_ = {};
  auto observed = co_await observe();
  summary_.discover_ms = lap();
  if (observed == Outcome::not_ours) {
    summarise(before);
    summary_.total_ms = total();
    publish();
  }
  if (observed != Outcome::done) co_return observed;

  bool decided = co_await settle_decision();
  summary_.decide_ms = lap();
  if (!decided) co_return Outcome::cancelled;
  const bool retrained = co_await retrain_links();
  if (retrained) {
    observed = co_await observe();
    summary_.discover_ms += lap();
    if (observed != Outcome::done) co_return observed;
    decided = co_await settle_decision();
    summary_.decide_ms += lap();
    if (!decided) co_return Outcome::cancelled;
  }
  const bool written = co_await write_difference();
  summary_.apply_ms = lap();
  if (!written) co_return Outcome::cancelled;
  summarise(before);
  summary_.total_ms = total();
  publish();
  co_return Outcome::done;
}

/// What is, and whether it is ours to change.
asio::awaitable<SubnetManager::Outcome> SubnetManager::observe() {
  adopting_ = agent_.state() != wire::SmState::master;
  const DiscoverOptions how{.trust_tables = !adopting_};
  auto found = co_await discover(&tx_, &parts_.clock, subnet_.get(), how);
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return Outcome::cancelled;
  if (!found) {
    if (!std::exchange(said_own_port_, true)) {
      parts_.log.warn("own_port.silent").kv("reason", found.error()).subject(found.error());
      if (options_.on_own_port) options_.on_own_port(found.error());
    }
    co_return Outcome::own_port_silent;
  }
  if (std::exchange(said_own_port_, false) && options_.on_own_port) options_.on_own_port({});
  name_nodes(*found);
  subnet_ = std::make_shared<const Subnet>(std::move(*found));
  identify();
  const auto other = other_master();
  agent_.forget_handover();
  if (!other) {
    if (!options_.dry_run) agent_.set_state(wire::SmState::master);
    co_return Outcome::done;
  }
  if (options_.dry_run) co_return Outcome::done;
  parts_.log.warn("sm.other_master")
      .port(other->at.node, other->node_description, other->at.port)
      .kv("sm_guid", other->info.guid)
      .kv("priority", other->info.priority)
      .kv("state", other->info.state)
      .kv("lid", other->lid)
      .kv("known", config_->sm.allowed_guids.empty() || known_sm(other->info.guid))
      .kv("action", "nothing is written; waiting")
      .always();
  agent_.set_state(wire::SmState::standby);
  co_return Outcome::not_ours;
}

/// Who we are, as the fabric says it: the local side may not have known at the start.
void SubnetManager::identify() {
  const auto* self = subnet_->find(subnet_->sm_node);
  if (self == nullptr) return;
  const auto port = self->is_switch() ? self->guid() : self->ports[subnet_->sm_port.value()].guid;
  agent_.set_identity(port, config_->sm.priority, config_->sm.sm_key);
}

bool SubnetManager::known_sm(Guid sm) const {
  const auto& known = config_->sm.allowed_guids;
  return std::ranges::find(known, sm) != known.end();
}

std::optional<OtherSm> SubnetManager::other_master() const {
  std::vector<OtherSm> others;
  for (const auto& other : subnet_->other_sms) {
    const bool gave_way = agent_.handed_over_by() == other.info.guid;
    const bool overruled = config_->sm.force && !known_sm(other.info.guid);
    if (!gave_way && !overruled) others.push_back(other);
  }
  return gives_way_to(agent_.rank(), agent_.state() == wire::SmState::master, others);
}

/// Names from the map file, and where the other SMs sit.
void SubnetManager::name_nodes(Subnet& subnet) const {
  for (auto& node : subnet.nodes) {
    const auto it = config_->names.nodes.find(node->guid());
    if (it == config_->names.nodes.end() || it->second == node->description) continue;
    auto named = std::make_shared<Node>(*node);
    named->description = it->second;
    node = std::move(named);
  }
  for (auto& sm : subnet.other_sms) {
    if (const auto* node = subnet.find(sm.at.node); node != nullptr) sm.node_description = node->description;
  }
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::settle_decision() {
  std::optional<std::expected<Decision, routing::RouteError>> decision;
  const DecideInput input{.subnet = *subnet_,
                          .config = *config_,
                          .stored = stored_,
                          .adopting = adopting_,
                          .previous = decided_.routes ? &decided_ : nullptr,
                          .parallel = parts_.compute.parallel()};
  co_await parts_.compute.execute([&] { decision = decide(input); });
  if (!*decision) co_return false;
  times_ = (*decision)->times;
  decided_ = std::move((*decision)->decided);
  stored_ = store(std::move(stored_), decided_);
  summary_.lids_changed = lids_changed(*subnet_, *decided_.lids);
  co_return true;
}

/// Takes down links that run faster or wider than they may, and gives them time to come up again. False
/// where there is none. Links that take longer are found by their traps, as any link that comes up.
asio::awaitable<bool> SubnetManager::retrain_links() {
  const auto wants = [](const std::optional<LinkWish>& wish) { return wish && wish->retrain; };
  const bool any = std::ranges::any_of(decided_.links->ports,
                                       [&](const auto& ports) { return std::ranges::any_of(ports, wants); });
  if (!any || options_.dry_run) co_return false;
  auto first = plan({*subnet_, decided_, *config_}, parts_.compute.parallel());
  for (const auto& item : first.rounds.back().ports) {
    const auto& wish = *decided_.links->ports[item.node][item.port.value()];
    stored_.retrained.insert({subnet_->nodes[item.node]->guid(), item.port, wish.enabled});
  }
  parts_.log.info("links.retrain").kv("links", first.rounds.back().ports.size());
  ApplyInput to_write{subnet_, decided_, config_, std::move(first)};
  const auto applied = co_await apply(&tx_, &parts_.clock, std::move(to_write));
  subnet_ = std::make_shared<const Subnet>(advance(*subnet_, decided_, applied));
  failed_sets_ += applied.failed.size();
  log_failed(parts_.log, *subnet_, applied);
  co_return co_await pause(kTraining);
}

/// Plans and writes until nothing differs, or until what is left fails again. False when cancelled.
asio::awaitable<bool> SubnetManager::write_difference() {
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    Plan next;
    const PlanInput input{*subnet_, decided_, *config_};
    co_await parts_.compute.execute([&] { next = plan(input, parts_.compute.parallel()); });
    if (attempt == 1) summary_.lft_entries_changed = next.lft_entries_changed;
    if (options_.dry_run) {
      if (options_.on_plan) options_.on_plan(*subnet_, decided_, next);
      co_return true;
    }
    if (next.empty()) co_return true;
    ApplyInput to_write{subnet_, decided_, config_, std::move(next)};
    const auto applied = co_await apply(&tx_, &parts_.clock, std::move(to_write));
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
    for (const auto& lft : applied.lfts) summary_.lft_blocks += lft.acknowledged.count() + lft.partial.size();
    const auto noted = advance(*subnet_, decided_, applied);
    log_not_kept(parts_.log, *subnet_, noted);
    subnet_ = std::make_shared<const Subnet>(noted);
    failed_sets_ += applied.failed.size();
    log_failed(parts_.log, *subnet_, applied);
  }
  // What is still not as decided although it was Set well counts as failed: some node does not do it.
  Plan left;
  const PlanInput input{*subnet_, decided_, *config_};
  co_await parts_.compute.execute([&] { left = plan(input, parts_.compute.parallel()); });
  failed_sets_ = std::max(failed_sets_, left.sets());
  co_return true;
}

/// Has any switch seen a port change, has our own port, or is another SM master now? Gets only; true: look
/// at all.
asio::awaitable<bool> SubnetManager::light_sweep() {
  const auto subnet = subnet_;
  const Paths paths(*subnet);
  mad::TaskGroup group(parts_.executor);
  bool changed = false;
  for (std::size_t i = 0; i < subnet->nodes.size(); ++i) {
    const auto& node = *subnet->nodes[i];
    const auto path = node.is_switch() ? paths.to(i) : std::nullopt;
    if (path) group.spawn(look_at_switch(mad::Target{.route = *path, .node = node.guid()}, &changed));
  }
  for (const auto& other : subnet->other_sms) {
    const auto index = subnet->index_of(other.at.node);
    const auto path = index ? paths.to_port(*subnet, *index, other.at.port) : std::nullopt;
    if (path) group.spawn(look_at_sm(mad::Target{.route = *path, .node = other.at.node}, &changed));
  }
  group.spawn(look_at_own_port(subnet, &changed));
  co_await group.join();
  co_await group.stop();
  co_return changed;
}

asio::awaitable<void> SubnetManager::look_at_switch(mad::Target target, bool* changed) {
  const auto info = co_await mad::get<wire::SwitchInfo>(tx_, target);
  if (!info || info->port_state_change) *changed = true;
}

asio::awaitable<void> SubnetManager::look_at_sm(mad::Target target, bool* changed) {
  const auto info = co_await mad::get<wire::SmInfo>(tx_, target);
  if (!info || info->state == wire::SmState::master) *changed = true;
}

/// Who changes our own LID or master without us is another master.
asio::awaitable<void> SubnetManager::look_at_own_port(std::shared_ptr<const Subnet> subnet, bool* changed) {
  const auto& self = *subnet->find(subnet->sm_node);
  const auto& was = self.ports[subnet->sm_port.value()].info;
  const mad::Target target{.route = mad::DirectedPath{}, .node = subnet->sm_node};
  const auto asked = co_await mad::get_port_info(&tx_, target, subnet->sm_port, self.refuses_extended_speeds);
  const auto& now = asked.info;
  if (!now || now->port_state != was.port_state || now->lid != was.lid || now->sm_lid != was.sm_lid)
    *changed = true;
}

void SubnetManager::summarise(const mad::Counters& before) {
  const auto sent = tx_.counters() - before;
  summary_.smps_get = sent.total(&mad::AttributeCounters::sent, wire::Method::get);
  summary_.smps_set = sent.total(&mad::AttributeCounters::sent, wire::Method::set);
  summary_.timeouts = sent.total(&mad::AttributeCounters::timeouts);
  summary_.retries = sent.total(&mad::AttributeCounters::retries);
  summary_.sets_failed = failed_sets_;
  summary_.route_ms = times_.route_ms;
  summary_.verify_ms = times_.verify_ms;
  const bool ours = agent_.state() == wire::SmState::master || options_.dry_run;
  tally(*subnet_, ours && decided_.routes ? &decided_ : nullptr, summary_);
  if (!ours) summary_.state = SweepState::failed;
}

void SubnetManager::publish() {
  if (!options_.dry_run && agent_.state() == wire::SmState::master)
    log_trouble(parts_.log, *subnet_, decided_);
  log_summary(parts_.log, summary_);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->subnet = subnet_;
  snapshot->decided = decided_;
  snapshot->times = times_;
  snapshot->summary = summary_;
  snapshot->state = agent_.state();
  snapshot->rank = agent_.rank();
  if (options_.on_sweep) options_.on_sweep(*snapshot);
  published_.set(std::move(snapshot));
}

}  // namespace smd::sm
