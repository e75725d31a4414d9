// SPDX-License-Identifier: Apache-2.0
// What the fabric is, and whether it is ours to change.
#include <algorithm>
#include <chrono>
#include <utility>

#include "mad/suspend.h"
#include "routing/multicast/table.h"
#include "smd/decide/known_keys.h"
#include "smd/decide/settings.h"
#include "smd/decide/stored_m_keys.h"
#include "smd/observe/sweeper.h"
#include "smd/reconcile/finish.h"
#include "smd/report/m_keys.h"
#include "smd/report/tables.h"
#include "smd/sweep/heavy_sweep.h"
#include "smd/sweep/incremental_sweep.h"

namespace smd::sm::inline observing {
namespace {

/// A look at a part begins anew where something happens while it waits for an answer; no longer than this,
/// because what is known already must be put right.
constexpr auto kRestarts = std::chrono::milliseconds(500);

/// Our own port has a link, and what is at its other end does not answer: nothing is known of the fabric, nor
/// whether it has a master. Null: it is not so.
const Unresponsive* silent_neighbour(const Subnet& found) {
  if (found.nodes.size() != 1) return nullptr;
  const auto behind = [&](const Unresponsive& lost) {
    return (lost.behind.node == found.sm_node || lost.behind.node == Guid{}) &&
           lost.behind.port == found.sm_port;
  };
  const auto at = std::ranges::find_if(found.unresponsive, behind);
  return at != found.unresponsive.end() ? &*at : nullptr;
}

}  // namespace

asio::awaitable<Outcome> Sweeper::observe(std::set<Guid> suspects) {
  parts_.mastership.begin_sweep();
  auto found = co_await look(std::move(suspects));
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) co_return Outcome::cancelled;
  if (!found) co_return stop_for(Silent::own_port, found.error());
  // A master goes on: the fabric was its own before.
  const auto* const silent = silent_neighbour(*found);
  if (silent != nullptr && !parts_.mastership.has_fabric() && !parts_.dry_run)
    co_return stop_for(Silent::neighbour, silent->reason);
  if (std::exchange(silent_, Silent::nothing) != Silent::nothing)
    parts_.events.publish(events::OwnPortAnswers{});
  const auto before = parts_.loop.subnet();
  const bool adopting = parts_.mastership.adopting();
  *found = co_await finished(std::move(*found));
  parts_.inventory.note_restarts(*found);
  log_altered(parts_.log, adopting ? nullptr : before.get(), *found);
  parts_.loop.take(std::move(*found));
  const bool whole = parts_.status.summary().sweep == SweepKind::heavy;
  const auto verdict = parts_.mastership.observed(whole, parts_.dry_run);
  if (verdict == machine::Verdict::contested) co_return Outcome::contested;
  co_return verdict == machine::Verdict::ours ? Outcome::done : Outcome::not_ours;
}

/// Said once. A neighbour may be protected by an M_Key that is not known here, and the fabric have a master.
Outcome Sweeper::stop_for(Silent what, const std::string& why) {
  parts_.mastership.sweep_failed();
  if (std::exchange(silent_, what) == what) return Outcome::own_port_silent;
  if (what == Silent::own_port) {
    const auto reason = why + std::string(silence_hint({}));
    parts_.log.warn("own_port.silent").kv("reason", reason).subject(reason);
    parts_.events.publish(events::OwnPortSilent{reason});
    return Outcome::own_port_silent;
  }
  parts_.log.warn("own_port.neighbour_silent")
      .kv("reason", why)
      .kv("action", "this SM does not become master, and asks again every second");
  parts_.events.publish(events::OwnPortSilent{
      .reason =
          "the node at the other end of its link does not answer, so whether the fabric has a master is "
          "not known: " +
          why,
      .neighbour = true});
  return Outcome::own_port_silent;
}

asio::awaitable<Subnet> Sweeper::finished(Subnet found) {
  const auto before = parts_.loop.subnet();
  const auto stored = parts_.loop.stored();
  const bool adopting = parts_.mastership.adopting();
  FinishInput how{.before = before.get(),
                  .stored = *stored,
                  .names = parts_.config->names.nodes,
                  .multicast_entries = multicast_entries(),
                  .adopting = adopting,
                  .adaptive_anew = adopting || parts_.status.summary().sweep == SweepKind::heavy};
  co_return co_await finish(&parts_.tx, parts_.loop.baseline(), std::move(found), how);
}

/// By parts where that is enough, else the whole fabric.
asio::awaitable<std::expected<Subnet, std::string>> Sweeper::look(std::set<Guid> suspects) {
  auto& clock = parts_.scheduler.clock();
  auto& kind = parts_.status.summary().sweep;
  const bool adopting = parts_.mastership.adopting();
  const auto partitions = parts_.loop.decided().partitions;
  SweepOptions how{
      .trust_tables = !adopting,
      .clear_changes = !adopting && !parts_.dry_run,
      .restart_lost = true,
      .lost_sms = parts_.mastership.lost_sms(),
      .lost_sm_wait = parts_.config->ha.poll_interval(),
      .m_keys =
          m_key_hints(m_key_settings(*parts_.config), parts_.loop.stored(), parts_.mastership.own_port()),
      .had_further_pkeys = [stored =
                                parts_.loop.stored()](Guid port) { return had_further_keys(*stored, port); },
      .pkeys_matter = (partitions && partitions->managed) || any_other_keys(*parts_.loop.stored())};
  const auto last_restart = clock.now() + kRestarts;
  while (kind == SweepKind::incremental) {
    how.urgent = nullptr;
    if (parts_.light.searches() || clock.now() < last_restart)
      how.urgent = [this] { return parts_.scheduler.newer_waits(); };
    auto part = co_await incremental_sweep(&parts_.tx, &clock, parts_.loop.subnet().get(), suspects, how);
    const bool lost = !part && part.error() == kLostOnTheWay;
    if (lost || (!part && part.error() == kNewerWaits)) {
      how.restart_lost &= !lost;
      auto newer = parts_.scheduler.take_sweep();
      if (newer.work.contains(Work::heavy)) kind = SweepKind::heavy;
      if (!lost) give_way(suspects);
      suspects.merge(newer.suspects);
      continue;
    }
    const bool cancelled = co_await mad::was_cancelled();
    if (part || cancelled) co_return part;
    const auto known = suspects.size();
    if (clock.now() < last_restart) {
      auto changed = co_await parts_.switches.ask(parts_.loop.subnet(), true);
      suspects.merge(changed.suspects);
    }
    if (suspects.size() != known) continue;  // what is silent may be behind what has changed there
    parts_.log.info("sweep.whole").kv("reason", part.error());
    kind = SweepKind::heavy;
  }
  co_return co_await heavy_sweep(&parts_.tx, &clock, parts_.loop.subnet().get(), how);
}

/// Nodes that may stay silent for as long as before are not searched for while an event waits.
void Sweeper::give_way(std::set<Guid>& suspects) {
  for (const auto node : parts_.light.take_searched()) {
    if (suspects.erase(node) != 0) parts_.scheduler.agenda().look_at(node, "not up");
  }
}

/// Of multicast tables, those that groups take which were stored or are decided on.
std::size_t Sweeper::multicast_entries() const {
  const auto& multicast = parts_.loop.decided().multicast;
  auto entries = multicast ? multicast->top : std::size_t{0};
  if (parts_.store == nullptr) return entries;
  for (const auto& [mlid, users] : parts_.store->registry()->mlids())
    entries = std::max(entries, routing::mlid_index(mlid) + 1);
  return entries;
}

}  // namespace smd::sm::inline observing
