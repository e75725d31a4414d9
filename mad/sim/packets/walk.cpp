// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "mad/sim/packets/forward.h"
#include "mad/sim/state/tables.h"

namespace smd::sim {
namespace {

class Walker {
 public:
  Walker(const State& state, Lid dlid, Sl sl, std::optional<PKey> pkey)
      : state_(state), dlid_(dlid), sl_(sl), pkey_(pkey) {
    walk_.pkey = pkey;
  }

  Walk from(PortIndex start) {
    const auto& node = state_.node_of(start);
    if (pkey_ && !holds_p_key(state_, start, *pkey_)) {  // who sends takes a key of its own table
      walk_.hops.push_back({.node = state_.ports[start].node});
      return end(Fate::no_p_key, start);
    }
    if (has_lid(state_.ports[start], dlid_)) {
      enter(start);
      return end(Fate::delivered, start);
    }
    auto at = start;
    if (!node.is_switch()) {
      walk_.hops.push_back({.node = state_.ports[start].node});
      if (!leave(start, start)) return std::move(walk_);
      at = state_.ports[start].peer;
    }
    std::vector<PortIndex> seen;
    while (std::ranges::find(seen, at) == seen.end()) {
      seen.push_back(at);
      enter(at);
      const auto& here = state_.node_of(at);
      if (!here.is_switch()) {
        if (has_lid(state_.ports[at], dlid_)) return arrive(at);
        return end(Fate::ca_in_between, at);
      }
      const auto out = out_port(state_, here, dlid_, sl_, false).value();
      if (out == 0) return at_switch(here, at);
      if (out > here.ports) return end(Fate::no_route, at);
      if (state_.index(here, out) == at) {  // switches do not send back what has come in
        walk_.hops.back().out = state_.ports[at].number;
        return end(Fate::loop, at);
      }
      if (!leave(state_.index(here, out), at)) return std::move(walk_);
      at = state_.port(here, out).peer;
    }
    return end(Fate::loop, at);
  }

 private:
  void enter(PortIndex at) {
    walk_.hops.push_back({.node = state_.ports[at].node, .in = state_.ports[at].number});
  }
  Walk at_switch(const Node& node, PortIndex at) {
    const auto port0 = state_.index(node, 0);
    if (!has_lid(state_.ports[port0], dlid_)) return end(Fate::not_the_lid, at);
    return arrive(port0);
  }
  Walk arrive(PortIndex at) {
    return end(pkey_ && !has_p_key(state_, at, *pkey_) ? Fate::no_p_key : Fate::delivered, at);
  }
  Walk end(Fate fate, PortIndex at) {
    walk_.fate = fate;
    walk_.end = at;
    return std::move(walk_);
  }
  bool dies(Fate fate, PortIndex at) {
    walk_.fate = fate;
    walk_.end = at;
    return false;
  }
  bool leave(PortIndex out, PortIndex in) {
    const auto& port = state_.ports[out];
    walk_.hops.back().out = port.number;
    if (!port.link_up() || port.peer == kNowhere) return dies(Fate::no_link, out);
    if (port.info.port_state != PortState::active || !takes_data(state_, port.peer)) {
      return dies(Fate::not_active, out);
    }
    if (!enforced(out, port.info.partition_enforce_out)) return dies(Fate::no_p_key, out);
    const auto& peer = state_.ports[port.peer];
    if (!enforced(port.peer, peer.info.partition_enforce_in)) return dies(Fate::no_p_key, port.peer);
    const auto vl = sl_to_vl(state_, out, state_.ports[in].number, sl_);
    walk_.hops.back().vl = vl;
    if (port.vls != peer.vls) return dies(Fate::unequal_vls, out);
    if (vl.value() >= data_vls(port.vls)) return dies(Fate::no_vl, out);
    if (data_vls(port.vls) > 1 && starves(state_, out, vl)) return dies(Fate::starved, out);
    return true;
  }

  /// A switch's external port that enforces partitions lets the packet pass.
  bool enforced(PortIndex port, bool on) const {
    return !pkey_ || !on || !state_.node_of(port).is_switch() || passes_p_key(state_, port, *pkey_);
  }

