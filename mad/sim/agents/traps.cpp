// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/agents/traps.h"

#include <algorithm>

#include "mad/wire/attributes.h"
#include "mad/wire/trap.h"

namespace smd::sim {
namespace {

using wire::NoticeType;

std::uint32_t producer(const Node& node) {
  switch (node.type) {
    case NodeType::switch_:
      return wire::kProducerSwitch;
    case NodeType::router:
      return wire::kProducerRouter;
    default:
      return wire::kProducerCa;
  }
}

/// Least time between two sendings: PortInfo.SubnetTimeout (4.096 us * 2^n), as IBA's o14-2 has it by
/// qib_mad.c of Linux, or the option where that is longer.
Duration gap(const State& state, PortIndex port) {
  const Duration subnet{std::int64_t{4096} << state.ports[port].info.subnet_timeout};
  return std::max(subnet, state.options.trap_gap);
}

void send(State& state, std::size_t index) {
  auto& trap = state.traps[index];
  const auto& info = state.ports[trap.port].info;
  if (!info.sm_lid.unicast() || !info.lid.unicast()) {  // the port does not know its SM yet
    trap.pending = false;
    return;
  }
  trap.notice.issuer_lid = info.lid;
  trap.last = state.now;
  const auto timer = ++trap.timer;
  auto smp = wire::Smp::lid_routed(wire::Method::trap, wire::Notice::kAttribute, 0);
  smp.set_tid(Tid{trap.tid});
  smp.put(trap.notice);
  Packet packet{.bytes = {smp.bytes().begin(), smp.bytes().end()}, .is_smp = true, .slid = info.lid};
  packet.to.lid = info.sm_lid;
  packet.to.sl = info.master_sm_sl;
  const auto from = trap.port;
  state.schedule.at(state.now + gap(state, from), [&state, index, timer] {
    if (state.traps[index].pending && state.traps[index].timer == timer) send(state, index);
  });
  state.send(state, from, std::move(packet));
}

void raise(State& state, PortIndex end_port, const wire::Notice& notice) {
  const auto& info = state.ports[end_port].info;
  if (!info.sm_lid.unicast() || !info.lid.unicast()) return;
  const auto same = [&](const PendingTrap& t) { return t.port == end_port && t.notice.trap == notice.trap; };
  auto found = std::ranges::find_if(state.traps, same);
  const bool first = found == state.traps.end();
  if (first) found = state.traps.insert(state.traps.end(), PendingTrap{.port = end_port});
  auto& trap = *found;
  const auto index = static_cast<std::size_t>(found - state.traps.begin());
  trap.notice = notice;
  if (trap.pending) return;  // it is sent again anyway, with the new details
  trap.pending = true;
  trap.tid = state.next_trap_tid++;
  const auto due = first ? state.now : trap.last + gap(state, end_port);
  if (due <= state.now) return send(state, index);
  const auto timer = ++trap.timer;
  state.schedule.at(due, [&state, index, timer] {
    if (state.traps[index].pending && state.traps[index].timer == timer) send(state, index);
  });
}

template <class D>
wire::Notice notice_of(const State& state, PortIndex end_port, NoticeType type, std::uint16_t number,
                       const D& details) {
  return wire::generic_notice(type, producer(state.node_of(end_port)), number, state.ports[end_port].info.lid,
                              details);
}

}  // namespace

void raise_link_state(State& state, NodeIndex node) {
  const auto port = state.nodes[node].first_port;
  const wire::LinkStateDetails details{.lid = state.ports[port].info.lid};
  raise(state, port, notice_of(state, port, NoticeType::urgent, wire::trap::kLinkStateChange, details));
}

void raise_capability_mask(State& state, PortIndex end_port) {
  const auto& info = state.ports[end_port].info;
  const wire::LocalChangeDetails details{.lid = info.lid, .capability_mask = info.capability_mask};
  raise(state, end_port,
        notice_of(state, end_port, NoticeType::informational, wire::trap::kLocalChange, details));
}

void raise_node_description(State& state, PortIndex end_port) {
  const auto& info = state.ports[end_port].info;
  const wire::LocalChangeDetails details{.lid = info.lid,
                                         .other_local_changes = true,
                                         .capability_mask = info.capability_mask,
                                         .node_description_change = true};
  raise(state, end_port,
        notice_of(state, end_port, NoticeType::informational, wire::trap::kLocalChange, details));
}

void raise_bad_m_key(State& state, PortIndex end_port, const wire::Smp& smp) {
  wire::BadMKeyDetails details;
  details.lid = state.ports[end_port].info.lid;
  details.method = static_cast<std::uint8_t>(smp.method());
  details.attribute = smp.attribute();
  details.modifier = smp.modifier();
  details.m_key = smp.m_key();
  if (smp.is_directed()) {
    details.directed = true;
    details.dr_slid = smp.dr_slid();
    details.path_truncated = smp.hop_count() > details.return_path.size();
    details.hop_count = std::min(smp.hop_count(), static_cast<std::uint8_t>(details.return_path.size()));
    for (std::size_t hop = 0; hop < details.hop_count; ++hop)
      details.return_path[hop] = smp.return_path(hop + 1);
  }
  raise(state, end_port, notice_of(state, end_port, NoticeType::security, wire::trap::kBadMKey, details));
}

void raise_system_image(State& state, PortIndex end_port) {
  const wire::SystemImageDetails details{.lid = state.ports[end_port].info.lid,
                                         .system_image = state.node_of(end_port).system_image};
  raise(state, end_port,
        notice_of(state, end_port, NoticeType::informational, wire::trap::kSystemImageGuidChange, details));
}

void raise_bad_key(State& state, PortIndex end_port, std::uint16_t number,
                   const wire::BadKeyDetails& details) {
  raise(state, end_port, notice_of(state, end_port, NoticeType::security, number, details));
}

void raise_bad_p_key_at_switch(State& state, PortIndex port0, const wire::BadPKeyAtSwitchDetails& details) {
  raise(state, port0, notice_of(state, port0, NoticeType::security, wire::trap::kBadPKeyAtSwitch, details));
}

bool raise_port_error(State& state, PortIndex port, std::uint16_t number) {
  if (number < wire::trap::kLocalLinkIntegrity || number > wire::trap::kFlowControlWatchdog) return false;
  const auto& node = state.node_of(port);
  const auto end_port = node.is_switch() ? node.first_port : port;
  const wire::PortErrorDetails details{.lid = state.ports[end_port].info.lid,
                                       .port = state.ports[port].number};
  raise(state, end_port, notice_of(state, end_port, NoticeType::urgent, number, details));
  return true;
}

void repress(State& state, PortIndex end_port, const wire::Smp& smp) {
  const auto notice = smp.get<wire::Notice>();
  for (auto& trap : state.traps) {
    if (!trap.pending || trap.port != end_port) continue;
    const bool same = trap.notice.trap == notice.trap && trap.notice.details == notice.details;
    // Some SMs send only the transaction back.
    if (same || Tid{trap.tid} == smp.tid()) trap.pending = false;
  }
}

}  // namespace smd::sim
