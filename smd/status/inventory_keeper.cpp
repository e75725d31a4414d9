// SPDX-License-Identifier: Apache-2.0
#include "smd/status/inventory_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "smd/decide/port_keys.h"
#include "smd/decide/port_vl_tables.h"
#include "smd/decide/released_layers.h"
#include "smd/report/changes.h"
#include "smd/report/vl_tables.h"

namespace smd::sm::inline status {
namespace {

/// What changes is stored this long after it was seen, together with what changes meanwhile: a link that
/// flaps costs no commit each time, and no sweep waits for the disk.
constexpr auto kKeepAfter = std::chrono::seconds(2);
/// Between two looks for layers of paths that need not come back.
constexpr auto kReleaseEach = std::chrono::seconds(30);

std::set<Guid> ends_of(const Changes& changes) {
  std::set<Guid> ends;
  for (const auto* links : {&changes.down, &changes.up}) {
    for (const auto& link : *links) ends.insert({link.end.node, link.peer.node});
  }
  return ends;
}

}  // namespace

asio::awaitable<InventoryKeeper::Taken> InventoryKeeper::update(std::string cause) {
  auto& loop = parts_.loop;
  if (parts_.dry_run || parts_.mastership.state() != wire::SmState::master) co_return Taken{};
  static const Inventory kNone;
  const auto known = loop.stored()->inventory;
  const auto before = std::exchange(last_subnet_, loop.subnet());
  const auto restarts = std::exchange(restarts_, {});
  const UpdateInput input{.known = known ? *known : kNone,
                          .before = before.get(),
                          .now = *loop.subnet(),
                          .restarts = restarts,
                          .time = parts_.wall()};
  InventoryUpdate updated;
  StoredPtr stored;
  const bool adopting = parts_.mastership.adopting();
  if (adopting) vl_tables_noted_.clear();
  const bool taken = co_await parts_.compute.execute([&] {
    updated = sm::update_inventory(input);
    auto next = std::make_shared<Stored>(*loop.stored());
    const bool unchanged = known && updated.changes.empty() && updated.after == *known;
    const bool new_keys = note_keys(*next, adopting);
    if (unchanged && !new_keys) return;
    if (!unchanged) next->inventory = std::make_shared<const Inventory>(std::move(updated.after));
    stored = std::move(next);
  });
  if (!taken) co_return Taken{.cancelled = true, .ends = {}};
  if (stored) {
    loop.set_stored(std::move(stored));
    if (parts_.once) co_await loop.commit();
    keep_soon();
  }
  Taken result{.cancelled = false, .ends = ends_of(updated.changes)};
  tell_changes(std::move(updated.changes), before.get(), cause);
  co_return result;
}

/// P_Keys of another SM, which belong to ports; where partitions are managed, those of no partition.
bool InventoryKeeper::note_keys(Stored& stored, bool adopting) {
  const auto& partitions = parts_.loop.decided().partitions;
  if (!partitions) return false;
  const auto& subnet = *parts_.loop.subnet();
  // Rows of before lack the keys of partitions, which ports hold yet.
  const bool managed_before = std::exchange(managed_, partitions->managed);
  const bool anew = adopting || (managed_before && !managed_);
  return partitions->managed ? note_foreign_keys(stored, subnet, *partitions, adopting, parts_.wall())
                             : note_port_keys(stored, subnet, anew, parts_.wall());
}

asio::awaitable<void> InventoryKeeper::note_vl_tables() {
  look_for_dropped_sl();
  if (parts_.dry_run || parts_.mastership.state() != wire::SmState::master) co_return;
  auto& loop = parts_.loop;
  if (loop.decided().qos_tables) co_return;  // tables of another SM count only while there are none of ours
  StoredPtr stored;
  const bool taken = co_await parts_.compute.execute([&] {
    auto next = std::make_shared<Stored>(*loop.stored());
    if (sm::note_vl_tables(*next, *loop.subnet(), vl_tables_noted_, parts_.wall())) stored = std::move(next);
  });
  if (!taken || !stored) co_return;
  loop.set_stored(std::move(stored));
  keep_soon();
}

/// Tables of another SM stay while QoS is off, whatever they drop.
void InventoryKeeper::look_for_dropped_sl() {
  const auto& loop = parts_.loop;
  const bool others = loop.subnet() && !loop.decided().qos_tables;
  auto now = others ? ports_that_drop(*loop.subnet(), Sl{0}) : std::vector<PeerPort>{};
  if (!now.empty()) log_dropped_sl(parts_.log, *loop.subnet(), dropping_, now);
  dropping_ = std::move(now);
}

bool InventoryKeeper::release_layers(mad::Duration keep) {
  auto& loop = parts_.loop;
  const auto now = parts_.clock.now();
  const bool due = !released_at_ || now - *released_at_ >= kReleaseEach;
  const bool master = !parts_.dry_run && parts_.mastership.state() == wire::SmState::master;
  if (!due || !master || keep == mad::Duration{} || !loop.stored()->layers_home) return false;
  released_at_ = now;
  auto stored = std::make_shared<Stored>(*loop.stored());
  const auto switches =
      sm::release_layers(*stored, std::chrono::ceil<std::chrono::seconds>(keep), parts_.wall());
  if (switches == 0) return false;
  parts_.log.info("routing.sl_released")
      .kv("switches", switches)
      .kv("reason", "their hosts are away for longer than routing.sl_keep, or their loss is accepted");
  loop.set_stored(std::move(stored));
  keep_soon();
  const auto& routes = loop.decided().routes;
  return routes && routes->pairs_moved != 0;
}

void InventoryKeeper::keep_soon() {
  if (!parts_.once && !std::exchange(keeping_, true)) parts_.tasks.spawn(keep_later());
}

asio::awaitable<void> InventoryKeeper::keep_later() {
  co_await parts_.clock.sleep(kKeepAfter);
  keeping_ = false;
  co_await parts_.loop.commit();
}

void InventoryKeeper::tell_changes(Changes changes, const Subnet* before, std::string_view cause) {
  const auto& known = *parts_.loop.stored()->inventory;
  const ChangeContext context{
      .known = known, .before = before, .now = *parts_.loop.subnet(), .cause = cause, .time = parts_.wall()};
  const auto flapping = flaps_.sift(changes, parts_.clock.now());
  log_changes(parts_.log, changes, context);
  log_flapping(parts_.log, flapping, known);
  auto words = summary_of(changes, known);
  if (words.empty()) return;
  last_change_ = std::move(words);
  last_change_at_ = context.time;
}

void InventoryKeeper::tell_quiet() {
  const auto& loop = parts_.loop;
  if (flaps_.empty() || !loop.subnet() || !loop.stored()->inventory) return;
  const auto changes = flaps_.quiet(parts_.clock.now());
  log_changes(parts_.log, changes,
              {.known = *loop.stored()->inventory,
               .before = nullptr,
               .now = *loop.subnet(),
               .cause = "it flaps no more",
               .time = parts_.wall()});
}

asio::awaitable<bool> InventoryKeeper::accept_asked() {
  auto& loop = parts_.loop;
  const auto asked = std::exchange(to_accept_, {});
  if (asked.empty() || !loop.stored()->inventory) co_return false;
  auto stored = std::make_shared<Stored>(*loop.stored());
  auto known = *stored->inventory;
  Inventory::Counts accepted;
  for (const auto node : asked) {
    const auto now = accept_lost(known, node);
    accepted.switches += now.switches;
    accepted.hosts += now.hosts;
    accepted.links += now.links;
  }
  stored->inventory = std::make_shared<const Inventory>(std::move(known));
  co_await loop.keep(loop.take_accepted(std::move(stored)));
  parts_.log.info("subnet.accepted")
      .kv("switches", accepted.switches)
      .kv("hosts", accepted.hosts)
      .kv("links", accepted.links)
      .kv("reason", "what is there now is what belongs to the fabric")
      .always();
  co_return true;
}

void InventoryKeeper::note_restarts(const Subnet& read) {
  if (parts_.dry_run || !parts_.loop.stored()->inventory) return;
  auto found = restarts(*parts_.loop.stored()->inventory, parts_.loop.subnet().get(), read);
  const auto add = [](auto& all, auto& more) {
    all.insert(all.end(), more.begin(), more.end());
    std::ranges::sort(all);
    const auto twice = std::ranges::unique(all);
    all.erase(twice.begin(), twice.end());
  };
  add(restarts_.nodes, found.nodes);
  add(restarts_.bounced, found.bounced);
}

}  // namespace smd::sm::inline status