  const State& state_;
  Lid dlid_;
  Sl sl_;
  std::optional<PKey> pkey_;
  Walk walk_;
};

}  // namespace

std::string_view to_string(Fate fate) {
  switch (fate) {
    case Fate::delivered:
      return "delivered";
    case Fate::no_link:
      return "no link behind this port";
    case Fate::not_active:
      return "the link is not Active";
    case Fate::no_route:
      return "no route";
    case Fate::not_the_lid:
      return "the switch has another LID";
    case Fate::ca_in_between:
      return "came to a CA with another LID";
    case Fate::loop:
      return "a loop";
    case Fate::no_vl:
      return "no virtual lane for the SL";
    case Fate::unequal_vls:
      return "the ends of the link have different OperationalVLs";
    case Fate::starved:
      return "the VL arbitration never serves the lane";
    case Fate::no_p_key:
      return "no matching P_Key";
    case Fate::no_q_key:
      return "the queue pair has another Q_Key";
  }
  return "unknown";
}

Walk walk(const State& state, PortIndex from, Lid dlid, Sl sl, std::optional<PKey> pkey) {
  return Walker(state, dlid, sl, pkey).from(from);
}

std::string to_string(const State& state, const Walk& walk) {
  std::string text;
  for (const auto& hop : walk.hops) {
    if (!text.empty()) text += " -> ";
    if (hop.in != PortNum{0}) text += fmt::format("[{}]", hop.in);
    text += state.nodes[hop.node].name;
    if (hop.out != PortNum{0}) text += fmt::format("[{}]", hop.out);
  }
  const bool by_key = walk.fate == Fate::no_p_key && walk.end != kNowhere && !walk.hops.empty() && walk.pkey;
  if (!by_key) return fmt::format("{}: {}", text, to_string(walk.fate));
  // Not always the last node on the way: the next one's port may refuse what comes in.
  const auto& port = state.ports[walk.end];
  const bool goes_out = walk.hops.back().node == port.node && walk.hops.back().out == port.number;
  const bool comes_in = state.nodes[port.node].is_switch() && port.number != PortNum{0} && !goes_out;
  // The sender takes a key as it stands in its table; a receiver that has the partition refuses limited to
  // limited.
  const bool sends = walk.hops.size() == 1 && !comes_in && !goes_out;
  const bool both_limited = !sends && passes_p_key(state, walk.end, *walk.pkey);
  return fmt::format(
      "{}: P_Key 0x{:04x} {} {} port {}{}", text, walk.pkey->value(),
      both_limited ? "is limited, and so is that in the P_Key table of" : "is not in the P_Key table of",
      state.nodes[port.node].name, port.number,
      comes_in   ? ", coming in"
      : goes_out ? ", going out"
                 : "");
}

Spread spread(const State& state, PortIndex from, Lid mlid) {
  Spread result;
  std::vector<bool> seen(state.nodes.size());
  std::deque<PortIndex> arrived;  // ports by which copies have come in
  const auto send = [&](PortIndex out) {
    const auto& port = state.ports[out];
    if (!port.link_up() || port.info.port_state != PortState::active) return;
    if (!takes_data(state, port.peer)) return;
    arrived.push_back(port.peer);
  };
  if (state.node_of(from).is_switch()) {
    arrived.push_back(from);
  } else {
    send(from);
  }
  while (!arrived.empty()) {
    const auto at = arrived.front();
    arrived.pop_front();
    const auto& node = state.node_of(at);
    if (!node.is_switch()) {
      result.reached.push_back(at);
      continue;
    }
    if (seen[state.ports[at].node]) {
      result.twice = true;
      continue;
    }
    seen[state.ports[at].node] = true;
    for (unsigned number = 0; number <= node.ports; ++number) {
      const bool chosen = ((mft_mask(*node.sw, mlid, number / 16) >> (number % 16)) & 1U) != 0;
      const auto out = state.index(node, number);
      if (!chosen || out == at) continue;  // never back to where it came from
      if (number == 0) {
        result.reached.push_back(out);
      } else {
        send(out);
      }
    }
  }
  std::ranges::sort(result.reached);
  return result;
}

}  // namespace smd::sim
