// SPDX-License-Identifier: Apache-2.0
// The SL of each path and the VL of each SL, for ibdmchk.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

/// The switch in the topology of the routes; kNoSwitch if it is in none.
routing::SwitchIndex routed_switch(const DumpView& view, std::size_t index) {
  const auto* topology = view.routes().topology.get();
  if (topology == nullptr || index == DumpView::kNoSwitch) return routing::kNoSwitch;
  return topology->find(view.switches()[index].node->guid());
}

/// Where a path ends: a LID of a CA, and the switch before it.
struct PathTarget {
  Lid lid;
  routing::SwitchIndex sw;
};

std::vector<PathTarget> path_targets(const DumpView& view) {
  std::vector<PathTarget> targets;
  for (unsigned value = 1; value <= view.top().value(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto& owner = view.owner(lid);
    if (owner.node == nullptr || owner.node->info.type != NodeType::ca) continue;
    targets.push_back({lid, routed_switch(view, owner.leaf)});
  }
  return targets;
}

/// A port of a CA that a path starts at, and the switch before it.
struct PathSource {
  Guid port;
  routing::SwitchIndex sw;
};

/// The ports of a CA that lead to switches.
std::vector<PathSource> path_sources(const DumpView& view, const Node& node) {
  std::vector<PathSource> sources;
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const auto& peer = node.ports[p].peer;
    const auto sw = peer ? routed_switch(view, view.switch_index(peer->node)) : routing::kNoSwitch;
    if (sw != routing::kNoSwitch)
      sources.push_back({shown_guid(node, PortNum{static_cast<std::uint8_t>(p)}), sw});
  }
  return sources;
}

/// The SL of the path to each target; 0 where one of the ends is not routed.
std::vector<Sl> sls_to(const DumpView& view, routing::SwitchIndex from,
                       const std::vector<PathTarget>& targets) {
  std::vector<Sl> sls;
  sls.reserve(targets.size());
  for (const auto& [lid, to] : targets) {
    const bool routed = from != routing::kNoSwitch && to != routing::kNoSwitch;
    sls.push_back(view.path_sl(routed ? view.routes().layers.of(from, to, lid) : 0U));
  }
  return sls;
}

void print_rows(Out& out, Guid source, const std::vector<PathTarget>& targets, const std::vector<Sl>& sls) {
  for (std::size_t i = 0; i < targets.size(); ++i) out.print("{} {} {}\n", source, targets[i].lid, sls[i]);
}

/// By the GUID of the node, as ibdmchk wants it, where that says the SLs of all its ports; else by those of
/// its ports.
void print_sls_from(Out& out, const DumpView& view, const Node& node,
                    const std::vector<PathTarget>& targets) {
  const auto sources = path_sources(view, node);
  const auto first = sls_to(view, sources.empty() ? routing::kNoSwitch : sources.front().sw, targets);
  const bool alike = std::ranges::all_of(sources, [&](const PathSource& source) {
    return source.sw == sources.front().sw || sls_to(view, source.sw, targets) == first;
  });
  if (alike) {
    print_rows(out, node.guid(), targets, first);
    return;
  }
  for (const auto& source : sources) print_rows(out, source.port, targets, sls_to(view, source.sw, targets));
}

/// As decided; all on VL 0 where nothing is.
std::string vls_of(const DumpView& view, const Node& node, std::size_t in, std::size_t out) {
  const auto index = view.subnet().index_of(node.guid());
  const auto* found = index ? view.sl_to_vl(*index, PortNum{static_cast<std::uint8_t>(in)},
                                            PortNum{static_cast<std::uint8_t>(out)})
                            : nullptr;
  const auto map = found != nullptr ? *found : wire::SlToVl{};
  std::string text;
  for (std::size_t sl = 0; sl < map.vls.size(); ++sl)
    text += fmt::format("{}{:x}", sl % 2 == 0 ? " 0x" : "", map.vls[sl].value());
  return text;
}

}  // namespace

void dump_path_sl(Out& out, const DumpView& view) {
  const auto targets = path_targets(view);
  for (const auto& source : view.subnet().nodes) {
    // ibdmchk knows switches and CAs only, and no file with another's GUID in it.
    if (source->info.type != NodeType::ca || out.stopped()) continue;
    print_sls_from(out, view, *source, targets);
  }
}

void dump_sl2vl(Out& out, const DumpView& view) {
  for (const auto& sw : view.switches()) {
    if (out.stopped()) return;
    for (std::size_t in = 0; in < sw.node->ports.size(); ++in) {
      for (std::size_t to = 1; to < sw.node->ports.size(); ++to) {
        if (!sw.node->ports[to].peer || (in != 0 && !sw.node->ports[in].peer)) continue;
        out.print("{} {} {}{}\n", sw.node->guid(), in, to, vls_of(view, *sw.node, in, to));
      }
    }
  }
}

}  // namespace smd::sm::inline dumps
