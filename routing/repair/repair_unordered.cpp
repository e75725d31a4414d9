// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair_unordered.h"

#include <algorithm>

namespace smd::routing::inline repair {
namespace {

/// One changed entry.
struct Change {
  SwitchIndex sw = 0;
  Lid lid;
  std::uint8_t port = kNoRoute;
};

class Column {
 public:
  Column(const Topology& topology, const LidMap& lids, std::span<const std::shared_ptr<const LftRow>> old)
      : topology_(topology), lids_(lids), old_(old), state_(topology.switches()) {}

  void attach(Lid lid, std::vector<Change>& changes) {
    const auto to = lids_.destination(lid);
    if (to.sw == kNoSwitch) return;
    trace(lid, to);
    std::vector<SwitchIndex> front;
    for (SwitchIndex s = 0; s < state_.size(); ++s) {
      if (state_[s] == State::arrives) front.push_back(s);
    }
    for (std::size_t at = 0; at < front.size(); ++at) {
      const auto s = front[at];
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto peer = topology_.group(s, g).peer;
        if (state_[peer] == State::arrives) continue;
        state_[peer] = State::arrives;
        front.push_back(peer);
        const auto ports = ports_towards(peer, s);
        put(peer, lid, ports[(std::size_t{lid.value()} + peer) % ports.size()].value(), changes);
      }
    }
    for (SwitchIndex s = 0; s < state_.size(); ++s) {
      if (state_[s] != State::arrives) put(s, lid, kNoRoute, changes);
    }
    if (old_entry(to.sw, lid) != to.port.value()) changes.push_back({to.sw, lid, to.port.value()});
  }

 private:
  enum class State : std::uint8_t { unknown, under_way, arrives, fails };

  std::uint8_t old_entry(SwitchIndex s, Lid lid) const { return entry(old_[s].get(), lid); }

  void put(SwitchIndex s, Lid lid, std::uint8_t port, std::vector<Change>& changes) const {
    if (old_entry(s, lid) != port) changes.push_back({s, lid, port});
  }

  std::span<const PortNum> ports_towards(SwitchIndex s, SwitchIndex peer) const {
    std::size_t low = 0, high = topology_.groups(s);
    while (high - low > 1) {
      const auto middle = low + (high - low) / 2;
      (topology_.group(s, middle).peer <= peer ? low : high) = middle;
    }
    return topology_.group(s, low).ports;
  }

  void trace(Lid lid, const Destination& to) {
    std::ranges::fill(state_, State::unknown);
    state_[to.sw] = State::arrives;
    std::vector<SwitchIndex> path;
    for (SwitchIndex start = 0; start < state_.size(); ++start) {
      path.clear();
      auto s = start;
      while (s != kNoSwitch && state_[s] == State::unknown) {
        state_[s] = State::under_way;
        path.push_back(s);
        s = topology_.peer(s, PortNum{old_entry(s, lid)}).sw;
      }
      const bool arrives = s != kNoSwitch && state_[s] == State::arrives;
      for (const auto passed : path) state_[passed] = arrives ? State::arrives : State::fails;
    }
  }

  const Topology& topology_;
  const LidMap& lids_;
  std::span<const std::shared_ptr<const LftRow>> old_;
  std::vector<State> state_;
};

constexpr std::size_t kLidsOfAPiece = 64;

}  // namespace

std::optional<std::expected<Repaired, RouteError>> repair_unordered(
    const RoutingContext& in, std::span<const std::shared_ptr<const LftRow>> old) {
  const auto& [topology, lids, parallel, stop] = in;
  std::vector<std::vector<Change>> pieces(lids.row_size() / kLidsOfAPiece);
  for_ranges(parallel, lids.row_size(), kLidsOfAPiece, [&](std::size_t begin, std::size_t end) {
    if (stop.stop_requested()) return;
    Column column(topology, lids, old);
    for (auto lid = begin; lid < end; ++lid) {
      column.attach(Lid{static_cast<std::uint16_t>(lid)}, pieces[begin / kLidsOfAPiece]);
    }
  });
  if (stop.stop_requested()) return std::unexpected(RouteError{});
  Repaired result;
  std::vector<std::shared_ptr<LftRow>> fresh(topology.switches());
  const auto writable = [&](SwitchIndex s) {
    if (fresh[s] == nullptr) {
      fresh[s] = old[s] != nullptr ? std::make_shared<LftRow>(*old[s]) : std::make_shared<LftRow>();
      fresh[s]->resize(lids.row_size(), kNoRoute);
    }
    return fresh[s];
  };
  for (const auto& piece : pieces) {
    for (const auto& [s, lid, port] : piece) {
      auto& entry = (*writable(s))[lid.value()];
      ++(port == kNoRoute ? result.withdrawn : entry == kNoRoute ? result.added : result.replaced);
      entry = port;
    }
  }
  for (SwitchIndex s = 0; s < fresh.size(); ++s) {
    const bool as_it_is = fresh[s] == nullptr && old[s] != nullptr && old[s]->size() == lids.row_size();
    result.routes.rows.push_back(as_it_is ? old[s] : writable(s));
  }
  return result;
}

}  // namespace smd::routing::inline repair
