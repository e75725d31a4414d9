// SPDX-License-Identifier: Apache-2.0
// Faults of the cabling at known places in fabrics as they are cabled: each is found at its port, and nothing
// else is reported. Whole fabrics have none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "mad/base/random.h"
#include "routing/cabling/health.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::SpecFabric;

const std::vector<std::string> kTrees{
    "ft2:16",
    "xgft:2;6,8;1,4;1,2",
    "xgft:2;8,12;1,8;1,1",
    "ft3:6",
    "ft3:8",
    "xgft:3;4,4,4;1,4,4;1,1,1",
    "xgft:4;3,3,3,3;1,3,3,3;1,1,1,1",
    "xgft:3;4,4,4;1,2,4;1,2,1",
    "rails:16:8:8:8+an",
    "rails:8:4:6:4",
    "fullcore:4:8:8:4:8",
    "fullcore:3:4:6:3:6",
    "chassis:8:8:8:4",
    "chassis:16:8:8:4:2:2",
};
const std::vector<std::string> kOthers{"dragonfly:4:2", "dragonfly:6:3:3", "dragonflyplus:4:4:4:4",
                                       "torus:4x4:2",   "torus:3x3x3:1",   "mesh:4x5:2",
                                       "hyperx:4x4:2",  "hyperx:5x5:3",    "random:20:4:3:1"};

std::vector<std::string> sentences(const Health& health) {
  std::vector<std::string> all;
  for (const auto& finding : health.findings)
    all.push_back(fmt::format("{}: {}", to_string(finding.kind), finding.text));
  return all;
}

TEST(WholeFabric, HasNothingToReport) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto& specs = seed % 3 == 2 ? kOthers : kTrees;
    const auto spec = fmt::format("{}+guids={}", specs[seed / 3 * 2 % specs.size()], seed);
    EXPECT_THAT(sentences(fabrics::examined(fabrics::of_spec(spec))), testing::IsEmpty()) << spec;
  }
}

/// Designs that look like faults: line boards with more cables than others to each edge switch, machines
/// whose GUIDs follow the rails by chance, lattices of few switches that look like trees.
TEST(WholeFabric, OfAnUnusualDesignHasNothingToReport) {
  for (const std::string spec :
       {"chassis:20:10:8:4", "chassis:20:10:8:4+an", "chassis:18:5:4:3", "chassis:13:7:6:3",
        "chassis:12:9:8:4", "chassis:2:5:8:4", "chassis:3:10:6:2", "rails:8:4:4:2", "rails:4:4:4:2",
        "rails:8:8:4:2", "rails:6:2:4:2", "mesh:3x2:2", "mesh:2x3:2", "mesh:2x2x2:1", "mesh:5:2",
        "torus:4x2:2", "dragonfly:2:2", "dragonflyplus:2:3:2:2", "dragonflyplus:3:4:1:2"}) {
    for (const auto* const suffix : {"", "+guids=7", "+guids=8"}) {
      if (const auto fabric = spec + suffix; fabric.find("+an+") == std::string::npos)
        EXPECT_THAT(sentences(fabrics::examined(fabrics::of_spec(fabric))), testing::IsEmpty()) << fabric;
    }
  }
}

/// A fabric with one fault.
struct Seeded {
  SpecFabric fabric;
  std::string what;
  CablingFault kind = CablingFault::missing;
  std::vector<PortName> ends;  ///< of the cables concerned; a finding must name one of them
  std::size_t needed = 1;      ///< so many of them
};

enum class Fault : std::uint8_t { missing, swapped, misled, slow, narrow, slow_host };

/// A random element that fulfils the condition.
template <class Items, class Condition>
std::size_t pick(const Items& items, base::Random& random, const Condition& condition) {
  for (;;) {
    const auto at = static_cast<std::size_t>(random.below(items.size()));
    if (condition(items[at])) return at;
  }
}

