// SPDX-License-Identifier: Apache-2.0
// The commands by name; those of links and cables, and what is shown. Nodes: control_node.cpp, values:
// control_values.cpp, packets: control_packets.cpp.
#include "mad/sim/control.h"

#include <fmt/format.h>

#include <array>

#include "mad/sim/command.h"

namespace smd::sim {

Command::Result Command::run() {
  struct Entry {
    std::string_view name;
    Result (Command::*run)();
  };
  static constexpr std::array kCommands{
      Entry{"link", &Command::link},       Entry{"node", &Command::node},
      Entry{"loss", &Command::loss},       Entry{"latency", &Command::latency},
      Entry{"counter", &Command::counter}, Entry{"lid", &Command::lid},
      Entry{"mkey", &Command::m_key},      Entry{"pkey", &Command::p_key},
      Entry{"move", &Command::move},       Entry{"split", &Command::split},
      Entry{"join", &Command::join},       Entry{"capability", &Command::capability},
      Entry{"trap", &Command::trap},       Entry{"flow", &Command::flow},
      Entry{"packet", &Command::packet},   Entry{"smp", &Command::smp},
      Entry{"show", &Command::show},       Entry{"clients", &Command::clients},
      Entry{"help", &Command::help}};
  for (const auto& command : kCommands) {
    if (command.name == word(0)) return (this->*command.run)();
  }
  std::string names;
  for (const auto& command : kCommands) names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
  return bad("the command", word(0), names);
}

Command::Result Command::bad(std::string_view what, std::string_view found, std::string_view allowed) {
  return std::unexpected(fmt::format("{} is {}: {}", what, found.empty() ? "missing" : found, allowed));
}

std::expected<void, std::string> Command::count(std::size_t least, std::size_t most,
                                                std::string_view form) const {
  if (words_.size() >= least && words_.size() <= most) return {};
  return std::unexpected(fmt::format("{} words: the form is '{}'", words_.size(), form));
}

Command::Result Command::no_node(std::size_t index) const {
  if (is_ambiguous(fabric_.state(), word(index)))
    return bad("the node", word(index), "several have this name: the id or GUID (0x…) of one");
  return bad("the node", word(index), "a name, an id or a GUID (0x…) of this fabric");
}

std::optional<Place> Command::place(std::size_t index) const {
  const auto port = whole(word(index + 1), 254);
  if (!port || !has_node(index)) return std::nullopt;
  Place there(std::string(word(index)), PortNum{static_cast<std::uint8_t>(*port)});
  if (!fabric_.find(there)) return std::nullopt;
  return there;
}

Command::Result Command::no_port(std::size_t index) const {
  if (!has_node(index)) return no_node(index);
  return bad(fmt::format("the port of {}", word(index)), word(index + 1), "the number of a port that it has");
}

Command::Result Command::link() {
  if (auto good = count(4, 4, "link down|up|flap NODE PORT"); !good) return std::unexpected(good.error());
  const auto there = place(2);
  if (!there) return no_port(2);
  auto faults = fabric_.faults();
  bool done = false;
  if (word(1) == "down") {
    done = faults.link_down(*there);
  } else if (word(1) == "up") {
    done = faults.link_up(*there);
  } else if (word(1) == "flap") {
    done = faults.link_down(*there) && faults.link_up(*there);
  } else {
    return bad("what to do with the link", word(1), "down, up or flap");
  }
  if (!done)
    return bad(fmt::format("port {} of {}", word(3), word(2)), "without a cable", "a port that has one");
  return {};
}

Command::Result Command::move() {
  if (auto good = count(5, 5, "move NODE PORT NODE PORT"); !good) return std::unexpected(good.error());
  const auto from = place(1), to = place(3);
  if (!from) return no_port(1);
  if (!to) return no_port(3);
  if (!fabric_.faults().move(*from, *to)) {
    return bad("the move", fmt::format("from {} {} to {} {}", word(1), word(2), word(3), word(4)),
               "from a port with a cable to a port without one");
  }
  return {};
}

Command::Result Command::split() {
  if (words_.size() < 2) return std::unexpected(std::string("1 words: the form is 'split NODE…'"));
  for (std::size_t i = 1; i < words_.size(); ++i) {
    if (!has_node(i)) return no_node(i);
  }
  fabric_.faults().split({words_.begin() + 1, words_.end()});
  return {};
}

Command::Result Command::join() {
  if (auto good = count(1, 1, "join"); !good) return std::unexpected(good.error());
  fabric_.faults().join();
  return {};
}

Command::Result Command::show() {
  if (auto good = count(2, 3, "show NODE [PORT]"); !good) return std::unexpected(good.error());
  const auto node = find_node(fabric_.state(), word(1));
  if (!node || !has_node(1)) return no_node(1);
  if (words_.size() == 3) {
    const auto there = place(1);
    const auto index = there ? fabric_.find(*there) : std::nullopt;
    return index ? Result(show_port(*index)) : no_port(1);
  }
  std::string text;
  for (unsigned number = 0; number <= fabric_.state().nodes[*node].ports; ++number) {
    if (number == 0 && !fabric_.state().nodes[*node].is_switch()) continue;
    if (!text.empty()) text += '\n';
    text += show_port(fabric_.state().index(fabric_.state().nodes[*node], number));
  }
  return text;
}

std::string Command::show_port(PortIndex index) const {
  const auto& state = fabric_.state();
  const auto& port = state.ports[index];
  auto text = fmt::format("{}: {} lid {} {} {}", port_text(state, index), to_string(port.info.port_state),
                          port.info.lid, to_string(wire::link_width(port.info)), to_string(port.speed));
  if (port.peer != kNowhere) text += fmt::format(" -> {}", port_text(state, port.peer));
  if (!port.tables || !port.tables->counters) return text;
  for (std::size_t i = 0; i < kCounterNames.size(); ++i) {
    const auto value = port.tables->counters->read(static_cast<Counter>(i), state.now);
    if (value != 0) text += fmt::format(" {} {}", kCounterNames[i], value);
  }
  return text;
}

Command::Result Command::clients() {
  if (auto good = count(1, 1, "clients"); !good) return std::unexpected(good.error());
  std::string text;
  for (const auto& client : fabric_.state().clients) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{} {} sent {} received {}", client.id, port_text(fabric_.state(), client.port),
                        client.sent, client.received);
  }
  return text;
}

std::expected<std::string, std::string> control(Fabric& fabric, std::string_view command) {
  auto words = split_words(command);
  if (!words) return std::unexpected(words.error());
  return Command(fabric, std::move(*words)).run();
}

}  // namespace smd::sim
