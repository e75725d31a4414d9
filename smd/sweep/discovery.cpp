// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/discovery.h"

#include <algorithm>

namespace smd::sm {

std::shared_ptr<const PKeyRows> PKeyPool::share(PKeyRows&& rows) {
  const auto it = std::ranges::find_if(pool_, [&](const auto& known) { return *known == rows; });
  if (it != pool_.end()) return *it;
  pool_.push_back(std::make_shared<const PKeyRows>(std::move(rows)));
  return pool_.back();
}

Discovery::Discovery(mad::Transactions& tx, mad::Clock& clock, asio::any_io_executor executor,
                     const Subnet* before, DiscoverOptions options,
                     std::set<std::pair<Guid, PortNum>> excluded)
    : tx_(tx),
      clock_(clock),
      before_(before),
      options_(options),
      findings_(std::move(excluded)),
      group_(std::move(executor)) {}

void Discovery::start(asio::awaitable<void> task) {
  ++running_;
  group_.spawn(counted(std::move(task)));
}

asio::awaitable<void> Discovery::counted(asio::awaitable<void> task) {
  co_await std::move(task);
  --running_;
  ++completed_;
  if (running_ == 0) waiters_.wake_all();
}

/// Waits until all tasks have ended, or until nothing has ended for as long as we have patience. False when
/// cancelled.
asio::awaitable<bool> Discovery::settle() {
  while (running_ != 0) {
    const auto completed = completed_;
    const auto timer = clock_.call_at(clock_.now() + options_.patience, [this] { waiters_.wake_all(); });
    const bool woken = co_await waiters_.wait();
    clock_.cancel(timer);
    if (!woken) co_return false;
    if (completed == completed_) break;
  }
  co_return true;
}

bool Discovery::begin_reads() {
  const auto reads = std::exchange(to_read_, {});
  for (const auto& read : reads) {
    if (read.whole) start(read_description(read.found));
    if (read.whole && read.found->node.is_switch()) start(read_switch(read.found));
    if (!read.found->node.is_switch()) start(read_port(read.found, read.arrival, read.path));
  }
  return !reads.empty();
}

/// Every port that has a link whose other end nobody has seen.
bool Discovery::begin_probes() {
  bool any = false;
  for (auto* found : may_probe_) {
    const auto& node = found->node;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const PeerPort place{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
      if (!node.is_switch() && place.port != self_->port) continue;
      if (!node.ports[p].linked() || node.ports[p].peer || findings_.excluded(place)) continue;
      const auto path = found->path.then(place.port);
      if (!path || !probed_.insert({place.node, place.port}).second) continue;
      start(visit(place, *path));
      any = true;
    }
  }
  return any;
}

/// False when cancelled.
asio::awaitable<bool> Discovery::explore() {
  start(visit(std::nullopt, {}));
  bool going = co_await settle();
  while (going) {
    const bool reads = begin_reads();
    if (reads) going = co_await settle();
    const bool probes = going && begin_probes();
    if (probes) going = co_await settle();
    if (reads || probes) continue;
    if (running_ == 0) break;
    going = co_await settle();
  }
  co_return going;
}

namespace {

/// LIDs are lost by a restart.
bool same_incarnation(const Node& before, const Node& now) {
  if (before.ports.size() != now.ports.size()) return false;
  for (std::size_t p = 0; p < now.ports.size(); ++p) {
    const bool end_port = now.is_switch() ? p == 0 : now.ports[p].known;
    if (end_port && now.ports[p].info.lid != before.ports[p].info.lid) return false;
  }
  return true;
}

}  // namespace

/// A reboot takes the LID and LinearFDBTop away; who still has both still has our tables.
bool Discovery::tables_stand(const FoundNode& found, const Node& before) const {
  return options_.trust_tables && before.switch_info && found.node.switch_info && before.lft.row &&
         before.switch_info->linear_fdb_top == found.node.switch_info->linear_fdb_top &&
         before.info.num_ports == found.node.info.num_ports &&
         before.ports[0].info.lid == found.node.ports[0].info.lid && before.ports[0].info.lid != Lid{};
}

Subnet Discovery::finish() {
  for (const auto& found : findings_.nodes()) {
    const auto* before = before_ != nullptr ? before_->find(found->node.guid()) : nullptr;
    // A node that is as we left it still does not keep what it did not keep; after a restart it may.
    if (before != nullptr && same_incarnation(*before, found->node)) found->node.not_kept = before->not_kept;
  }
  auto subnet = make_subnet(std::move(findings_), *self_, before_);
  std::ranges::sort(unresponsive_, {}, [](const Unresponsive& u) {
    return std::tuple{u.behind.node, u.behind.port, u.node, u.reason};
  });
  subnet.unresponsive = std::move(unresponsive_);
  std::ranges::sort(other_sms_, {}, [](const OtherSm& sm) { return std::tuple{sm.at.node, sm.at.port}; });
  subnet.other_sms = std::move(other_sms_);
  return subnet;
}

/// Of the places in conflict those that are not where the GUID was before; empty without such history.
std::set<std::pair<Guid, PortNum>> Discovery::newcomers() const {
  std::set<std::pair<Guid, PortNum>> places;
  for (const auto& [guid, ports] : findings_.conflicts()) {
    const auto* before = before_ != nullptr ? before_->find(guid) : nullptr;
    if (before == nullptr) continue;
    const auto had = [&](const PeerPort& place) {
      return std::ranges::any_of(before->ports, [&](const Port& port) { return port.peer == place; });
    };
    if (std::ranges::none_of(ports, had)) continue;
    for (const auto& place : ports) {
      if (!had(place) && place.node != guid) places.insert({place.node, place.port});
    }
  }
  return places;
}

asio::awaitable<std::expected<Subnet, std::string>> discover(mad::Transactions* tx, mad::Clock* clock,
                                                             const Subnet* before, DiscoverOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  std::set<std::pair<Guid, PortNum>> excluded;
  std::vector<DuplicateGuid> kept_out;
  for (;;) {
    Discovery discovery(*tx, *clock, executor, before, options, excluded);
    const bool whole = co_await discovery.explore();
    co_await discovery.group_.stop();
    if (!whole) co_return std::unexpected("cancelled");
    const auto newcomers = discovery.newcomers();
    const auto known = excluded.size();
    excluded.insert(newcomers.begin(), newcomers.end());
    // The incumbent may have been read by the newcomer's way: once more, without the newcomer.
    if (excluded.size() != known) {
      for (const auto& [guid, places] : discovery.findings_.conflicts()) kept_out.push_back({guid, places});
      continue;
    }
    if (!discovery.self_) co_return std::unexpected(discovery.own_port_error_);
    auto subnet = discovery.finish();
    subnet.duplicates.insert(subnet.duplicates.end(), kept_out.begin(), kept_out.end());
    co_return subnet;
  }
}

}  // namespace smd::sm