void exchange(Seeded& seeded, base::Random& random) {
  auto& links = seeded.fabric.input.links;
  const auto guid = [&](SwitchIndex s) { return seeded.fabric.input.switches[s].guid; };
  const auto joined = [&](SwitchIndex a, SwitchIndex b) {
    return std::ranges::any_of(
        links, [&](const LinkSpec& l) { return (l.a == a && l.b == b) || (l.a == b && l.b == a); });
  };
  for (;;) {
    auto &one = links[random.below(links.size())], &other = links[random.below(links.size())];
    // Both places get a cable that they had not.
    const bool apart = one.a != other.a && one.b != other.b && one.a != other.b && one.b != other.a;
    if (!apart || joined(one.a, other.b) || joined(other.a, one.b)) continue;
    std::swap(one.b, other.b);
    std::swap(one.b_port, other.b_port);
    seeded.ends = {{guid(one.a), one.a_port},
                   {guid(one.b), one.b_port},
                   {guid(other.a), other.a_port},
                   {guid(other.b), other.b_port}};
    return;
  }
}

/// Whether two cables with other switches at both ends exist that can be exchanged so that it shows.
bool can_be_exchanged(const TopologyInput& input) {
  return std::ranges::any_of(input.links, [&](const LinkSpec& one) {
    return std::ranges::any_of(input.links, [&](const LinkSpec& other) {
      return one.a != other.a && one.b != other.b && one.a != other.b && one.b != other.a &&
             std::ranges::none_of(input.links, [&](const LinkSpec& l) {
               return (l.a == one.a && l.b == other.b) || (l.b == one.a && l.a == other.b) ||
                      (l.a == other.a && l.b == one.b) || (l.b == other.a && l.a == one.b);
             });
    });
  });
}

void set_rate(Seeded& seeded, PortName end, PortRate rate) { seeded.fabric.rates.at(end) = rate; }

Seeded seeded_fault(SpecFabric fabric, std::string what, Fault fault, std::uint64_t seed) {
  Seeded seeded{std::move(fabric), std::move(what), {}, {}};
  base::Random random(seed);
  auto& input = seeded.fabric.input;
  auto& links = input.links;
  const auto guid = [&](SwitchIndex s) { return input.switches[s].guid; };
  const auto at = static_cast<std::size_t>(random.below(links.size()));
  seeded.ends = {{guid(links[at].a), links[at].a_port}, {guid(links[at].b), links[at].b_port}};
  switch (fault) {
    case Fault::missing:
      seeded.kind = CablingFault::missing;
      seeded.needed = 2;
      links.erase(links.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case Fault::swapped:
      seeded.kind = CablingFault::swapped;
      exchange(seeded, random);
      break;
    case Fault::misled: {  // to a free port of another switch that has as many ports
      seeded.kind = CablingFault::swapped;
      auto& link = links[at];
      const auto other = pick(input.switches, random, [&](const SwitchSpec& s) {
        const auto here = static_cast<SwitchIndex>(&s - input.switches.data());
        return here != link.a && here != link.b && s.ports == input.switches[link.b].ports;
      });
      const auto ports = ++input.switches[other].ports;
      link.b = static_cast<SwitchIndex>(other);
      link.b_port = PortNum{static_cast<std::uint8_t>(ports)};
      seeded.ends.push_back({guid(link.b), link.b_port});
      seeded.fabric.rates[seeded.ends.back()] = seeded.fabric.rates.at(seeded.ends.front());
      break;
    }
    case Fault::slow:
      seeded.kind = CablingFault::slow;
      for (const auto end : seeded.ends) set_rate(seeded, end, {LinkWidth::x4, LinkSpeed::edr});
      break;
    case Fault::narrow:
      seeded.kind = CablingFault::width;
      for (const auto end : seeded.ends) set_rate(seeded, end, {LinkWidth::x1, LinkSpeed::hdr});
      break;
    case Fault::slow_host: {
      seeded.kind = CablingFault::slow;
      const auto& end = input.end_ports[random.below(input.end_ports.size())];
      seeded.ends = {{guid(end.sw), end.port}};
      set_rate(seeded, seeded.ends.front(), {LinkWidth::x4, LinkSpeed::fdr});
    }
  }
  return seeded;
}

Seeded seeded_fault(const std::string& plain, Fault fault, std::uint64_t seed) {
  const auto spec = fmt::format("{}+guids={}", plain, seed);
  return seeded_fault(fabrics::of_spec(spec), fmt::format("{} fault {}", spec, static_cast<int>(fault)),
                      fault, seed);
}

struct Verdict {
  bool found = false;                 ///< at its ports
  std::vector<std::string> invented;  ///< sentences about other places
};

Verdict verdict(const Seeded& seeded, const Health& health) {
  Verdict result;
  for (const auto& finding : health.findings) {
    const auto named = static_cast<std::size_t>(std::ranges::count_if(
        seeded.ends, [&](PortName end) { return std::ranges::count(finding.ports, end) != 0; }));
    const bool node = std::ranges::any_of(seeded.ends, [&](PortName end) {
      return std::ranges::count(finding.ports, end.node, &PortName::node) != 0;
    });
    if (named >= seeded.needed && is_fault(finding)) result.found = true;
    if (!node) result.invented.push_back(fmt::format("{}: {}", to_string(finding.kind), finding.text));
  }
  return result;
}

TEST(SeededFault, IsFoundAtItsPortAndNothingElseIs) {
  constexpr std::array kFaults{Fault::missing, Fault::swapped, Fault::misled,
                               Fault::slow,    Fault::narrow,  Fault::slow_host};
  std::size_t faults = 0, found = 0;
  std::string missed;
  for (std::uint64_t seed = 0; seed < 306; ++seed) {
    const auto fault = kFaults[seed % kFaults.size()];
    const auto& plain = kTrees[seed / kFaults.size() % kTrees.size()];
    if (fault == Fault::swapped && !can_be_exchanged(fabrics::of_spec(plain).input)) continue;
    const auto seeded = seeded_fault(plain, fault, seed);
    const auto health = fabrics::examined(seeded.fabric);
    const auto result = verdict(seeded, health);
    ++faults;
    found += result.found ? 1 : 0;
    if (!result.found) missed += fmt::format("\n{}: {}", seeded.what, fmt::join(sentences(health), "; "));
    EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
  }
  EXPECT_GE(faults, 250U);
  EXPECT_GE(found * 100, faults * 95) << found << " of " << faults << ", missed:" << missed;
}

TEST(SeededFault, OfFabricsThatAreNoTreesIsFoundWherePortsAreUsedAlike) {
  for (const std::string spec : {"dragonfly:4:2", "dragonfly:6:3:3", "torus:4x4:2", "torus:3x3x3:1",
                                 "hyperx:4x4:2", "hyperx:5x5:3", "dragonflyplus:4:4:4:4"}) {
    for (const auto fault : {Fault::missing, Fault::slow, Fault::narrow, Fault::slow_host}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto seeded = seeded_fault(spec, fault, seed);
        const auto health = fabrics::examined(seeded.fabric);
        const auto result = verdict(seeded, health);
        EXPECT_TRUE(result.found) << seeded.what << ": "
                                  << fmt::format("{}", fmt::join(sentences(health), "; "));
        EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
      }
    }
  }
}

