// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/lft_rounds.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "mad/base/bug.h"
#include "routing/repair/guid_layers.h"
#include "routing/update/update_schedule.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/topology.h"

namespace smd::sm::inline planning {
namespace {

using routing::kLftBlock;
using routing::LftRow;

/// Entries in which a block of `now` differs from `desired`; entries beyond the end of a row are 'no route'.
std::size_t differing(const LftRow& now, const LftRow& desired, std::size_t block) {
  std::size_t count = 0;
  for (std::size_t i = block * kLftBlock; i < (block + 1) * kLftBlock; ++i) {
    const auto old = i < now.size() ? now[i] : routing::kNoRoute;
    count += old != desired[i] ? 1U : 0U;
  }
  return count;
}

BlockSet dirty_blocks(const HeldLft& held, const std::shared_ptr<const LftRow>& desired,
                      std::size_t& changed) {
  const std::size_t blocks = desired->size() / kLftBlock;
  BlockSet dirty;
  for (std::size_t block = 0; block < blocks; ++block) {
    if (!held.row || !held.known.test(block)) {
      dirty.set(block);
    } else if (held.row != desired) {
      const auto entries = differing(*held.row, *desired, block);
      changed += entries;
      if (entries != 0) dirty.set(block);
    }
  }
  return dirty;
}

/// Nothing is forwarded before LinearFDBTop rises.
/// A single round: no packet is forwarded by these tables yet.
Round one_round(std::vector<LftItem>&& items) {
  Round round;
  round.phase = Phase::lft;
  round.lfts = std::move(items);
  return round;
}

/// What rounds are made of: all switches that forward, those as well that no table is decided for.
struct Scene {
  std::shared_ptr<const routing::Topology> topology;
  std::shared_ptr<const routing::LidMap> lids;
  routing::Routes routes;
  std::vector<routing::InstalledTable> installed;
  std::deque<BlockSet> bits;                    ///< what `installed` refers to
  std::vector<std::optional<NodeIndex>> nodes;  ///< by SwitchIndex; nothing: it does not answer
  const routing::ChannelOrder* order = nullptr;
  std::shared_ptr<const routing::Layers> layers_before;
};

/// Switches that are routed round (their tables are too small, they refuse to be written, they do not answer)
/// forward on by what they hold: some paths lead through them until others are written.
std::vector<const Node*> bystanders(const PlanInput& in) {
  std::vector<const Node*> found;
  const auto add = [&](const NodePtr& node) {
    const bool holds = node->is_switch() && node->forwards() && node->lft.row;
    if (holds && in.decided.routes->find(node->guid()) == nullptr) found.push_back(node.get());
  };
  std::ranges::for_each(in.subnet.nodes, add);
  std::ranges::for_each(in.subnet.unmanaged, add);
  return found;
}

/// As its neighbour says, who can be asked.
bool link_is_up(const Subnet& subnet, const Port& own, const PeerPort& peer) {
  const auto* node = subnet.find(peer.node);
  return node == nullptr ? own.linked() : node->ports[peer.port.value()].linked();
}

routing::TopologyInput with_bystanders(const PlanInput& in, const std::vector<const Node*>& others) {
  auto input = in.decided.routes->input;
  std::map<Guid, routing::SwitchIndex> index;
  for (const auto* node : others) input.switches.push_back({node->guid(), node->port_count()});
  for (std::size_t i = 0; i < input.switches.size(); ++i)
    index.emplace(input.switches[i].guid, static_cast<routing::SwitchIndex>(i));
  std::set<Guid> done;
  for (const auto* node : others) {
    done.insert(node->guid());
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const auto peer = port.peer ? index.find(port.peer->node) : index.end();
      if (peer == index.end() || done.contains(peer->first) || !link_is_up(in.subnet, port, *port.peer))
        continue;
      input.links.push_back(
          {index.at(node->guid()), PortNum{static_cast<std::uint8_t>(p)}, peer->second, port.peer->port});
    }
  }
  return input;
}

/// For a topology with more switches, whose own paths have layer 0.
routing::Layers with_more_switches(const routing::Layers& layers, const routing::Topology& of,
                                   const routing::Topology& wider) {
  if (layers.by_pair.empty()) return layers;
  const auto known = routing::merge({}, of, layers.by_pair, routing::KeptLayer::now);
  auto result = layers;
  result.by_pair = routing::layers_for(wider, known, routing::PairLayers(wider.switches()));
  result.vls = vls_for(wider, layers.vls, of);
  return result;
}

Scene scene_of(const PlanInput& in) {
  const auto& part = *in.decided.routes;
  Scene scene{.topology = part.topology,
              .lids = part.lid_map,
              .routes = {.rows = {}, .layers = part.layers},
              .installed = {},
              .bits = {},
              .nodes = {},
              .order = part.verification.order.get(),
              .layers_before = part.layers_before};
  const auto others = bystanders(in);
  if (!others.empty()) {
    const auto input = with_bystanders(in, others);
    scene.topology = std::make_shared<const routing::Topology>(input);
    scene.lids = std::make_shared<const routing::LidMap>(lid_map(input, *scene.topology, *in.decided.lids));
    scene.order = nullptr;
    scene.routes.layers = with_more_switches(part.layers, *part.topology, *scene.topology);
    if (part.layers_before)
      scene.layers_before = std::make_shared<const routing::Layers>(
          with_more_switches(*part.layers_before, *part.topology, *scene.topology));
  }
  for (routing::SwitchIndex s = 0; s < scene.topology->switches(); ++s) {
    const auto guid = scene.topology->guid(s);
    const auto index = in.subnet.index_of(guid);
    const auto other = std::ranges::find(others, guid, [](const Node* node) { return node->guid(); });
    SMD_ASSERT(index.has_value() || other != others.end());  // decided from this very Subnet
    const auto& node = other != others.end() ? **other : *in.subnet.nodes[*index];
    const auto* desired = part.find(guid);
    // One that does not answer holds what it held before (its row keeps that of unknown blocks), or what it
    // was sent: every state of the others has to go with both.
    const bool stays = desired == nullptr || (in.leaves_out(guid) && node.lft.row);
    scene.routes.rows.push_back(stays ? node.lft.row : *desired);
    scene.installed.push_back({node.lft.row.get(), node.lft.known.words(), node.forwards()});
    if (stays && desired != nullptr) {
      const auto blocks = BlockSet::first(node.lft.row->size() / routing::kLftBlock);
      auto& unknown = scene.bits.emplace_back(blocks);
      node.lft.known.for_each([&](std::size_t block) { unknown.reset(block); });
      scene.installed.back().known = scene.bits.emplace_back(blocks).words();
      scene.installed.back().perhaps = node.lft_sent;
      scene.installed.back().uncertain = unknown.words();
    }
    scene.nodes.push_back(index ? std::optional(static_cast<NodeIndex>(*index)) : std::nullopt);
  }
  return scene;
}

/// `dirty`: what differs or is unknown; a switch that does not forward yet may hold blocks already that need
/// no second write.
std::vector<Round> safe_rounds(const PlanInput& in, const routing::Parallel& parallel,
                               const std::vector<LftItem>& dirty, const std::stop_token& stop,
                               bool* interrupts = nullptr) {
  const auto clean = [&](NodeIndex node, std::size_t block) {
    const auto it = std::ranges::lower_bound(dirty, node, {}, &LftItem::node);
    return it == dirty.end() || it->node != node || !it->blocks.test(block);
  };
  const auto& part = *in.decided.routes;
  const auto scene = scene_of(in);
  const bool credit_loops = !part.verification.clean();
  std::vector<Round> rounds;
  for (const auto& written : routing::update_schedule({*scene.topology, *scene.lids, parallel, stop},
                                                      {.installed = scene.installed,
                                                       .routes = scene.routes,
                                                       .sm_lid = in.decided.lids->sm_lid,
                                                       .allow_credit_loops = credit_loops,
                                                       .order = scene.order,
                                                       .layers_before = scene.layers_before.get(),
                                                       .draining = in.draining})) {
    if (interrupts != nullptr) *interrupts = *interrupts || written.interrupts;
    std::map<NodeIndex, LftItem> items;
    for (const auto& write : written.writes) {
      const auto* desired = part.find(scene.topology->guid(write.sw));
      if (desired == nullptr || write.block * routing::kLftBlock >= (*desired)->size()) continue;
      if (in.leaves_out(scene.topology->guid(write.sw))) continue;
      const auto to = *scene.nodes[write.sw];
      const bool whole = write.kept == 0 && write.dropped == 0;
      if (whole && !in.subnet.nodes[to]->forwards() && clean(to, write.block)) continue;
      auto& item = items[to];
      item.node = to;
      if (whole) item.blocks.set(write.block);
      if (!whole) item.partial.push_back({write.block, write.kept, write.dropped});
    }
    if (items.empty()) continue;
    std::vector<LftItem> list;
    for (auto& [node, item] : items) list.push_back(std::move(item));
    rounds.push_back(one_round(std::move(list)));
    rounds.back().drain = written.drain;
  }
  return rounds;
}

struct Dirty {
  std::vector<LftItem> items;
  bool any_forwards = false;
  std::size_t changed = 0;
};

Dirty dirty_tables(const PlanInput& in) {
  Dirty dirty;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    const auto* desired = in.decided.routes->find(node.guid());
    if (desired == nullptr || !*desired || in.leaves_out(node.guid())) continue;
    dirty.any_forwards = dirty.any_forwards || node.forwards();
    auto blocks = dirty_blocks(node.lft, *desired, dirty.changed);
    if (!blocks.empty()) dirty.items.push_back({i, std::move(blocks), {}});
  }
  return dirty;
}

}  // namespace

