// SPDX-License-Identifier: Apache-2.0
// Repairs change what must change and hardly anything else: classes of faults, 50 seeds each.
#include <gtest/gtest.h>

#include <random>

#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Routable;
using fabrics::Told;

constexpr unsigned kRadix = 8;
constexpr SwitchIndex kLeaves = 32,
                      kMiddles = 64;  // ft3(8): leaves below 32, middle switches below 64, cores
constexpr std::uint64_t kSeeds = 50;

int level(Guid guid) {
  const auto s = guid.value() - 0x1000;
  return s < kLeaves ? 0 : s < kMiddles ? 1 : 2;
}

/// Switches that reach `to` by going down only, and by going up first.
struct Reach {
  std::vector<bool> down, any;
  Reach(const Topology& topology, SwitchIndex to) : down(topology.switches()), any(topology.switches()) {
    down[to] = true;
    for (int round = 0; round < 4; ++round)
      spread(topology, down,
             [&](auto s, auto peer) { return level(topology.guid(peer)) < level(topology.guid(s)); });
    any = down;
    for (int round = 0; round < 4; ++round)
      spread(topology, any,
             [&](auto s, auto peer) { return level(topology.guid(peer)) > level(topology.guid(s)); });
  }
  template <class Step>
  static void spread(const Topology& topology, std::vector<bool>& reach, const Step& step) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto peer = topology.group(s, g).peer;
        if (reach[peer] && step(s, peer)) reach[s] = true;
      }
    }
  }
};

/// Entries whose port is down, or whose next switch has no path to the LID any more.
std::uint64_t must_change(const Routable& before, const Routes& old, const Routable& now) {
  std::uint64_t count = 0;
  std::vector<Reach> reach;
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) reach.emplace_back(now.topology, s);
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    const auto* const row = old.rows[before.topology.find(now.topology.guid(s))].get();
    for (std::uint16_t value = 1; value <= now.lids.top().value(); ++value) {
      const auto to = now.lids.destination(Lid{value}).sw;
      const PortNum port{entry(row, Lid{value})};
      if (to == kNoSwitch || to == s || port == kNoPort) continue;
      const auto peer = now.topology.peer(s, port).sw;
      if (peer == kNoSwitch) {
        ++count;
      } else {
        const bool down = level(now.topology.guid(peer)) < level(now.topology.guid(s));
        count += (down ? reach[to].down[peer] : reach[to].any[peer]) ? 0 : 1;
      }
    }
  }
  return count;
}

std::uint64_t changed(const Routable& before, const Routes& old, const Routable& now, const Routes& fresh) {
  std::uint64_t count = 0;
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    const auto* const was = old.rows[before.topology.find(now.topology.guid(s))].get();
    for (std::uint16_t value = 1; value <= now.lids.top().value(); ++value) {
      if (now.lids.destination(Lid{value}).sw == kNoSwitch) continue;
      count += entry(was, Lid{value}) != entry(fresh.rows[s].get(), Lid{value}) ? 1 : 0;
    }
  }
  return count;
}

void expect_least(const Told& whole, const Told& rest, std::uint64_t seed) {
  const auto before = whole.routable(), now = rest.routable();
  const auto old = *find_engine("dmodc")->run({.context = {before.topology, before.lids, Serial{}}});
  std::vector<OldRow> rows;
  for (SwitchIndex s = 0; s < before.topology.switches(); ++s) {
    rows.push_back({before.topology.guid(s), old.rows[s]});
  }
  const auto reference = merge({}, before.topology);
  const auto repaired = repair_routes({.context = {now.topology, now.lids, Serial{}},
                                       .old = rows,
                                       .reference = reference,
                                       .engine = *find_engine("dmodc"),
                                       .options = {}});
  ASSERT_TRUE(repaired) << seed << ": " << to_string(repaired.error());
  const auto found = verify_routes({now.topology, now.lids, Serial{}}, repaired->routes);
  EXPECT_TRUE(found.clean()) << seed << ": " << describe(found, now.topology);
  const auto must = must_change(before, old, now);
  EXPECT_LE(static_cast<double>(changed(before, old, now, repaired->routes)),
            1.02 * static_cast<double>(must))
      << "seed " << seed << ", " << must << " entries must change";
}

/// Cables that join these levels.
std::vector<std::size_t> cables(const Told& whole, int lower) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < whole.input.links.size(); ++i) {
    const auto& link = whole.input.links[i];
    const auto a = level(whole.input.switches[link.a].guid), b = level(whole.input.switches[link.b].guid);
    if (std::min(a, b) == lower) found.push_back(i);
  }
  return found;
}

class RepairLeast : public testing::TestWithParam<bool> {
 protected:
  /// ft3, with aggregation nodes on all switches if the parameter is set.
  static Told whole() {
    const auto input = fabrics::ft3(kRadix).input();
    return fabrics::told(GetParam() ? fabrics::with_aggregation_nodes(input) : input);
  }
};

TEST_P(RepairLeast, OneCableOfEachLevel) {
  const auto whole = this->whole();
  for (const int lower : {0, 1}) {
    const auto which = cables(whole, lower);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      auto rest = whole;
      const auto at = which[std::mt19937_64(seed)() % which.size()];
      rest.input.links.erase(rest.input.links.begin() + static_cast<std::ptrdiff_t>(at));
      expect_least(whole, rest, seed);
    }
  }
}

TEST_P(RepairLeast, OneSwitchOfEachLevel) {
  const auto whole = this->whole();
  const std::pair<SwitchIndex, SwitchIndex> levels[] = {{0, kLeaves}, {kLeaves, kMiddles}, {kMiddles, 80}};
  for (const auto& [first, last] : levels) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      std::vector<bool> gone(whole.input.switches.size());
      gone[first + std::mt19937_64(seed)() % (last - first)] = true;
      expect_least(whole, fabrics::without_switches(whole, gone), seed);
    }
  }
}

TEST_P(RepairLeast, OnePercentOfTheCables) {
  const auto whole = this->whole();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    expect_least(whole, fabrics::damaged(whole, seed, whole.input.links.size() / 100 + 1, 0), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(, RepairLeast, testing::Bool(), [](const auto& of) {
  return of.param ? "WithAggregationNodes" : "WithoutAggregationNodes";
});

}  // namespace
}  // namespace smd::routing
