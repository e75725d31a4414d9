// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/discovery_session.h"

namespace smd::sm::inline sweeping {

DiscoverySession::DiscoverySession(mad::Transactions& tx, mad::Clock& clock, asio::any_io_executor executor,
                                   const Subnet* before, SweepOptions options, DiscoveryState found)
    : findings(std::move(found)),
      tx_(tx),
      clock_(clock),
      before_(before),
      options_(std::move(options)),
      group_(std::move(executor)) {}

void DiscoverySession::start(asio::awaitable<void> task) {
  ++running_;
  group_.spawn(counted(std::move(task), wave_));
}

asio::awaitable<void> DiscoverySession::counted(asio::awaitable<void> task, std::uint64_t wave) {
  co_await std::move(task);
  --running_;
  if (wave != wave_) --stragglers_;
  ++completed_;
  if (running_ <= left_ + stragglers_) waiters_.wake_all();
}

asio::awaitable<bool> DiscoverySession::settle(std::size_t left) {
  left_ = left;
  while (running_ > left) {
    const auto completed = completed_;
    const auto timer = clock_.call_at(clock_.now() + options_.patience, [this] { waiters_.wake_all(); });
    const bool woken = co_await waiters_.wait();
    clock_.cancel(timer);
    if (!woken) co_return false;
    if (completed == completed_) break;
  }
  co_return true;
}

asio::awaitable<bool> DiscoverySession::settle_new() {
  left_ = 0;
  while (running_ > stragglers_) {
    const auto completed = completed_;
    const auto timer = clock_.call_at(clock_.now() + options_.patience, [this] { waiters_.wake_all(); });
    const bool woken = co_await waiters_.wait();
    clock_.cancel(timer);
    if (!woken) co_return false;
    if (completed != completed_) continue;
    ++wave_;
    stragglers_ = running_;
  }
  co_return true;
}

bool DiscoverySession::begin_reads() {
  const auto reads = std::exchange(to_read_, {});
  for (const auto& read : reads) {
    if (read.whole) start(read_description(read.found));
    if (read.whole && read.found->node.is_switch()) start(read_switch(read.found));
    if (!read.found->node.is_switch()) start(read_port(read.found, read.arrival, read.path));
  }
  return !reads.empty();
}

bool DiscoverySession::begin_probes() {
  bool any = false;
  for (auto* found : may_probe) {
    const auto& node = found->node;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const PeerPort place{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
      if (!node.is_switch() && place.port != self->port) continue;
      if (!node.ports[p].linked() || node.ports[p].peer || findings.excluded(place)) continue;
      if (found->outdated.contains(place.port)) continue;
      const auto path = found->path.then(place.port);
      if (!probed_.insert({place.node, place.port}).second) continue;
      if (!path) {
        unresponsive.push_back({place, Guid{}, "no directed route is long enough to lead there"});
        continue;
      }
      start(visit(place, *path));
      any = true;
    }
  }
  return any;
}

bool same_incarnation(const Node& before, const Node& now) {
  if (before.ports.size() != now.ports.size()) return false;
  for (std::size_t p = 0; p < now.ports.size(); ++p) {
    const bool end_port = now.is_switch() ? p == 0 : now.ports[p].known;
    if (end_port && now.ports[p].info.lid != before.ports[p].info.lid) return false;
  }
  return true;
}

/// A reboot takes the LID and LinearFDBTop away; who still has both still has our tables.
bool DiscoverySession::tables_stand(const FoundNode& found, const Node& before) const {
  return options_.trust_tables && before.switch_info && found.node.switch_info && before.lft.row &&
         before.switch_info->linear_fdb_top == found.node.switch_info->linear_fdb_top &&
         before.info.num_ports == found.node.info.num_ports &&
         before.ports[0].info.lid == found.node.ports[0].info.lid && before.ports[0].info.lid.unicast();
}

}  // namespace smd::sm::inline sweeping
