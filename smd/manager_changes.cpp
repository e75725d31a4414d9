// SPDX-License-Identifier: Apache-2.0
// What came and went since the last sweep, said once each, and what of the fabric is lost.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "smd/manager.h"
#include "smd/report/changes.h"
#include "smd/report/tally.h"

namespace smd::sm {
namespace {

/// What changes is stored this long after it was seen, together with what changes meanwhile: a link that
/// flaps costs no commit each time, and no sweep waits for the disk.
constexpr auto kKeepAfter = std::chrono::seconds(2);

}  // namespace

UnixTime SubnetManager::wall() const {
  if (parts_.wall) return parts_.wall();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// Why the sweep was made, as an operator says it.
std::string SubnetManager::cause() const {
  constexpr std::array kLight{"port state change", "interval", "audit", "a switch does not answer"};
  return std::ranges::find(kLight, summary_.reason) != kLight.end() ? "light sweep" : summary_.reason;
}

/// Compares what the sweep has found with what belongs to the fabric. Masters only: others do not look often
/// enough to say when something went. False when cancelled.
asio::awaitable<bool> SubnetManager::take_stock() {
  if (options_.dry_run || mastership_.state() != wire::SmState::master) co_return true;
  static const Inventory kNone;
  const auto known = loop_.stored()->inventory;
  const auto before = std::exchange(stock_of_, loop_.subnet());
  const auto restarts = std::exchange(restarts_, {});
  const StockInput input{.known = known ? *known : kNone,
                         .before = before.get(),
                         .now = *loop_.subnet(),
                         .restarts = restarts,
                         .time = wall()};
  Stock stock;
  StoredPtr stored;
  const bool taken = co_await parts_.compute.execute([&] {
    stock = sm::take_stock(input);
    if (known && stock.changes.empty() && stock.after == *known) return;
    auto next = std::make_shared<Stored>(*loop_.stored());
    next->inventory = std::make_shared<const Inventory>(std::move(stock.after));
    stored = std::move(next);
  });
  if (!taken) co_return false;
  if (stored) {
    loop_.set_stored(std::move(stored));
    if (options_.once) co_await loop_.commit();
    if (!options_.once && !std::exchange(keeping_stock_, true)) tasks_.spawn(keep_stock());
  }
  tell_changes(std::move(stock.changes), before.get());
  co_return true;
}

asio::awaitable<void> SubnetManager::keep_stock() {
  co_await parts_.clock.sleep(kKeepAfter);
  keeping_stock_ = false;
  co_await loop_.commit();
}

void SubnetManager::tell_changes(Changes changes, const Subnet* before) {
  const auto& known = *loop_.stored()->inventory;
  const auto why = cause();
  const ChangeContext context{
      .known = known, .before = before, .now = *loop_.subnet(), .cause = why, .time = wall()};
  ask_both_ends(changes);
  const auto flapping = flaps_.sift(changes, parts_.clock.now());
  log_changes(parts_.log, changes, context);
  log_flapping(parts_.log, flapping, known);
  auto words = summary_of(changes, known);
  if (words.empty()) return;
  last_change_ = std::move(words);
  last_change_at_ = context.time;
}

/// The trap of either end may have gone into a way that is lost, and the next one waits for a second.
void SubnetManager::ask_both_ends(const Changes& changes) {
  for (const auto* links : {&changes.down, &changes.up}) {
    for (const auto& link : *links) {
      for (const auto node : {link.end.node, link.peer.node}) scheduler_.link_reported(node);
    }
  }
}

/// Links that have flapped and are quiet again: how they are now.
void SubnetManager::tell_quiet() {
  if (flaps_.empty() || !loop_.subnet() || !loop_.stored()->inventory) return;
  const auto changes = flaps_.quiet(parts_.clock.now());
  log_changes(parts_.log, changes,
              {.known = *loop_.stored()->inventory,
               .before = nullptr,
               .now = *loop_.subnet(),
               .cause = "it flaps no more",
               .time = wall()});
}

void SubnetManager::accept_lost(Guid node) {
  to_accept_.push_back(node);
  agenda_.add(Work::inventory, "accept");
}

asio::awaitable<void> SubnetManager::accept_what_is_asked() {
  const auto asked = std::exchange(to_accept_, {});
  if (asked.empty() || !loop_.stored()->inventory) co_return;
  auto stored = std::make_shared<Stored>(*loop_.stored());
  auto known = *stored->inventory;
  Inventory::Counts accepted;
  for (const auto node : asked) {
    const auto now = sm::accept_lost(known, node);
    accepted.switches += now.switches;
    accepted.hosts += now.hosts;
    accepted.links += now.links;
  }
  stored->inventory = std::make_shared<const Inventory>(std::move(known));
  co_await loop_.keep(std::move(stored));
  parts_.log.info("subnet.accepted")
      .kv("switches", accepted.switches)
      .kv("hosts", accepted.hosts)
      .kv("links", accepted.links)
      .kv("reason", "what is there now is what belongs to the fabric")
      .always();
  judge();
  tell_state();
  publish_between_sweeps();
}

/// What is missing, and whether it makes a fabric that works a reduced one.
void SubnetManager::judge() {
  if (!loop_.stored()->inventory || mastership_.state() != wire::SmState::master) return;
  summary_.lost = loop_.stored()->inventory->lost();
  judge_losses(*loop_.stored()->inventory, config_->status.hosts_missing, summary_);
}

/// Before anything is written: what has lost its LIDs, and which links begin anew.
void SubnetManager::note_restarts(const Subnet& read) {
  if (options_.dry_run || !loop_.stored()->inventory) return;
  auto found = restarts(*loop_.stored()->inventory, loop_.subnet().get(), read);
  const auto add = [](auto& all, auto& more) {
    all.insert(all.end(), more.begin(), more.end());
    std::ranges::sort(all);
    const auto twice = std::ranges::unique(all);
    all.erase(twice.begin(), twice.end());
  };
  add(restarts_.nodes, found.nodes);
  add(restarts_.bounced, found.bounced);
}

/// When the fabric is in service after it was not.
void SubnetManager::tell_state() {
  if (unsettled_) return;
  const auto before = std::exchange(said_state_, summary_.state);
  if (before == summary_.state) return;
  state_since_ = wall();
  const bool came =
      summary_.state == SweepState::up || (is_working(summary_.state) && !(before && is_working(*before)));
  if (!came) return;
  parts_.log.info("subnet.up")
      .kv("state", summary_.state)
      .kv("was", before ? to_string(*before) : "starting")
      .kv("switches", summary_.switches)
      .kv("cas", summary_.cas)
      .kv("routers", summary_.routers)
      .kv("links", summary_.links)
      .kv("lids", summary_.lids)
      .kv("sm_lid", summary_.sm_lid)
      .kv("engine", summary_.engine);
}

}  // namespace smd::sm
