// SPDX-License-Identifier: Apache-2.0
// Commands that ask for the way of a packet, or send one.
#include <fmt/format.h>

#include "mad/sim/command.h"

namespace smd::sim {

std::string Command::text_of(const Walk& way) const {
  auto text = to_string(fabric_.state(), way);
  for (const auto& hop : way.hops) {
    if (hop.out != PortNum{0})
      text += fmt::format("\n{} port {} VL {}", fabric_.state().nodes[hop.node].name, hop.out, hop.vl);
  }
  return text;
}

/// LID of the node's first port with a cable, or of the switch.
std::optional<Lid> Command::lid_of(std::size_t index) const {
  const auto port = fabric_.find({std::string(word(index))});
  if (!port) return std::nullopt;
  return fabric_.state().ports[*port].info.lid;
}

Command::Result Command::flow() {
  if (auto good = count(5, 5, "flow SRC DST SL PKEY"); !good) return std::unexpected(good.error());
  return packet();
}

/// `flow` only looks; `packet` also makes those who refuse it say so.
Command::Result Command::packet() {
  const bool looks = word(0) == "flow";
  if (auto good = count(5, 6, "packet SRC DST SL PKEY [QKEY]"); !good) return std::unexpected(good.error());
  for (const std::size_t i : {1U, 2U}) {
    if (!has_node(i)) return no_node(i);
  }
  const auto sl = whole(word(3), 15), pkey = whole(word(4), 0xFFFF);
  if (!sl) return bad("the SL", word(3), "0 to 15");
  if (!pkey) return bad("the P_Key", word(4), "a number of 16 bits");
  const auto qkey = words_.size() == 6 ? whole(word(5), 0xFFFF'FFFF) : std::optional<std::uint64_t>(kQKey);
  if (!qkey) return bad("the Q_Key", word(5), "a number of 32 bits");
  const auto to = lid_of(2);
  if (!to || !lid_of(1)) return bad("the flow", "without a port", "ports with a cable");
  const DataPacket packet{.dlid = *to,
                          .sl = Sl{static_cast<std::uint8_t>(*sl)},
                          .pkey = PKey{static_cast<std::uint16_t>(*pkey)},
                          .qkey = static_cast<std::uint32_t>(*qkey)};
  const Place from(std::string(word(1)));
  return text_of(looks ? fabric_.walk(from, packet.dlid, packet.sl, packet.pkey)
                       : fabric_.send_data(from, packet));
}

Command::Result Command::smp() {
  return port_value(
      "smp NODE PORT MKEY", ~std::uint64_t{0}, "a number of 64 bits",
      [&](const Place& there, std::uint64_t value) { return fabric_.faults().smp_with_m_key(there, value); });
}

}  // namespace smd::sim
