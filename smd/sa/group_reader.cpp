// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/group_reader.h"

#include <chrono>
#include <utility>

#include "mad/wire/sa/member_record.h"

namespace smd::sa {
namespace {

using namespace std::chrono_literals;

/// Between two looks at whether there is something to ask.
constexpr mad::Duration kLookForWork = 1s;
/// Between two questions.
constexpr mad::Duration kEach = 1min, kAfterChange = 5s;
/// The members of all groups of a large fabric are some megabytes.
constexpr std::chrono::milliseconds kTableWait = 20s;
/// Where the start waits for it: the SM that the port had may be gone.
constexpr std::chrono::milliseconds kWaitBefore = 1s;

mad::SaQuery all_groups(const mad::LidRoute& to, std::uint64_t sm_key, std::chrono::milliseconds wait) {
  return {.to = to,
          .attribute = wire::McMemberRecord::kRecord,
          .least = wire::McMemberRecord::kBytes,
          .sm_key = sm_key,
          .wait = wait};
}

}  // namespace

std::optional<mad::LidRoute> masters_sa(const sm::Snapshot& snapshot) {
  if (snapshot.state != wire::SmState::standby || !snapshot.subnet) return std::nullopt;
  const auto& subnet = *snapshot.subnet;
  const auto* self = subnet.find(subnet.sm_node);
  if (self == nullptr) return std::nullopt;
  const auto port = self->is_switch() ? std::size_t{0} : subnet.sm_port.value();
  if (port >= self->ports.size()) return std::nullopt;
  const auto& info = self->ports[port].info;
  if (info.lid == Lid{} || info.sm_lid == Lid{} || info.sm_lid == info.lid) return std::nullopt;
  return mad::LidRoute{.lid = info.sm_lid, .sl = info.master_sm_sl, .qp = 1, .qkey = mad::kQp1QKey};
}

asio::awaitable<void> GroupReader::run() {
  for (;;) {
    const bool time = co_await parts_.clock.sleep(kLookForWork);
    if (!time) co_return;
    const auto now = parts_.source();
    const bool standby = now && now->state == wire::SmState::standby;
    // What was read is kept for the takeover: only another master, or a copy, replaces it.
    if (!standby_ && standby && !fresh_) forget();
    standby_ = standby;
    fresh_ = fresh_ && (!now || now->state == wire::SmState::discovering);
    if (!standby || !is_due(*now)) continue;
    co_await read(*masters_sa(*now), now->subnet);
  }
}

bool GroupReader::is_due(const sm::Snapshot& now) {
  if (parts_.copied()) {
    if (groups_) forget();
    return false;
  }
  const auto to = masters_sa(now);
  if (!to) return false;
  if (to->lid != master_) {
    forget();
    master_ = to->lid;
  }
  if (!asked_) return true;
  const auto since = parts_.clock.now() - *asked_;
  return since >= kEach || (now.subnet != seen_ && since >= kAfterChange);
}

void GroupReader::forget() {
  master_ = {};
  asked_.reset();
  seen_.reset();
  groups_.reset();
  parts_.found(nullptr);
  if (parts_.shown) parts_.shown->set(nullptr);
}

asio::awaitable<void> GroupReader::read_before(mad::LidRoute to) {
  if (parts_.copied() || !fresh_) co_return;
  const auto records = co_await ask(to, kWaitBefore);
  if (!records || !fresh_ || parts_.copied()) co_return;
  master_ = to.lid;
  asked_ = parts_.clock.now();
  know(*records, to.lid);
}

/// OpenSM does not answer who shows another key than its own; without one it shows groups, and no members.
asio::awaitable<std::expected<mad::SaRecords, mad::SaError>> GroupReader::ask(
    mad::LidRoute to, std::chrono::milliseconds wait) {
  const auto key = parts_.sm_key();
  auto records = co_await parts_.client.get_table(all_groups(to, key, wait));
  if (!records && records.error().fault == mad::SaFault::no_answer && key != 0)
    records = co_await parts_.client.get_table(all_groups(to, 0, wait));
  co_return records;
}

asio::awaitable<void> GroupReader::read(mad::LidRoute to, std::shared_ptr<const sm::Subnet> subnet) {
  asked_ = parts_.clock.now();
  seen_ = std::move(subnet);
  const auto records = co_await ask(to, kTableWait);
  if (!records) {
    if (records.error().fault == mad::SaFault::closed) co_return;
    parts_.log.warn("ha.groups_not_read")
        .kv("sm_lid", to.lid)
        .kv("reason", to_string(records.error()))
        .kv("action", "asked again in a minute")
        .subject("ha.groups_not_read");
    co_return;
  }
  const auto now = parts_.source();
  // An answer of before.
  if (!now || now->state != wire::SmState::standby || parts_.copied()) co_return;
  know(*records, to.lid);
}

void GroupReader::know(const mad::SaRecords& records, Lid from) {
  auto groups = std::make_shared<const PriorGroups>(prior_groups(records, from));
  if (!groups_ || *groups_ != *groups) say(*groups);
  groups_ = groups;
  show(*groups);
  parts_.found(std::move(groups));
}

void GroupReader::show(const PriorGroups& groups) {
  if (!parts_.shown) return;
  parts_.shown->set(std::make_shared<const GroupsRead>(GroupsRead{.from = groups.from,
                                                                  .groups = groups.groups.size(),
                                                                  .members = groups.members,
                                                                  .ignored = groups.ignored,
                                                                  .at = parts_.wall()}));
}

void GroupReader::say(const PriorGroups& groups) {
  parts_.log.info("ha.groups_read")
      .kv("sm_lid", groups.from)
      .kv("groups", groups.groups.size())
      .kv("members", groups.members)
      .kv("ignored", groups.ignored)
      .subject("ha.groups_read");
}

}  // namespace smd::sa
