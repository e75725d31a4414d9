// SPDX-License-Identifier: Apache-2.0
// Adaptive routing of a switch: on or off, and the ports for a LID.
#include <fmt/format.h>

#include "mad/sim/console/command.h"

namespace smd::sim {
namespace {

constexpr std::string_view kAdaptiveForm = "adaptive NODE on|off|none, adaptive NODE LID [PORT…]";
constexpr std::string_view kSwitch = "a switch of NVIDIA with the attribute ARInfo";

}  // namespace

Command::Result Command::adaptive() {
  if (auto good = count(3, words_.size(), kAdaptiveForm); !good) return std::unexpected(good.error());
  if (!has_node(1)) return no_node(1);
  auto faults = fabric_.faults();
  const bool on = word(2) == "on", off = word(2) == "off";
  if (on || off || word(2) == "none") {
    if (auto good = count(3, 3, kAdaptiveForm); !good) return std::unexpected(good.error());
    const auto does = on ? Adaptive::on : off ? Adaptive::off : Adaptive::none;
    if (!faults.adaptive_routing(word(1), does)) return bad("node", word(1), "a switch of NVIDIA");
    return {};
  }
  const auto lid = whole(word(2), 0xBFFF);
  if (!lid || *lid == 0) return bad("value", word(2), "on, off, none or a LID, 1 to 49151 (0xbfff)");
  const auto index = find_node(fabric_.state(), word(1));
  if (!index) return no_node(1);
  const auto& node = fabric_.state().nodes[*index];
  std::vector<PortNum> ports;
  for (std::size_t i = 3; i < words_.size(); ++i) {
    const auto port = whole(word(i), 254);
    if (!port || *port == 0 || *port > node.ports)
      return bad(fmt::format("port of {}", word(1)), word(i), fmt::format("1 to {}", node.ports));
    ports.emplace_back(static_cast<std::uint8_t>(*port));
  }
  if (!faults.adaptive_group(word(1), Lid{static_cast<std::uint16_t>(*lid)}, std::move(ports)))
    return bad("node", word(1), kSwitch);
  return {};
}

}  // namespace smd::sim
