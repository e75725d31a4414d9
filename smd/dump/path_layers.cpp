// SPDX-License-Identifier: Apache-2.0
// The SL of each path and the VL of each SL, for ibdmchk.
#include <array>

#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

/// The switch in the topology of the routes; kNoSwitch if it is in none.
routing::SwitchIndex routed_switch(const DumpView& view, std::size_t index) {
  const auto* topology = view.routes().topology.get();
  if (topology == nullptr || index == DumpView::kNoSwitch) return routing::kNoSwitch;
  return topology->find(view.switches()[index].node->guid());
}

/// The switch that the first connected port of a CA leads to.
routing::SwitchIndex switch_of(const DumpView& view, const Node& node) {
  for (const auto& port : node.ports) {
    if (!port.peer) continue;
    const auto sw = routed_switch(view, view.switch_index(port.peer->node));
    if (sw != routing::kNoSwitch) return sw;
  }
  return routing::kNoSwitch;
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
  struct Target {
    unsigned lid;
    routing::SwitchIndex sw;
  };
  std::vector<Target> targets;
  for (unsigned lid = 1; lid <= view.top().value(); ++lid) {
    const auto& owner = view.owner(Lid{static_cast<std::uint16_t>(lid)});
    if (owner.node == nullptr || owner.node->info.type != NodeType::ca) continue;
    targets.push_back({lid, routed_switch(view, owner.leaf)});
  }
  const auto& layers = view.routes().layers;
  for (const auto& source : view.subnet().nodes) {
    // ibdmchk knows switches and CAs only, and no file with another's GUID in it.
    if (source->info.type != NodeType::ca || out.stopped()) continue;
    const auto from = switch_of(view, *source);
    for (const auto& [lid, to] : targets) {
      const bool routed = from != routing::kNoSwitch && to != routing::kNoSwitch;
      const auto layer = routed ? layers.of(from, to, Lid{static_cast<std::uint16_t>(lid)}) : 0U;
      out.print("{} {} {}\n", source->guid(), lid, view.path_sl(layer));
    }
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
