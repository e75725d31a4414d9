// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/changes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "routing/verify/dependencies.h"
#include "routing/verify/differences.h"
#include "routing/verify/missing_counts.h"
#include "routing/verify/verify.h"

namespace smd::routing::inline verify {
namespace {

/// If more than one entry in so many changed, a complete verification is faster, unless they are few (ft3:56:
/// both take 95 ms at 750,000).
constexpr std::size_t kShare = 250;
constexpr std::size_t kFewEntries = 4096;
/// Longer paths are not traced; verification as a whole takes over.
constexpr unsigned kLongest = 64;
/// Switches per piece of work.
constexpr std::size_t kSwitchesAtOnce = 16;

struct Wait {
  Dependencies::Channel channel;
  PortNum next;
};

/// Checks that each changed entry leads to its LID, and collects its dependencies. Scratch memory for one
/// switch after another.
class Following {
 public:
  Following(const Topology& topology, const LidMap& lids, const Routes& routes)
      : topology_(topology), lids_(lids), routes_(routes) {}

  /// False if one of the LIDs does not arrive from the switch, or another switch sends it there in vain.
  bool add(SwitchIndex s, std::span<const Lid> changed, std::vector<Wait>& waits) {
    onwards_.assign(topology_.ports(s) + 1U, PortBits{});
    for (const auto lid : changed) {
      if (port_at(s, lid).value() != kNoRoute && !arrives(s, lid)) return false;
    }
    for (std::size_t p = 0; p < onwards_.size(); ++p) {
      for_each_port(onwards_[p], [&](PortNum next) {
        waits.push_back({{s, PortNum{static_cast<std::uint8_t>(p)}}, next});
      });
    }
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      for (const auto port : group.ports) {
        if (!add_from(s, {group.peer, topology_.peer(s, port).port}, changed, waits)) return false;
      }
    }
    return true;
  }

 private:
  using PortBits = std::array<std::uint64_t, 4>;

  static void set(PortBits& bits, PortNum port) {
    bits[port.value() / 64U] |= std::uint64_t{1} << (port.value() % 64U);
  }
  template <class Fn>
  static void for_each_port(const PortBits& bits, const Fn& fn) {
    for (std::size_t w = 0; w < bits.size(); ++w) {
      for (auto word = bits[w]; word != 0; word &= word - 1) {
        fn(PortNum{static_cast<std::uint8_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word)))});
      }
    }
  }
  PortNum port_at(SwitchIndex s, Lid lid) const { return PortNum{(*routes_.rows[s])[lid.value()]}; }

  /// Stores the port of the second hop, if there is one.
  bool arrives(SwitchIndex s, Lid lid) {
    const auto to = lids_.destination(lid);
    const auto first = port_at(s, lid);
    auto port = first;
    for (unsigned hop = 0; hop < kLongest; ++hop) {
      const auto peer = topology_.peer(s, port).sw;
      if (peer == kNoSwitch) return to.sw == s && to.port == port;
      s = peer;
      port = port_at(s, lid);
      if (hop == 0 && topology_.peer(s, port).sw != kNoSwitch) set(onwards_[first.value()], port);
    }
    return false;
  }

  /// Packets that enter the switch by a neighbour's channel wait for the ports by which they leave.
  bool add_from(SwitchIndex s, Dependencies::Channel channel, std::span<const Lid> changed,
                std::vector<Wait>& waits) const {
    PortBits next{};
    const auto& theirs = *routes_.rows[channel.sw];
    const auto& own = *routes_.rows[s];
    for (const auto lid : changed) {
      if (theirs[lid.value()] == channel.out.value()) set(next, PortNum{own[lid.value()]});
    }
    if ((next[kNoRoute / 64] >> (kNoRoute % 64) & 1U) != 0) return false;
    for_each_port(next, [&](PortNum port) {
      if (topology_.peer(s, port).sw != kNoSwitch) waits.push_back({channel, port});
    });
    return true;
  }

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  std::vector<PortBits> onwards_;  ///< by port
};

/// The earlier channel numbers of the switches that still exist.
std::vector<std::uint32_t> numbers_now(const Proven& before, const Topology& topology,
                                       const Differences& differences) {
  std::vector<std::uint32_t> now(topology.channels());
  const auto& then = before.verification.order->front();
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto from = before.topology.channel(differences.was[s], PortNum{0});
    std::copy_n(then.begin() + static_cast<std::ptrdiff_t>(from), topology.ports(s) + 1U,
                now.begin() + static_cast<std::ptrdiff_t>(topology.channel(s, PortNum{0})));
  }
  return now;
}

bool follows_channel_order(const Topology& topology, std::span<const std::uint32_t> numbers,
                           const Wait& wait) {
  const auto [channel, next] = wait;
  const auto peer = topology.peer(channel.sw, channel.out).sw;
  return numbers[topology.channel(channel.sw, channel.out)] < numbers[topology.channel(peer, next)];
}

bool comparable(const Proven& before, const Routes& routes) {
  const auto& found = before.verification;
  return before.layers == routes.layers && before.layers.count == 1 && before.layers.by_lid.empty() &&
         before.layers.by_pair.empty() && found.clean() && found.order != nullptr && found.waits != nullptr &&
         found.order->size() == 1;
}

}  // namespace

// A packet that meets no changed entry takes its old path; one that meets one continues as traced from there.
// Each new dependency of channels begins or ends at such an entry, so the old graph plus these is searched
// for cycles.
std::optional<Verification> verify_changes(const Proven& before, const RoutingContext& now,
                                           const Routes& routes) {
  const auto& [topology, lids, parallel, stop] = now;
  if (!comparable(before, routes)) return std::nullopt;
  const auto most = std::max(kFewEntries, topology.switches() * lids.size() / kShare);
  const auto differences = find_differences(before, now, routes, most);
  if (!differences) return std::nullopt;

  std::vector<std::vector<Wait>> waits((topology.switches() + kSwitchesAtOnce - 1) / kSwitchesAtOnce);
  std::atomic<bool> good{true};
  for_ranges(parallel, topology.switches(), kSwitchesAtOnce, [&](std::size_t begin, std::size_t end) {
    Following following(topology, lids, routes);
    for (auto s = static_cast<SwitchIndex>(begin); s < end && good && !stop.stop_requested(); ++s) {
      const auto& changed = differences->entries[s];
      if (!changed.empty() && !following.add(s, changed, waits[begin / kSwitchesAtOnce])) good = false;
    }
  });
  if (!good || stop.stop_requested()) return std::nullopt;
  auto counted = count_missing(before, now, routes, *differences);
  if (!counted) return std::nullopt;

  auto numbers = numbers_now(before, topology, *differences);
  Dependencies graph(topology, before.topology, differences->was, before.verification.waits->front());
  bool known = true;
  for (const auto& piece : waits) {
    for (const auto& wait : piece) {
      graph.add(wait.channel, wait.next);
      known = known && follows_channel_order(topology, numbers, wait);
    }
  }
  if (!known) {
    auto cycles = graph.cycles();
    if (cycles.count != 0) return std::nullopt;
    numbers = std::move(cycles.order);
  }
  auto found = *std::move(counted);
  found.order = std::make_shared<const ChannelOrder>(ChannelOrder{std::move(numbers)});
  found.waits = std::make_shared<const ChannelWaits>(ChannelWaits{std::move(graph).waits()});
  return found;
}

Verification verify_after(const Proven& before, const RoutingContext& now, const Routes& routes) {
  if (auto found = verify_changes(before, now, routes)) return *std::move(found);
  return verify_routes(now, routes);
}

}  // namespace smd::routing::inline verify
