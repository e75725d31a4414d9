// SPDX-License-Identifier: Apache-2.0
// The commands by name; those of links and cables. Nodes: control_node.cpp, values: control_values.cpp,
// packets: control_packets.cpp and control_arbitrate.cpp, adaptive routing: control_adaptive.cpp, what is
// shown: control_show.cpp.
#include "mad/sim/console/control.h"

#include <fmt/format.h>

#include <array>

#include "mad/sim/console/command.h"

namespace smd::sim {

Command::Result Command::run() {
  struct Entry {
    std::string_view name;
    Result (Command::*run)();
  };
  static constexpr std::array kCommands{
      Entry{"link", &Command::link},         Entry{"node", &Command::node},
      Entry{"loss", &Command::loss},         Entry{"latency", &Command::latency},
      Entry{"counter", &Command::counter},   Entry{"lid", &Command::lid},
      Entry{"mkey", &Command::m_key},        Entry{"pkey", &Command::p_key},
      Entry{"move", &Command::move},         Entry{"split", &Command::split},
      Entry{"join", &Command::join},         Entry{"capability", &Command::capability},
      Entry{"trap", &Command::trap},         Entry{"flow", &Command::flow},
      Entry{"packet", &Command::packet},     Entry{"smp", &Command::smp},
      Entry{"reach", &Command::reach},       Entry{"show", &Command::show},
      Entry{"clients", &Command::clients},   Entry{"enforce", &Command::enforce},
      Entry{"adaptive", &Command::adaptive}, Entry{"arbitrate", &Command::arbitrate},
      Entry{"help", &Command::help}};
  for (const auto& command : kCommands) {
    if (command.name == word(0)) return (this->*command.run)();
  }
  std::string names;
  for (const auto& command : kCommands) names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
  return bad("command", word(0), names);
}

Command::Result Command::bad(std::string_view what, std::string_view found, std::string_view allowed) {
  if (found.empty()) return std::unexpected(fmt::format("found no {}, allowed {}", what, allowed));
  return std::unexpected(fmt::format("found {} {}, allowed {}", what, quoted(found), allowed));
}

Command::Result Command::cannot(std::string_view found, std::string_view allowed) {
  return std::unexpected(fmt::format("found {}, allowed {}", found, allowed));
}

std::string Command::up_to(double most, std::string_view unit) {
  return fmt::format("0 to {:.0f} {}", most, unit);
}

std::expected<void, std::string> Command::count(std::size_t least, std::size_t most,
                                                std::string_view form) const {
  if (words_.size() >= least && words_.size() <= most) return {};
  return std::unexpected(fmt::format("found {} words, allowed '{}'", words_.size(), form));
}

Command::Result Command::no_node(std::size_t index) const {
  if (is_ambiguous(fabric_.state(), word(index)))
    return bad("node", word(index), "the id or GUID (0x…) of one: several have this name");
  return bad("node", word(index), "a name, an id or a GUID (0x…) of this fabric");
}

std::optional<Place> Command::place(std::size_t index) const {
  const auto port = whole(word(index + 1), 254);
  if (!port || !has_node(index)) return std::nullopt;
  Place there(std::string(word(index)), PortNum{static_cast<std::uint8_t>(*port)});
  if (!fabric_.find(there)) return std::nullopt;
  return there;
}

Command::Result Command::no_port(std::size_t index) const {
  const auto found = find_node(fabric_.state(), word(index));
  if (!found || !has_node(index)) return no_node(index);
  const auto& node = fabric_.state().nodes[*found];
  if (node.ports == 0)
    return bad(fmt::format("port of {}", word(index)), word(index + 1), "none: it has no port");
  const auto one = fmt::format("{}", node.ports);
  const bool only = node.ports == 1 && !node.is_switch();
  return bad(fmt::format("port of {}", word(index)), word(index + 1),
             only ? one : fmt::format("{} to {}", node.is_switch() ? 0 : 1, one));
}

Command::Result Command::link() {
  const bool flap = word(1) == "flap";
  if (auto good = count(4, flap ? 5 : 4, "link down|up NODE PORT, link flap NODE PORT [SECONDS]"); !good)
    return std::unexpected(good.error());
  const auto there = place(2);
  if (!there) return no_port(2);
  constexpr double kShortest = 0.001, kLongest = 1e6;
  const bool again = words_.size() == 5;
  const auto seconds = again ? number(word(4), kLongest) : std::optional(0.0);
  if (!seconds || (again && *seconds < kShortest))
    return bad("time", word(4), fmt::format("{} to {:.0f} seconds", kShortest, kLongest));
  auto faults = fabric_.faults();
  bool done = false;
  if (word(1) == "down") {
    done = faults.link_down(*there);
  } else if (word(1) == "up") {
    done = faults.link_up(*there);
  } else if (flap) {
    done = again ? faults.link_flaps(*there, microseconds(*seconds * 1e6))
                 : faults.link_down(*there) && faults.link_up(*there);
  } else {
    return bad("link", word(1), "down, up or flap");
  }
  if (!done)
    return cannot(fmt::format("port {} of {} without a cable", word(3), word(2)), "a port that has one");
  return {};
}

Command::Result Command::move() {
  if (auto good = count(5, 5, "move NODE PORT NODE PORT"); !good) return std::unexpected(good.error());
  const auto from = place(1), to = place(3);
  if (!from) return no_port(1);
  if (!to) return no_port(3);
  if (!fabric_.faults().move(*from, *to)) {
    return cannot(fmt::format("a move from {} {} to {} {}", word(1), word(2), word(3), word(4)),
                  "from a port with a cable to a port without one");
  }
  return {};
}

Command::Result Command::split() {
  if (words_.size() < 2) return std::unexpected(std::string("found 1 words, allowed 'split NODE…'"));
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

std::expected<std::string, std::string> control(Fabric& fabric, std::string_view command) {
  auto words = split_words(command);
  if (!words) return std::unexpected(words.error());
  return Command(fabric, std::move(*words)).run();
}

}  // namespace smd::sim
