// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trees of many shapes for routing tests, and the same fabrics with other GUIDs.

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/routing_fabrics.h"

namespace smd::routing::fabrics {

/// A level of a parallel-port generalised fat tree: children and parents of a switch, cables to each parent.
struct TreeLevel {
  unsigned children = 1, parents = 1, cables = 1;
};

/// `hosts` on each leaf and the levels above, from the bottom.
inline Builder pgft(unsigned hosts, std::span<const TreeLevel> levels) {
  Builder b("pgft");
  const auto count = [&](std::size_t level) {
    unsigned all = 1;
    for (std::size_t i = 0; i < levels.size(); ++i) all *= i < level ? levels[i].parents : levels[i].children;
    return all;
  };
  std::vector<SwitchIndex> first;
  for (std::size_t level = 0; level <= levels.size(); ++level) {
    first.push_back(static_cast<SwitchIndex>(b.input().switches.size()));
    for (unsigned i = 0; i < count(level); ++i) b.add_switch(254);
  }
  for (SwitchIndex leaf = 0; leaf < count(0); ++leaf) {
    for (unsigned h = 0; h < hosts; ++h) b.host(leaf);
  }
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto [m, w, p] = levels[level];
    unsigned low = 1;
    for (std::size_t i = 0; i < level; ++i) low *= levels[i].parents;
    for (unsigned child = 0; child < count(level); ++child) {
      for (unsigned parent = 0; parent < w; ++parent) {
        for (unsigned k = 0; k < p; ++k)
          b.link(first[level] + child,
                 first[level + 1] + child % low + low * (parent + w * (child / low / m)));
      }
    }
  }
  return b;
}

/// Pods of leaves and middle switches; each middle switch is cabled to every core.
inline Builder full_core(unsigned pods, unsigned leaves, unsigned hosts, unsigned middles, unsigned cores) {
  Builder b("full core");
  for (unsigned i = 0; i < cores + pods * (middles + leaves); ++i) b.add_switch(254);
  for (unsigned pod = 0; pod < pods; ++pod) {
    const auto middle = cores + pod * (middles + leaves), leaf = middle + middles;
    for (unsigned i = 0; i < leaves; ++i) {
      for (unsigned h = 0; h < hosts; ++h) b.host(leaf + i);
      for (unsigned j = 0; j < middles; ++j) b.link(leaf + i, middle + j);
    }
    for (unsigned j = 0; j < middles; ++j) {
      for (unsigned c = 0; c < cores; ++c) b.link(middle + j, c);
    }
  }
  return b;
}

/// A director: even edge switches are cabled to one half of the line boards, odd ones to the other; all line
/// boards to all spine boards.
inline Builder director(unsigned edges, unsigned hosts, unsigned lines, unsigned spines, unsigned cables) {
  Builder b("director");
  for (unsigned i = 0; i < edges + lines + spines; ++i) b.add_switch(254);
  for (unsigned edge = 0; edge < edges; ++edge) {
    for (unsigned h = 0; h < hosts; ++h) b.host(edge);
    for (unsigned h = 0; h < hosts; ++h) b.link(edge, edges + edge % 2 * (lines / 2) + h % (lines / 2));
  }
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned spine = 0; spine < spines; ++spine) {
      for (unsigned k = 0; k < cables; ++k) b.link(edges + line, edges + lines + spine);
    }
  }
  return b;
}

/// The same cables with other GUIDs, all listed in another order. 0: as it is.
inline TopologyInput renamed(TopologyInput input, std::uint64_t seed) {
  if (seed == 0) return input;
  std::mt19937_64 random(seed);
  std::vector<SwitchIndex> place(input.switches.size());
  std::iota(place.begin(), place.end(), SwitchIndex{0});
  std::shuffle(place.begin(), place.end(), random);
  std::vector<std::uint64_t> guids(place.size() + input.end_ports.size());
  std::iota(guids.begin(), guids.end(), std::uint64_t{0x5000});
  std::shuffle(guids.begin(), guids.end(), random);
  const auto before = input.switches;
  for (SwitchIndex i = 0; i < place.size(); ++i) {
    input.switches[place[i]] = before[i];
    input.switches[place[i]].guid = Guid{guids[i]};
  }
  for (auto& link : input.links) {
    link.a = place[link.a];
    link.b = place[link.b];
  }
  for (std::size_t i = 0; i < input.end_ports.size(); ++i) {
    auto& end = input.end_ports[i];
    end.guid = end.node = end.system_image = Guid{guids[place.size() + i]};
    if (end.sw != kNoSwitch) end.sw = place[end.sw];
  }
  std::shuffle(input.links.begin(), input.links.end(), random);
  std::shuffle(input.end_ports.begin(), input.end_ports.end(), random);
  return input;
}

/// A whole tree of two to four levels, at random.
inline Builder random_tree(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto from = [&](unsigned low, unsigned high) {
    return low + static_cast<unsigned>(random() % (high - low + 1));
  };
  switch (seed % 4) {
    case 0:
      return full_core(from(2, 5), from(2, 5), from(1, 5), from(2, 4), from(2, 6));
    case 1:
      return director(2 * from(2, 5), from(2, 6), 2 * from(1, 3), from(1, 4), from(1, 2));
    default:
      break;
  }
  std::vector<TreeLevel> levels;
  const auto height = from(1, 3);
  for (unsigned i = 0; i < height; ++i) {
    const auto most = height == 1 ? 8U : height == 2 ? 5U : 3U;
    levels.push_back({from(2, most), from(2, most), from(1, 2)});
  }
  return pgft(from(1, 5), levels);
}

}  // namespace smd::routing::fabrics
