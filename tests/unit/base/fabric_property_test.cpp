// SPDX-License-Identifier: Apache-2.0
// Any fabric that the format has a place for is read back as it was written, however its lines are mixed up.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "mad/base/fabric_edit.h"
#include "mad/base/fabric_file.h"
#include "mad/base/parse.h"
#include "mad/base/random.h"

namespace smd::base {
namespace {

std::string any_name(Random& random) {
  constexpr std::string_view kLetters = "ab9 _-#\"'()[]=lidmc@\\\xc3\xa9";
  std::string name;
  for (auto left = random.below(20); left > 0; --left) name += kLetters[random.below(kLetters.size())];
  return name;
}

LinkRate any_rate(Random& random) {
  constexpr std::array kTexts{
      "4xEDR", "12xSDR", "2xXDR", "4x???", "??HDR", "4xFOO", "17xBAR", "1xFDR10", "4x ??? (IBA extension)"};
  return parse_link_rate(kTexts[random.below(kTexts.size())]);
}

FabricNode any_node(Random& random, unsigned index) {
  FabricNode node;
  node.type = std::array{NodeType::switch_, NodeType::ca, NodeType::router}[random.below(3)];
  node.guid = Guid{random.chance(1, 4) ? random.below(5) : random.next()};
  if (random.chance(1, 2)) node.system_image = Guid{random.next()};
  node.vendor_id = static_cast<std::uint32_t>(random.below(1U << 24U));
  node.device_id = static_cast<std::uint16_t>(random.below(1U << 16U));
  node.id = fmt::format("{}-{:x}", "SHRx"[random.below(4)], index);
  node.name = any_name(random);
  node.ports.resize(2 + random.below(random.chance(1, 8) ? 253 : 6));
  if (node.type == NodeType::switch_) {
    node.enhanced_port0 = random.chance(1, 2);
    node.ports[0].lid = Lid{static_cast<std::uint16_t>(random.below(1U << 16U))};
    node.ports[0].lmc = static_cast<std::uint8_t>(random.below(8));
    if (random.chance(1, 4)) node.ports[0].guid = Guid{node.guid.value() + 1 + random.below(9)};
  }
  return node;
}

void link(Fabric& fabric, Peer a, Peer b, Random& random) {
  const auto end = [&](Peer from, Peer to) {
    auto& node = fabric.nodes[from.node];
    auto& port = node.ports[from.port.value()];
    port.peer = to;
    port.rate = any_rate(random);
    if (node.type == NodeType::switch_) return;
    port.lid = Lid{static_cast<std::uint16_t>(random.below(1U << 16U))};
    port.lmc = static_cast<std::uint8_t>(random.below(8));
    if (const Guid guid{random.next()};
        random.chance(1, 3) && guid.value() != node.guid.value() + from.port.value()) {
      port.guid = guid;
    }
  };
  end(a, b);
  end(b, a);
}

Fabric any_fabric(std::uint64_t seed) {
  Random random(seed);
  Fabric fabric;
  std::vector<Peer> ends;
  for (unsigned count = 1 + static_cast<unsigned>(random.below(12)), i = 0; i < count; ++i) {
    const auto& node = fabric.nodes.emplace_back(any_node(random, i));
    for (unsigned port = 1; port <= node.port_count(); ++port)
      ends.push_back({i, PortNum{static_cast<std::uint8_t>(port)}});
  }
  random.shuffle(ends);
  while (ends.size() > 1 && !random.chance(1, 30)) {
    const auto a = ends.back(), b = random.chance(1, 20) ? a : ends[ends.size() - 2];  // some to themselves
    link(fabric, a, b, random);
    ends.resize(ends.size() - (a == b ? 1 : 2));
  }
  return fabric;
}

RC_GTEST_PROP(FabricProperty, WhatIsWrittenIsReadBack, (std::uint64_t seed)) {
  const auto fabric = any_fabric(seed);
  const auto text = write_fabric(fabric);

  const auto again = read_fabric(text, "f");

  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == fabric);
  RC_ASSERT(write_fabric(*again) == text);
}

RC_GTEST_PROP(FabricProperty, LineEndsAndSpacesDoNotMatter, (std::uint64_t seed)) {
  const auto fabric = any_fabric(seed);
  std::string text;
  bool quoted = false;
  for (const char c : write_fabric(fabric)) {
    quoted = (quoted != (c == '"')) && c != '\n';
    text += c == '\n' ? " \r\n" : c == '\t' && !quoted ? "  \t " : std::string(1, c);
  }

  const auto again = read_fabric(text, "f");

  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == fabric);
}

RC_GTEST_PROP(FabricProperty, DamagedTextNeverCrashesAndErrorsHaveLines, (std::uint64_t seed)) {
  auto text = write_fabric(any_fabric(seed));
  Random random(seed + 1);
  for (auto left = 1 + random.below(8); left > 0; --left) {
    const auto at = static_cast<std::size_t>(random.below(text.size()));
    if (random.chance(1, 2)) {
      text[at] = static_cast<char>(random.below(256));
    } else {
      text.erase(at, static_cast<std::size_t>(random.below(40)));
    }
    if (text.empty()) return;
  }
  const auto fabric = read_fabric(text, "f");
  if (!fabric) {
    RC_ASSERT(!fabric.error().empty());
    return;
  }
  const auto rewritten = write_fabric(*fabric);
  RC_ASSERT(read_fabric(rewritten, "f").has_value());
  RC_ASSERT(write_fabric(*read_fabric(rewritten, "f")) == rewritten);
}

RC_GTEST_PROP(FabricProperty, RemovalsKeepLinksSymmetric, (std::uint64_t seed)) {
  const auto fabric = any_fabric(seed);
  Random random(seed);
  Removals removals;
  for (NodeIndex i = 0; i < fabric.nodes.size(); ++i) {
    if (random.chance(1, 4)) removals.nodes.push_back(i);
    for (std::uint8_t port = 1; port <= fabric.nodes[i].port_count(); ++port) {
      if (fabric.nodes[i].ports[port].peer && random.chance(1, 8))
        removals.links.push_back({i, PortNum{port}});
    }
  }

  const auto rest = without(fabric, removals);

  RC_ASSERT(rest.nodes.size() == fabric.nodes.size() - removals.nodes.size());
  for (NodeIndex i = 0; i < rest.nodes.size(); ++i) {
    for (std::uint8_t port = 1; port <= rest.nodes[i].port_count(); ++port) {
      const auto& peer = rest.nodes[i].ports[port].peer;
      if (!peer) continue;
      const Peer here{i, PortNum{port}};
      RC_ASSERT(rest.nodes.at(peer->node).ports.at(peer->port.value()).peer == here);
    }
  }
}

}  // namespace
}  // namespace smd::base
