// SPDX-License-Identifier: Apache-2.0
// Values that change behind the SM's back, and counters.
#include <algorithm>
#include <utility>

#include "mad/sim/agents/sma.h"
#include "mad/sim/agents/traps.h"
#include "mad/sim/fabric/faults.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/trap.h"

namespace smd::sim {
namespace {

/// Number of the trap that a counter's growth raises; 0: none.
std::uint16_t trap_of(Counter counter) {
  if (counter == Counter::link_integrity_errors) return wire::trap::kLocalLinkIntegrity;
  return counter == Counter::buffer_overruns ? wire::trap::kBufferOverrun : std::uint16_t{0};
}

/// Raises the traps of counters that grow by themselves, for as long as they do: at each new error, but no
/// faster than a trap is repeated.
void follow_ramp(State& state, PortIndex port, std::uint64_t timer) {
  const auto& tables = state.ports[port].tables;
  if (!tables || !tables->counters || tables->counters->ramp != timer) return;  // reset, or told to stop
  double fastest = 0;
  for (const auto counter : {Counter::link_integrity_errors, Counter::buffer_overruns}) {
    const auto rate = tables->counters->rate(counter);
    fastest = std::max(fastest, rate);
    if (rate > 0 && tables->counters->read(counter, state.now) != 0)
      raise_port_error(state, port, trap_of(counter));
  }
  constexpr double kLongest = 86'400e9;  // a rate of one a year is looked at once a day
  const Duration next{static_cast<std::int64_t>(std::min(kLongest, 1e9 / fastest) + 1)};
  state.schedule.at(state.now + std::max(next, state.options.trap_gap),
                    [&state, port, timer] { follow_ramp(state, port, timer); });
}

}  // namespace

bool Faults::set_lid(const Place& place, Lid lid, std::optional<std::uint8_t> lmc) {
  const auto index = find_port(state_, place);
  if (!index || !is_end_port(state_, *index)) return false;
  auto& info = state_.ports[*index].info;
  info.lid = lid;
  info.lmc = lmc.value_or(info.lmc);
  return true;
}

bool Faults::set_m_key(const Place& place, std::uint64_t key, std::optional<std::uint8_t> protect) {
  const auto index = find_port(state_, place);
  if (!index || !is_end_port(state_, *index)) return false;
  auto& info = state_.ports[*index].info;
  info.m_key = key;
  info.m_key_protect = protect.value_or(info.m_key_protect);
  return true;
}

bool Faults::set_p_key(const Place& place, unsigned index, PKey key) {
  const auto port = find_port(state_, place);
  if (!port || index >= pkey_capacity(state_, *port)) return false;
  sim::set_p_key(state_, *port, index, key);
  return true;
}

bool Faults::enforce_p_keys(const Place& place, bool in, bool out) {
  const auto port = find_port(state_, place);
  if (!port || !state_.node_of(*port).is_switch() || state_.ports[*port].number == PortNum{0}) return false;
  auto& info = state_.ports[*port].info;
  info.partition_enforce_in = in;
  info.partition_enforce_out = out;
  return true;
}

bool Faults::set_sl_to_vl(const Place& out, PortNum in, Sl sl, Vl vl) {
  const auto port = find_port(state_, out);
  if (!port || sl.value() > 15 || vl.value() > 15) return false;
  const auto shift = 4U * sl.value();
  const auto others = sl_to_vl_row(state_, *port, in) & ~(std::uint64_t{15} << shift);
  set_sl_to_vl_row(state_, *port, in, others | std::uint64_t{vl.value()} << shift);
  return true;
}

bool Faults::set_vl_arbitration(const Place& place, unsigned block, const wire::VlArbitration& entries) {
  const auto index = find_port(state_, place);
  if (!index || block < 1 || block > 4) return false;
  auto& tables = state_.ports[*index].tables;
  if (!tables) tables = std::make_unique<PortTables>();
  tables->vl_arb.resize(4);
  tables->vl_arb[block - 1] = entries;
  return true;
}

bool Faults::set_lft_entry(std::string_view node, Lid lid, PortNum port) {
  const auto index = find_node(state_, node);
  if (!index || !state_.nodes[*index].is_switch()) return false;
  auto& sw = *state_.nodes[*index].sw;
  if (lid.value() >= sw.info.linear_fdb_cap) return false;
  if (lid.value() >= sw.lft.size()) sw.lft.resize((lid.value() / std::size_t{64} + 1) * 64, kNoPort.value());
  sw.lft[lid.value()] = port.value();
  return true;
}

bool Faults::set_capabilities(const Place& place, std::uint32_t mask) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  const bool end_port = !state_.node_of(*index).is_switch() || state_.ports[*index].number == PortNum{0};
  if (!end_port) return false;
  if (std::exchange(state_.ports[*index].info.capability_mask, mask) != mask)
    raise_capability_mask(state_, *index);
  return true;
}

bool Faults::set_counter(const Place& place, Counter counter, std::uint64_t value, double per_second) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  auto& counters = counters_of(state_, *index);
  const bool grows = value > counters.read(counter, state_.now);
  counters.set(counter, value, per_second, state_.now);
  const auto trap = trap_of(counter);
  if (trap == 0) return true;
  if (grows) raise_port_error(state_, *index, trap);
  if (counters.rate(Counter::link_integrity_errors) + counters.rate(Counter::buffer_overruns) == 0) {
    counters.ramp = 0;
  } else if (counters.ramp == 0) {
    counters.ramp = state_.next_timer++;
    follow_ramp(state_, *index, counters.ramp);
  }
  return true;
}

bool Faults::port_error(const Place& place, std::uint16_t trap) {
  const auto index = find_port(state_, place);
  return index && raise_port_error(state_, *index, trap);
}

bool Faults::smp_with_m_key(const Place& place, std::uint64_t key) {
  const auto index = find_port(state_, place);
  if (!index) return false;
  const auto& node = state_.node_of(*index);
  auto smp = wire::Smp::lid_routed(wire::Method::set, wire::PortInfo::kAttribute,
                                   state_.ports[*index].number.value());
  smp.set_m_key(key);
  m_key_allows(state_, node.is_switch() ? node.first_port : *index, smp);
  return true;
}

}  // namespace smd::sim
