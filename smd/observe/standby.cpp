// SPDX-License-Identifier: Apache-2.0
#include "smd/observe/standby.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "mad/suspend.h"
#include "smd/base/stopwatch.h"
#include "smd/decide/known_keys.h"
#include "smd/decide/settings.h"
#include "smd/decide/stored_m_keys.h"
#include "smd/reconcile/finish.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/heavy_sweep.h"
#include "smd/sweep/incremental_sweep.h"

namespace smd::sm::inline observing {
namespace {

/// Between two looks at what the master has committed.
constexpr auto kLookAtCopy = std::chrono::seconds(1);

/// What an operator orders is committed before the master does it, and a link needs some time after that.
constexpr unsigned kLooksAtOrdered = 4;

/// Nodes that one audit looks at: as a master's (light_sweep.cpp).
constexpr std::size_t kNodesAtLeast = 32, kNodesShare = 32;

/// What is in one of the two sets of lost things only.
template <class Key>
std::set<Key> differing_keys(const std::map<Key, UnixTime>& a, const std::map<Key, UnixTime>& b) {
  std::set<Key> found;
  for (const auto& [key, at] : a) {
    if (!b.contains(key)) found.insert(key);
  }
  for (const auto& [key, at] : b) {
    if (!a.contains(key)) found.insert(key);
  }
  return found;
}

}  // namespace

std::set<Guid> changed_nodes(const Inventory* before, const Inventory* now) {
  if (before == nullptr || now == nullptr) return {};
  std::set<Guid> found;
  for (const auto& end : differing_keys(before->lost_links(), now->lost_links())) {
    found.insert(end.node);
    if (const auto* link = now->find(end)) found.insert(link->peer.node);
  }
  auto nodes = differing_keys(before->lost_nodes(), now->lost_nodes());
  Inventory::Nodes::difference(before->nodes(), now->nodes(),
                               [&](Guid node, const KnownNode*) { nodes.insert(node); });
  for (const auto node : nodes) {
    found.insert(node);
    now->for_each_link(node, [&](const LinkEnd&, const KnownLink& link) { found.insert(link.peer.node); });
  }
  return found;
}

std::set<Guid> nodes_of_changed(const policy::DisabledPorts& before, const policy::DisabledPorts& now) {
  std::set<Guid> found;
  const auto add = [&](const policy::DisabledPorts& ports, const policy::DisabledPorts& others) {
    for (const auto& [at, port] : ports) {
      const auto other = others.find(at);
      if (other != others.end() && other->second == port) continue;
      found.insert(at.first);
      if (port.peer.first != Guid{}) found.insert(port.peer.first);
    }
  };
  add(before, now);
  add(now, before);
  return found;
}

bool has_stored_lids(const Subnet& subnet, const Stored& stored) {
  for (const auto& node : subnet.nodes) {
    for (std::size_t number = 0; number < node->ports.size(); ++number) {
      const PortNum port{static_cast<std::uint8_t>(number)};
      if (!is_end_port(*node, port)) continue;
      const auto& info = node->ports[number].info;
      const auto at = stored.lids.find(port_guid(*node, port));
      if (at == stored.lids.end() || at->second.base != info.lid) return false;
    }
  }
  return true;
}

asio::awaitable<void> Standby::watch(std::function<asio::awaitable<bool>()> take) {
  auto& clock = parts_.scheduler.clock();
  audited_ = clock.now();
  inventory_ = nullptr;
  ordered_.clear();
  bool first = true;
  for (;;) {
    const bool taken = co_await take();
    if (!taken) co_return;
    if (std::exchange(first, false)) disabled_ = *parts_.loop.disabled();
    take_m_keys();
    auto found = co_await suspects();
    const bool looked = co_await look(std::move(found));
    if (!looked) co_return;
    const bool decided = co_await precompute();
    if (!decided) co_return;
    parts_.status.publish_activity();
    const bool time = co_await clock.sleep(kLookAtCopy);
    if (!time) co_return;
  }
}

/// Keys that the master has changed are those by which ports are asked from now on: with the old ones they
/// would not answer.
void Standby::take_m_keys() {
  const auto subnet = parts_.loop.subnet();
  if (!subnet || !copied()) return;
  const auto now = parts_.loop.stored();
  const auto before = std::exchange(keys_, now);
  if (!before || before == now) return;
  auto changed = with_changed_m_keys(*subnet, before->m_keys, now->m_keys);
  if (!changed) return;
  parts_.loop.take(*std::move(changed));
  parts_.status.count_again();
}

/// Nodes with ports that were disabled or enabled lately.
std::set<Guid> Standby::ordered() {
  const auto& now = *parts_.loop.disabled();
  for (const auto node : nodes_of_changed(disabled_, now)) ordered_[node] = kLooksAtOrdered;
  disabled_ = now;
  std::set<Guid> found;
  for (auto& [node, looks] : ordered_) found.insert(node), --looks;
  std::erase_if(ordered_, [](const auto& one) { return one.second == 0; });
  return found;
}

/// Nodes to be read again: that the audit has found other than they were, when it is due, that the master's
/// inventory or its operator names, and where an SM has begun.
asio::awaitable<std::set<Guid>> Standby::suspects() {
  const auto now = parts_.loop.stored()->inventory;
  auto found = changed_nodes(inventory_.get(), now.get());
  inventory_ = now;
  found.merge(ordered());
  found.merge(parts_.mastership.take_newcomers());
  const auto subnet = parts_.loop.subnet();
  auto& clock = parts_.scheduler.clock();
  if (subnet && clock.now() - audited_ >= mad::Duration(parts_.config->sweep.interval)) {
    audited_ = clock.now();
    const auto nodes = std::max(kNodesAtLeast, subnet->nodes.size() / kNodesShare);
    const auto audited = co_await audit(&parts_.tx, subnet.get(), &audit_, nodes);
    for (const auto& port : audited.ports) found.insert(port.node);
    for (const auto& block : audited.blocks) found.insert(block.node);
    for (const auto& table : audited.tables) found.insert(table.node);
    found.insert(audited.silent.begin(), audited.silent.end());
  }
  if (subnet) std::erase_if(found, [&](Guid node) { return subnet->find(node) == nullptr; });
  co_return found;
}

/// False when cancelled.
asio::awaitable<bool> Standby::look(std::set<Guid> suspects) {
  const auto before = parts_.loop.subnet();
  bool cancelled = co_await mad::was_cancelled();
  if (cancelled || suspects.empty() || !before) co_return !cancelled;
  auto& clock = parts_.scheduler.clock();
  parts_.tx.begin_round();
  const SweepOptions how{.lost_sms = parts_.mastership.lost_sms(),
                         .lost_sm_wait = parts_.config->ha.poll_interval(),
                         .m_keys = m_key_hints(m_key_settings(*parts_.config), parts_.loop.stored(),
                                               parts_.mastership.own_port()),
                         .had_further_pkeys = [stored = parts_.loop.stored()](Guid port) {
                           return had_further_keys(*stored, port);
                         }};
  auto found = co_await incremental_sweep(&parts_.tx, &clock, before.get(), std::move(suspects), how);
  if (!found) found = co_await heavy_sweep(&parts_.tx, &clock, before.get(), how);
  cancelled = co_await mad::was_cancelled();
  if (cancelled || !found) co_return !cancelled;
  const auto stored = parts_.loop.stored();
  const FinishInput finished{.before = before.get(),
                             .stored = *stored,
                             .names = parts_.config->names.nodes,
                             .adopting = true,
                             .adaptive_anew = false};
  auto finished_subnet = co_await finish(&parts_.tx, parts_.loop.baseline(), *std::move(found), finished);
  cancelled = co_await mad::was_cancelled();
  if (cancelled || parts_.loop.subnet() != before) co_return !cancelled;
  parts_.loop.take(std::move(finished_subnet));
  parts_.status.count_again();
  co_return true;
}

/// False when cancelled.
asio::awaitable<bool> Standby::precompute() {
  const auto& loop = parts_.loop;
  const bool known = seen_ == loop.subnet() && stored_ == loop.stored() && policy_ == loop.partitions();
  if (known || !copied()) co_return true;
  const auto subnet = loop.subnet();
  const auto stored = loop.stored();
  const auto policy = loop.partitions();
  const bool decided = co_await parts_.loop.precompute();
  if (!decided) co_return false;
  seen_ = subnet;
  stored_ = stored;
  policy_ = policy;
  parts_.status.publish_between_sweeps();  // readers see partitions with their members, and routes
  co_return true;
}

/// All that the master has committed is here.
bool Standby::copied() const {
  if (parts_.store == nullptr) return false;
  const auto now = parts_.store->following();
  return now.knows_clients && now.replaced != 0 && !now.stale;
}

asio::awaitable<void> Standby::take_over() {
  const auto subnet = parts_.loop.subnet();
  // The master went before that was done; to read all again would take longer.
  if (subnet && copied() && seen_ != subnet) {
    const bool decided = co_await precompute();
    if (!decided) co_return;
  }
  const bool ready = subnet && copied() && seen_ == subnet && parts_.loop.decided().routes &&
                     has_stored_lids(*subnet, *parts_.loop.stored());
  if (!ready || !parts_.mastership.fabric_is_free()) co_return;
  Stopwatch lap(parts_.scheduler.clock());
  const bool ours = co_await parts_.mastership.take_over();
  if (!ours) co_return;
  parts_.status.begin_sweep(SweepKind::incremental, "takeover");
  parts_.status.summarise(parts_.tx.counters());
  parts_.status.publish_between_sweeps();
  const auto asked_ms = lap();
  const auto& self = *subnet->find(subnet->sm_node);
  const auto own = self.ports[self.is_switch() ? 0 : subnet->sm_port.value()].info.lid;
  const auto told = co_await set_sm_lids(own);
  parts_.log.info("ha.clients_told")
      .kv("ports", told)
      .kv("sm_lid", own)
      .kv("asked_ms", asked_ms)
      .kv("told_ms", lap())
      .always();
}

}  // namespace smd::sm::inline observing
