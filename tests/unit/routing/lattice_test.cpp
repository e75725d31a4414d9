// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/lattice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/routing_damage.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

Topology topology_of(const std::string& spec) { return Topology(fabrics::of_spec(spec).input); }

/// Switches have places of their own; how many cables join switches that differ in more than one coordinate.
std::size_t strays(const Topology& topology, const Lattice& lattice) {
  std::set<std::vector<std::uint32_t>> places;
  std::size_t found = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto here = lattice.of(s);
    EXPECT_TRUE(places.insert({here.begin(), here.end()}).second);
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto there = lattice.of(topology.group(s, g).peer);
      std::size_t different = 0;
      for (std::size_t d = 0; d < here.size(); ++d) different += here[d] != there[d] ? 1 : 0;
      found += different == 1 ? 0 : 1;
    }
  }
  return found;
}

struct Case {
  const char* spec;
  std::vector<std::size_t> sizes;  ///< ascending
};

TEST(Lattice, IsFoundFromTheCablesAlone) {
  // A ring of four is the product of two rings of two.
  for (const auto& [spec, sizes] : std::vector<Case>{{"mesh:5x3:1", {3, 5}},
                                                     {"mesh:7:1", {7}},
                                                     {"torus:9:1", {9}},
                                                     {"torus:5x6x7:1", {5, 6, 7}},
                                                     {"torus:3x5x2x3:0", {2, 3, 3, 5}},
                                                     {"torus:4x4:1", {2, 2, 2, 2}},
                                                     {"hyperx:2x2x2x2x2x2:1", {2, 2, 2, 2, 2, 2}},
                                                     {"hyperx:16x2:1", {2, 16}},
                                                     {"hyperx:3x4x5:1", {3, 4, 5}},
                                                     {"hyperx:6:1", {6}}}) {
    for (const auto* guids : {"", "+guids=1", "+guids=2"}) {
      const auto topology = topology_of(std::string(spec) + guids);

      const auto lattice = find_lattice(topology);

      ASSERT_TRUE(lattice) << spec << guids;
      std::vector<std::size_t> found;
      for (std::size_t d = 0; d < lattice->dimensions; ++d)
        found.push_back(lines_of(*lattice, d).line(0).size());
      std::ranges::sort(found);
      EXPECT_EQ(found, sizes) << spec << guids;
      EXPECT_EQ(strays(topology, *lattice), 0U) << spec << guids;
    }
  }
}

TEST(Lattice, IsNotFoundInOtherFabrics) {
  for (const auto* spec : {"ft2:8", "ft3:4", "ft3:8", "dragonfly:4:2:2", "dragonflyplus:5:4:4:2",
                           "random:60:8:1:1", "random:24:6:1:2", "random:200:10:1:3"}) {
    EXPECT_FALSE(find_lattice(topology_of(spec))) << spec;
  }
}

TEST(Lattice, AMissingCableMovesNoSwitch) {
  for (const auto* spec : {"mesh:4x5:1", "torus:5x5:1", "hyperx:4x3:1", "hyperx:2x2x2x2:1", "mesh:3x3x3:1"}) {
    const auto whole = fabrics::of_spec(spec).input;
    const auto dimensions = find_lattice(Topology(whole))->dimensions;
    for (std::size_t lost = 0; lost < whole.links.size(); ++lost) {
      auto input = whole;
      input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(lost));
      const Topology topology(input);

      const auto lattice = find_lattice(topology);

      ASSERT_TRUE(lattice) << spec << " without cable " << lost;
      EXPECT_EQ(lattice->dimensions, dimensions) << spec << " without cable " << lost;
      EXPECT_EQ(strays(topology, *lattice), 0U) << spec << " without cable " << lost;
    }
  }
}

TEST(Lattice, ManyMissingCablesOfAHyperXOrTorusLeaveItsPlaces) {
  for (const auto* spec : {"hyperx:8x8:1", "hyperx:2x2x2x2x2x2:1", "torus:6x6x6:1"}) {
    const auto whole = fabrics::told(fabrics::of_spec(spec).input);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto rest = fabrics::damaged(whole, seed, whole.input.links.size() / 20, 1);
      const Topology topology(rest.input);

      const auto lattice = find_lattice(topology);

      ASSERT_TRUE(lattice) << spec << " seed " << seed;
      EXPECT_EQ(strays(topology, *lattice), 0U) << spec << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace smd::routing