TEST(SeededFault, SwappedCablesOfALatticeAreFound) {
  std::size_t found = 0;
  std::string missed;
  for (const std::string spec : {"torus:4x4:2", "torus:5x5:1", "torus:3x3x3:1", "mesh:4x5:2", "mesh:3x3x3:1",
                                 "hyperx:4x4:2", "hyperx:5x5:3"}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto seeded = seeded_fault(spec, Fault::swapped, seed);
      const auto health = fabrics::examined(seeded.fabric);
      const auto result = verdict(seeded, health);
      found += result.found && health.findings.size() == 1 ? 1 : 0;
      if (!result.found) missed += fmt::format("\n{}: {}", seeded.what, fmt::join(sentences(health), "; "));
      EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
    }
  }
  EXPECT_GE(found, 53U) << missed;
}

/// Exchanges two cables so that so many pairs of switches, one or two, have two cables then.
Seeded with_doubled_links(const std::string& spec, std::ptrdiff_t doubled, std::uint64_t seed) {
  Seeded seeded{fabrics::of_spec(fmt::format("{}+guids={}", spec, seed)),
                fmt::format("{} {} {}", spec, doubled, seed),
                CablingFault::swapped,
                {}};
  auto& links = seeded.fabric.input.links;
  const auto guid = [&](SwitchIndex s) { return seeded.fabric.input.switches[s].guid; };
  const auto joined = [&](SwitchIndex a, SwitchIndex b) {
    return std::ranges::count_if(
        links, [&](const LinkSpec& l) { return (l.a == a && l.b == b) || (l.a == b && l.b == a); });
  };
  base::Random random(seed);
  for (;;) {
    auto &one = links[random.below(links.size())], &other = links[random.below(links.size())];
    if (random.below(2) == 0) {  // either end of a cable may be exchanged
      std::swap(other.a, other.b);
      std::swap(other.a_port, other.b_port);
    }
    const bool apart = one.a != other.a && one.b != other.b && one.a != other.b && one.b != other.a;
    if (!apart || joined(one.a, other.b) + joined(other.a, one.b) != doubled) continue;
    std::swap(one.b, other.b);
    std::swap(one.b_port, other.b_port);
    seeded.ends = {{guid(one.a), one.a_port},
                   {guid(one.b), one.b_port},
                   {guid(other.a), other.a_port},
                   {guid(other.b), other.b_port}};
    return seeded;
  }
}

