// SPDX-License-Identifier: Apache-2.0
// Commands that ask for the way of a packet, or send one.
#include <fmt/format.h>

#include "mad/sim/console/command.h"
#include "mad/sim/packets/reach.h"

namespace smd::sim {

std::string Command::text_of(const Walk& way) const {
  auto text = to_string(fabric_.state(), way);
  for (const auto& hop : way.hops) {
    if (hop.out != PortNum{0} && hop.vl)
      text += fmt::format("\n{} port {} VL {}", fabric_.state().nodes[hop.node].name, hop.out, *hop.vl);
  }
  return text;
}

std::optional<PortIndex> Command::end_of(std::size_t index) const {
  const auto& state = fabric_.state();
  std::optional<unsigned> number;
  const auto node = parse_place(state, word(index), number);
  if (!node || is_ambiguous(state, word(index))) return std::nullopt;
  const PortNum port{static_cast<std::uint8_t>(number.value_or(0))};
  const auto found = find_port(state, {fmt::to_string(state.nodes[*node].guid), port});
  return found && is_end_port(state, *found) ? found : std::nullopt;
}

Command::Result Command::no_end(std::size_t index) const {
  std::optional<unsigned> number;
  const bool known = parse_place(fabric_.state(), word(index), number).has_value();
  if (is_ambiguous(fabric_.state(), word(index)) || (!known && index == 1)) return no_node(index);
  return bad("end", word(index),
             index == 1
                 ? "a node with a cable, or NODE:PORT of an adapter's port"
                 : "a node with a cable, NODE:PORT of an adapter's port, or a LID up to 49151 (0xbfff)");
}

Command::Result Command::flow() {
  if (auto good = count(5, 5, "flow SRC DST SL PKEY"); !good) return std::unexpected(good.error());
  return packet();
}

/// `flow` only looks; `packet` also makes those who refuse it say so.
Command::Result Command::packet() {
  const bool looks = word(0) == "flow";
  if (auto good = count(5, 6, "packet SRC DST SL PKEY [QKEY]"); !good) return std::unexpected(good.error());
  const auto from = end_of(1), to = end_of(2);
  const auto to_lid = to ? std::nullopt : whole(word(2), 0xBFFF);
  if (!from) return no_end(1);
  if (!to && !to_lid) return no_end(2);
  const auto sl = whole(word(3), 15), pkey = whole(word(4), 0xFFFF);
  if (!sl) return bad("SL", word(3), "0 to 15");
  if (!pkey) return bad("P_Key", word(4), "0 to 65535 (0xffff)");
  const auto qkey = words_.size() == 6 ? whole(word(5), 0xFFFF'FFFF) : std::optional<std::uint64_t>(kQKey);
  if (!qkey) return bad("Q_Key", word(5), "0 to 0xffffffff");
  const auto& ports = fabric_.state().ports;
  const DataPacket packet{.dlid = to ? ports[*to].info.lid : Lid{static_cast<std::uint16_t>(*to_lid)},
                          .sl = Sl{static_cast<std::uint8_t>(*sl)},
                          .pkey = PKey{static_cast<std::uint16_t>(*pkey)},
                          .qkey = static_cast<std::uint32_t>(*qkey)};
  const Place start(fmt::to_string(fabric_.state().node_of(*from).guid), ports[*from].number);
  return text_of(looks ? fabric_.walk(start, packet.dlid, packet.sl, packet.pkey)
                       : fabric_.send_data(start, packet));
}

Command::Result Command::reach() {
  if (auto good = count(1, 2, "reach [NODE]"); !good) return std::unexpected(good.error());
  const auto from = words_.size() == 2 ? end_of(1) : fabric_.default_port();
  if (!from) return no_end(1);
  const auto& state = fabric_.state();
  const auto found = sim::reach(state, joined_to(state, *from));
  auto text = fmt::format("pairs {} delivered {}", found.pairs, found.delivered);
  for (const auto& failure : found.failures) text += '\n' + failure;
  return text;
}

Command::Result Command::smp() {
  return port_value(
      "smp NODE PORT MKEY", ~std::uint64_t{0}, kAny64,
      [&](const Place& there, std::uint64_t value) { return fabric_.faults().smp_with_m_key(there, value); });
}

}  // namespace smd::sim