std::vector<Round> lft_rounds(const PlanInput& in, const routing::Parallel& parallel, Plan& plan,
                              const std::stop_token& stop) {
  auto dirty = dirty_tables(in);
  plan.lft_entries_changed += dirty.changed;
  if (dirty.items.empty()) return {};
  if (dirty.any_forwards) return safe_rounds(in, parallel, dirty.items, stop, &plan.interrupts);
  std::vector<Round> rounds;
  rounds.push_back(one_round(std::move(dirty.items)));
  return rounds;
}

bool would_interrupt(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop) {
  const auto dirty = dirty_tables(in);
  if (dirty.items.empty() || !dirty.any_forwards) return false;
  bool interrupts = false;
  safe_rounds(in, parallel, dirty.items, stop, &interrupts);
  return interrupts;
}

wire::LinearForwardingTable block_content(const LftRow& decided, const LftRow* held,
                                          const PartialBlock& block) {
  wire::LinearForwardingTable table;
  const auto first = block.block * kLftBlock;
  for (std::size_t i = 0; i < kLftBlock; ++i) {
    const auto lid = first + i;
    auto port = decided[lid];
    if ((block.kept >> i & 1) != 0)
      port = held != nullptr && lid < held->size() ? (*held)[lid] : routing::kNoRoute;
    if ((block.dropped >> i & 1) != 0) port = routing::kNoRoute;
    table.ports[i] = PortNum{port};
  }
  return table;
}

}  // namespace smd::sm::inline planning
