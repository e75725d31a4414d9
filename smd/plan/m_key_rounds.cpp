// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/m_key_rounds.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "smd/sweep/end_ports.h"

namespace smd::sm::inline planning {
namespace {

bool keeps(const Node& node, PortNum port, std::string_view field, std::uint64_t desired) {
  return std::ranges::none_of(node.not_kept, [&](const NotKept& note) {
    return note.attribute == wire::PortInfo::kAttribute && note.port == port && note.field == field &&
           note.desired == desired;
  });
}

}  // namespace

std::optional<wire::PortInfo> next_m_key_step(const PlanInput& in, const Node& node, PortNum num) {
  const auto& settings = in.decided.settings->m_keys;
  if (!settings.secret || !is_end_port(node, num)) return std::nullopt;
  const auto& port = node.ports[num.value()];
  const auto& now = port.info;
  const bool hidden = now.m_key == 0 && now.m_key_protect != 0;
  if (hidden && in.subnet.unanswered.contains(node.guid())) return std::nullopt;
  auto next = desired_port_info(in, node, num);
  if (!next) return std::nullopt;
  const auto key = *settings.key_of(port_guid(node, num));
  if (!keeps(node, num, kMKeyField, kMKeyNoted)) return std::nullopt;
  const bool has_it = now.m_key == key && !hidden;
  next->m_key = key;
  const auto lease = key == 0 ? std::uint16_t{0} : settings.lease;
  const auto level = key == 0 || !has_it ? std::uint8_t{0} : settings.level;
  if (keeps(node, num, "M_KeyLeasePeriod", lease)) next->m_key_lease_period = lease;
  if (keeps(node, num, "M_KeyProtectBits", level)) next->m_key_protect = level;
  const bool done = has_it && next->m_key_lease_period == now.m_key_lease_period &&
                    next->m_key_protect == now.m_key_protect;
  return done ? std::nullopt : next;
}

std::vector<Round> m_key_rounds(const PlanInput& in) {
  if (!in.decided.settings->m_keys.secret || in.holds_m_keys) return {};
  Round hosts, switches, own;
  for (auto* round : std::array{&hosts, &switches, &own}) round->phase = Phase::m_keys;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    if (in.leaves_out(node.guid())) continue;
    const std::size_t ports = node.is_switch() ? 1 : node.ports.size();
    for (std::size_t p = node.is_switch() ? 0 : 1; p < ports; ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (!next_m_key_step(in, node, num)) continue;
      const bool ours = node.guid() == in.subnet.sm_node && (node.is_switch() || num == in.subnet.sm_port);
      auto& others = node.is_switch() ? switches : hosts;
      (ours ? own : others).ports.push_back({i, num, PortState::no_change});
    }
  }
  std::vector<Round> rounds;
  for (auto* round : std::array{&hosts, &switches, &own}) {
    if (!round->ports.empty()) rounds.push_back(std::move(*round));
  }
  return rounds;
}

}  // namespace smd::sm::inline planning
