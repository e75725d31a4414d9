// SPDX-License-Identifier: Apache-2.0
#include "smd/api/port_walk.h"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <utility>

#include "smd/api/listing.h"

namespace smd::api {
namespace {

std::expected<std::optional<PortState>, Answer> asked_state(const Question& question) {
  constexpr std::array kStates{std::pair("down", PortState::down), std::pair("init", PortState::init),
                               std::pair("armed", PortState::armed), std::pair("active", PortState::active)};
  auto word = question.asked("state");
  if (word.empty()) return std::nullopt;
  for (auto& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [name, state] : kStates) {
    if (word == name) return state;
  }
  return std::unexpected(bad_query("state", question.asked("state"), "down, init, armed or active"));
}

}  // namespace

PortWalk::PortWalk(const sm::Subnet& subnet, std::optional<sm::LinkEnd> after) : subnet_(&subnet) {
  if (!after) return;
  const auto& nodes = subnet.nodes;
  const auto at =
      std::ranges::partition_point(nodes, [&](const auto& node) { return node->guid() < after->node; });
  node_ = static_cast<std::size_t>(at - nodes.begin());
  if (at != nodes.end() && (*at)->guid() == after->node) port_ = std::size_t{after->port.value()} + 1;
}

std::optional<PortWalk::At> PortWalk::next() {
  for (; node_ < subnet_->nodes.size(); ++node_, port_ = 1) {
    const auto& node = *subnet_->nodes[node_];
    if (port_ < node.ports.size()) return At{&node, PortNum{static_cast<std::uint8_t>(port_++)}};
  }
  return std::nullopt;
}

std::expected<std::optional<NodeType>, Answer> asked_type(const Question& question) {
  const auto word = question.asked("type");
  if (word.empty()) return std::nullopt;
  for (const auto type : {NodeType::ca, NodeType::switch_, NodeType::router}) {
    const auto name = to_string(type);
    if (boost::beast::iequals({word.data(), word.size()}, {name.data(), name.size()})) return type;
  }
  return std::unexpected(bad_query("type", word, "ca, switch or router"));
}

std::expected<AskedPorts, Answer> asked_ports(const Question& question) {
  const auto state = asked_state(question);
  if (!state) return std::unexpected(state.error());
  const auto type = asked_type(question);
  if (!type) return std::unexpected(type.error());
  return AskedPorts{.state = *state, .type = *type};
}

}  // namespace smd::api