/// In a full mesh every exchange leaves two cables between two pairs of switches, in a HyperX those of a row.
TEST(SeededFault, SwappedCablesThatLeaveTwoCablesBetweenSwitchesAreFound) {
  struct Case {
    const char* spec;
    std::ptrdiff_t doubled;
  };
  for (const auto& [spec, doubled] :
       {Case{"hyperx:5:1", 2}, Case{"hyperx:8:2", 2}, Case{"hyperx:16:1", 2}, Case{"hyperx:3x3:2", 2},
        Case{"hyperx:4x4:1", 2}, Case{"hyperx:4x4:2", 1}, Case{"hyperx:5x5:1", 1}}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto seeded = with_doubled_links(spec, doubled, seed);
      const auto health = fabrics::examined(seeded.fabric);
      const auto result = verdict(seeded, health);
      EXPECT_TRUE(result.found) << seeded.what;
      EXPECT_EQ(health.findings.size(), 1U)
          << seeded.what << ": " << fmt::format("{}", fmt::join(sentences(health), "; "));
      EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
    }
  }
}

/// Exchanges two cables within different groups of a dragonfly.
Seeded with_swapped_groups(const std::string& spec, std::uint64_t seed) {
  Seeded seeded{fabrics::of_spec(fmt::format("{}+guids={}", spec, seed)),
                fmt::format("{} {}", spec, seed),
                CablingFault::swapped,
                {}};
  auto& links = seeded.fabric.input.links;
  const auto guid = [&](SwitchIndex s) { return seeded.fabric.input.switches[s].guid; };
  const auto group = [&](SwitchIndex s) { return seeded.fabric.names.at(guid(s)).substr(0, 4); };
  base::Random random(seed);
  auto& one = links[pick(links, random, [&](const LinkSpec& l) { return group(l.a) == group(l.b); })];
  auto& other = links[pick(links, random, [&](const LinkSpec& l) {
    return group(l.a) == group(l.b) && group(l.a) != group(one.a);
  })];
  std::swap(one.b, other.b);
  std::swap(one.b_port, other.b_port);
  seeded.ends = {{guid(one.a), one.a_port},
                 {guid(one.b), one.b_port},
                 {guid(other.a), other.a_port},
                 {guid(other.b), other.b_port}};
  return seeded;
}

TEST(SeededFault, SwappedCablesWithinGroupsOfADragonflyAreFound) {
  std::size_t found = 0;
  std::string missed;
  for (const std::string spec :
       {"dragonfly:4:2", "dragonfly:6:3:3", "dragonflyplus:4:4:4:4", "dragonflyplus:6:3:3:2"}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto seeded = with_swapped_groups(spec, seed);
      const auto health = fabrics::examined(seeded.fabric);
      const auto result = verdict(seeded, health);
      found += result.found ? 1 : 0;
      if (!result.found) missed += fmt::format("\n{}: {}", seeded.what, fmt::join(sentences(health), "; "));
      EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
    }
  }
  EXPECT_GE(found, 76U) << missed;
}

/// A leaf with two spines has one of each group left, and may belong to either: both answers are named.
TEST(SeededFault, SwappedCablesOfLeavesWithTwoSpinesAreFound) {
  std::size_t found = 0;
  std::string missed;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto seeded = with_swapped_groups("dragonflyplus:5:4:2:3", seed);
    const auto health = fabrics::examined(seeded.fabric);
    const auto result = verdict(seeded, health);
    found += result.found ? 1 : 0;
    if (!result.found) missed += fmt::format("\n{}: {}", seeded.what, fmt::join(sentences(health), "; "));
    EXPECT_THAT(result.invented, testing::IsEmpty()) << seeded.what;
  }
  EXPECT_GE(found, 19U) << missed;
}

}  // namespace
}  // namespace smd::routing
