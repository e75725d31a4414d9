// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/new_links.h"

#include <algorithm>

#include "routing/routes.h"

namespace smd::sm::inline planning {
namespace {

/// What the switch sends the LID by; nothing where that is not known.
std::optional<std::uint8_t> held_entry(const Node& node, std::uint16_t lid) {
  if (!node.forwards() || lid > node.switch_info->linear_fdb_top) return routing::kNoRoute;
  if (!node.lft.row || !node.lft.known.test(lid / routing::kLftBlock)) return std::nullopt;
  return routing::entry(node.lft.row.get(), Lid{lid});
}

}  // namespace

NewLinks::NewLinks(const PlanInput& in) : in_(in), leads_(in.subnet.nodes.size()) {
  running_ = std::ranges::any_of(in.subnet.nodes, [](const auto& node) { return node->forwards(); });
}

bool NewLinks::contains(NodeIndex index, PortNum num) {
  const auto& node = *in_.subnet.nodes[index];
  const auto& peer = node.ports[num.value()].peer;
  const auto far = running_ && peer ? in_.subnet.index_of(peer->node) : std::nullopt;
  if (!far) return false;
  if (!node.forwards() || !in_.subnet.nodes[*far]->forwards()) return true;
  return harmless(index, num) && harmless(static_cast<NodeIndex>(*far), peer->port);
}

const NewLinks::Leads& NewLinks::leads(NodeIndex index) {
  auto& known = leads_[index];
  if (known) return *known;
  known.emplace();
  const auto& node = *in_.subnet.nodes[index];
  known->by_port.resize(256);
  for (std::uint16_t lid = 1; lid <= node.switch_info->linear_fdb_top; ++lid) {
    const auto out = held_entry(node, lid);
    known->unknown = known->unknown || !out;
    if (out && *out != routing::kNoRoute) known->by_port[*out].push_back(lid);
  }
  return *known;
}

bool NewLinks::harmless(NodeIndex index, PortNum num) {
  const auto& own = leads(index);
  if (own.unknown) return false;
  const auto& lids = own.by_port[num.value()];
  if (lids.empty()) return true;
  const auto* desired = in_.decided.routes->find(in_.subnet.nodes[index]->guid());
  if (desired == nullptr) return false;
  return std::ranges::all_of(lids, [&](std::uint16_t lid) {
    const auto wanted = routing::entry(desired->get(), Lid{lid});
    return (wanted == num.value() || wanted == routing::kNoRoute) && !loops(index, lid);
  });
}

/// By what is installed, the link that is to come up included; what is not known may lead anywhere.
bool NewLinks::loops(NodeIndex from, std::uint16_t lid) const {
  auto at = from;
  for (std::size_t steps = 0; steps <= in_.subnet.nodes.size(); ++steps) {
    const auto& node = *in_.subnet.nodes[at];
    if (!node.is_switch()) return false;
    const auto out = held_entry(node, lid);
    if (!out) return true;
    if (*out == 0 || *out >= node.ports.size()) return false;
    const auto& port = node.ports[*out];
    const auto next = port.linked() && port.peer ? in_.subnet.index_of(port.peer->node) : std::nullopt;
    if (!next) return false;
    at = static_cast<NodeIndex>(*next);
    if (at == from) return true;
  }
  return true;
}

}  // namespace smd::sm::inline planning
