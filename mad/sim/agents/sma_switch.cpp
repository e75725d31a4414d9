// SPDX-License-Identifier: Apache-2.0
// SwitchInfo and the forwarding tables.
#include <algorithm>

#include "mad/sim/agents/sma.h"
#include "mad/sim/state/words.h"
#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"

namespace smd::sim {
namespace {

constexpr unsigned kLftBlock = 64, kMftBlock = 32;

/// The node is told to forget the entry of this LID.
bool forgets_entry(const Node& node, std::uint16_t attribute, std::uint64_t lid) {
  if (!node.faults) return false;
  const auto meant = [&](const Forgotten& lost) {
    return lost.attribute == attribute && (lost.field == "all" || whole(lost.field, 0xFFFF) == lid);
  };
  return std::ranges::any_of(node.faults->forgets, meant);
}

AboveTop above_top(const Node& node, std::uint64_t first) {
  if (!node.faults || first <= node.sw->info.linear_fdb_top) return AboveTop::accepted;
  return node.faults->above_top;
}

void set_linear_block(Node& node, std::uint64_t first, const wire::LinearForwardingTable& desired) {
  auto& lft = node.sw->lft;
  if (lft.size() < first + kLftBlock) lft.resize(first + kLftBlock, kNoPort.value());
  for (unsigned i = 0; i < kLftBlock; ++i) {
    if (!forgets_entry(node, wire::LinearForwardingTable::kAttribute, first + i))
      lft[first + i] = desired.ports[i].value();
  }
}

/// A table that an SM without adaptive routing writes ends it, or is refused (ibis, NoFallback of ARInfo).
bool refuses_tables(SwitchTables& sw) {
  if (!sw.adaptive || !sw.adaptive->info.enabled) return false;
  if (sw.adaptive->info.no_fallback) return true;
  sw.adaptive->info.enabled = false;
  return false;
}

Status set_switch_info(wire::SwitchInfo& info, const wire::SwitchInfo& desired, bool has_mft_top) {
  Status status = kGood;
  if (desired.linear_fdb_top < info.linear_fdb_cap) {
    info.linear_fdb_top = desired.linear_fdb_top;
  } else {
    status = kInvalid;
  }
  info.default_port = desired.default_port;
  info.default_mcast_primary = desired.default_mcast_primary;
  info.default_mcast_not_primary = desired.default_mcast_not_primary;
  info.life_time = desired.life_time;
  if (has_mft_top) info.multicast_fdb_top = desired.multicast_fdb_top;  // else it is reserved
  if (desired.port_state_change) info.port_state_change = false;        // written as 1 it is cleared
  return status;
}

}  // namespace

Status switch_info(Request& request) {
  if (!request.node().is_switch()) return kBadMethodAttribute;
  if (request.smp.modifier() != 0) return kInvalid;
  auto& info = request.node().sw->info;
  const auto before = info;
  const bool has_mft_top = wire::has(request.state.ports[request.end_port()].info, wire::kCapMulticastFdbTop);
  const auto status =
      request.set ? set_switch_info(info, asked<wire::SwitchInfo>(request), has_mft_top) : kGood;
  forget(request.node(), before, info);
  answer(request, info);
  return status;
}

Status linear_table(Request& request) {
  if (!request.node().is_switch()) return kBadMethodAttribute;
  auto& sw = *request.node().sw;
  const auto first = std::uint64_t{request.smp.modifier()} * kLftBlock;
  if (first >= sw.info.linear_fdb_cap) return kInvalid;
  const auto does = above_top(request.node(), first);
  if (request.set && (does == AboveTop::refused || refuses_tables(sw))) return kInvalid;
  if (request.set && does == AboveTop::accepted)
    set_linear_block(request.node(), first, asked<wire::LinearForwardingTable>(request));
  wire::LinearForwardingTable table;
  for (unsigned i = 0; i < kLftBlock; ++i) {
    table.ports[i] = first + i < sw.lft.size() ? PortNum{sw.lft[first + i]} : kNoPort;
  }
  return answer(request, table);
}

Status multicast_table(Request& request) {
  if (!request.node().is_switch()) return kBadMethodAttribute;
  auto& sw = *request.node().sw;
  const auto first = std::size_t{wire::block_of_mft(request.smp.modifier())} * kMftBlock;
  const unsigned position = wire::position_of_mft(request.smp.modifier());
  if (first >= sw.info.multicast_fdb_cap || position >= sw.mft_positions) return kInvalid;
  const auto at = [&](unsigned i) { return (first + i) * sw.mft_positions + position; };
  if (request.set) {
    const auto desired = asked<wire::MulticastForwardingTable>(request);
    const auto needed = (first + kMftBlock) * sw.mft_positions;
    if (sw.mft.size() < needed) sw.mft.resize(needed);
    for (unsigned i = 0; i < kMftBlock && first + i < sw.info.multicast_fdb_cap; ++i) {
      const auto mlid = kFirstMulticastLid.value() + first + i;
      if (!forgets_entry(request.node(), wire::MulticastForwardingTable::kAttribute, mlid))
        sw.mft[at(i)] = desired.masks[i];
    }
  }
  wire::MulticastForwardingTable table;
  for (unsigned i = 0; i < kMftBlock; ++i)
    table.masks[i] = at(i) < sw.mft.size() ? sw.mft[at(i)] : std::uint16_t{0};
  return answer(request, table);
}

}  // namespace smd::sim
