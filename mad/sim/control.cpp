// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/control.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "mad/sim/words.h"

namespace smd::sim {
namespace {

using Result = std::expected<std::string, std::string>;

Duration microseconds(double value) { return Duration{static_cast<std::int64_t>(value * 1e3)}; }

Result bad(std::string_view what, std::string_view found, std::string_view allowed) {
  return std::unexpected(fmt::format("{} is {}: {}", what, found.empty() ? "missing" : found, allowed));
}

/// The words of one command and the fabric that they are for.
class Command {
 public:
  Command(Fabric& fabric, Words words) : fabric_(fabric), words_(std::move(words)) {}

  Result run() {
    struct Entry {
      std::string_view name;
      Result (Command::*run)();
    };
    static constexpr std::array kCommands{
        Entry{"link", &Command::link},       Entry{"node", &Command::node}, Entry{"loss", &Command::loss},
        Entry{"latency", &Command::latency}, Entry{"lid", &Command::lid},   Entry{"mkey", &Command::m_key},
        Entry{"pkey", &Command::p_key},      Entry{"move", &Command::move}, Entry{"split", &Command::split},
        Entry{"join", &Command::join},       Entry{"flow", &Command::flow}, Entry{"show", &Command::show},
        Entry{"clients", &Command::clients}};
    for (const auto& command : kCommands) {
      if (command.name == word(0)) return (this->*command.run)();
    }
    std::string names;
    for (const auto& command : kCommands)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
    return bad("the command", word(0), names);
  }

 private:
  std::string_view word(std::size_t index) const {
    return index < words_.size() ? std::string_view(words_[index]) : std::string_view();
  }
  std::expected<void, std::string> count(std::size_t least, std::size_t most, std::string_view form) const {
    if (words_.size() >= least && words_.size() <= most) return {};
    return std::unexpected(fmt::format("{} words: the form is '{}'", words_.size(), form));
  }
  bool has_node(std::size_t index) const { return find_node(fabric_.state(), word(index)).has_value(); }
  Result no_node(std::size_t index) const {
    return bad("the node", word(index), "a name, an id or a GUID (0x…) of this fabric");
  }
  std::optional<Place> place(std::size_t index) const {
    const auto port = whole(word(index + 1), 254);
    if (!port) return std::nullopt;
    Place there(std::string(word(index)), PortNum{static_cast<std::uint8_t>(*port)});
    if (!fabric_.find(there)) return std::nullopt;
    return there;
  }
  Result no_port(std::size_t index) const {
    if (!has_node(index)) return no_node(index);
    return bad(fmt::format("the port of {}", word(index)), word(index + 1),
               "the number of a port that it has");
  }

  Result link() {
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

  Result node() {
    const bool slow = word(1) == "slow";
    if (auto good = count(slow ? 4 : 3, slow ? 4 : 3, "node silent|slow MS|reboot|remove|restore NODE");
        !good) {
      return std::unexpected(good.error());
    }
    const std::size_t at = slow ? 3 : 2;
    if (!has_node(at)) return no_node(at);
    auto faults = fabric_.faults();
    if (word(1) == "silent") {
      faults.silent(word(at));
    } else if (word(1) == "reboot") {
      faults.reboot(word(at));
    } else if (word(1) == "remove") {
      faults.remove(word(at));
    } else if (word(1) == "restore") {
      restore(at);
    } else if (slow) {
      const auto milliseconds = number(word(2), 1e9);
      if (!milliseconds) return bad("the delay", word(2), "milliseconds from 0 up");
      faults.slow(word(at), microseconds(*milliseconds * 1e3));
    } else {
      return bad("what to do with the node", word(1), "silent, slow MS, reboot, remove or restore");
    }
    return {};
  }

  /// Whatever was wrong with the node is over; a removed one comes back.
  void restore(std::size_t at) {
    auto faults = fabric_.faults();
    faults.silent(word(at), false);
    faults.slow(word(at), Duration{0});
    if (fabric_.state().nodes[*find_node(fabric_.state(), word(at))].gone) faults.restore(word(at));
  }

  Result loss() {
    if (auto good = count(2, 4, "loss PERCENT [NODE [PORT]]"); !good) return std::unexpected(good.error());
    const auto percent = number(word(1), 100);
    if (!percent) return bad("the loss", word(1), "a percentage from 0 to 100");
    auto faults = fabric_.faults();
    if (words_.size() == 2) {
      faults.loss(*percent / 100);
    } else if (words_.size() == 3) {
      if (!faults.node_loss(word(2), *percent / 100)) return no_node(2);
    } else {
      const auto there = place(2);
      if (!there) return no_port(2);
      faults.link_loss(*there, *percent / 100);
    }
    return {};
  }

  Result latency() {
    if (auto good = count(2, 4, "latency MICROSECONDS [NODE [PORT]]"); !good)
      return std::unexpected(good.error());
    const auto time = number(word(1), 1e9);
    if (!time) return bad("the latency", word(1), "microseconds from 0 up");
    auto faults = fabric_.faults();
    if (words_.size() == 2) {
      auto all = fabric_.state().options.latency;
      all.hop = microseconds(*time);
      faults.latency(all);
    } else if (words_.size() == 3) {
      if (!faults.slow(word(2), microseconds(*time))) return no_node(2);
    } else {
      const auto there = place(2);
      if (!there) return no_port(2);
      faults.link_latency(*there, microseconds(*time));
    }
    return {};
  }

  /// The last word as a value for the port of the two before it.
  template <class Set>
  Result port_value(std::string_view form, std::uint64_t most, std::string_view allowed, Set set) {
    if (auto good = count(4, 4, form); !good) return std::unexpected(good.error());
    const auto there = place(1);
    if (!there) return no_port(1);
    const auto value = whole(word(3), most);
    if (!value) return bad("the value", word(3), allowed);
    set(*there, *value);
    return {};
  }
  Result lid() {
    return port_value("lid NODE PORT LID", 0xBFFF, "a LID from 0 to 49151",
                      [&](const Place& there, auto value) {
                        fabric_.faults().set_lid(there, Lid{static_cast<std::uint16_t>(value)});
                      });
  }
  Result m_key() {
    return port_value("mkey NODE PORT KEY", ~std::uint64_t{0}, "a number of 64 bits",
                      [&](const Place& there, auto value) { fabric_.faults().set_m_key(there, value); });
  }
  Result p_key() {
    return port_value("pkey NODE PORT KEY", 0xFFFF, "a number of 16 bits",
                      [&](const Place& there, auto value) {
                        fabric_.faults().set_p_key(there, 0, PKey{static_cast<std::uint16_t>(value)});
                      });
  }

  Result move() {
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

  Result split() {
    if (words_.size() < 2) return std::unexpected(std::string("1 words: the form is 'split NODE…'"));
    for (std::size_t i = 1; i < words_.size(); ++i) {
      if (!has_node(i)) return no_node(i);
    }
    fabric_.faults().split({words_.begin() + 1, words_.end()});
    return {};
  }
  Result join() {
    if (auto good = count(1, 1, "join"); !good) return std::unexpected(good.error());
    fabric_.faults().join();
    return {};
  }

  Result flow() {
    if (auto good = count(5, 5, "flow SRC DST SL PKEY"); !good) return std::unexpected(good.error());
    for (const std::size_t i : {1U, 2U}) {
      if (!has_node(i)) return no_node(i);
    }
    const auto sl = whole(word(3), 15), key = whole(word(4), 0xFFFF);
    if (!sl) return bad("the SL", word(3), "0 to 15");
    if (!key) return bad("the P_Key", word(4), "a number of 16 bits");
    const auto to = fabric_.find({std::string(word(2))});
    if (!to || !fabric_.find({std::string(word(1))}))
      return bad("the flow", "without a port", "ports with a cable");
    const auto lid = fabric_.state().ports[*to].info.lid;
    const auto way = fabric_.walk({std::string(word(1))}, lid, Sl{static_cast<std::uint8_t>(*sl)},
                                  PKey{static_cast<std::uint16_t>(*key)});
    auto text = to_string(fabric_.state(), way);
    for (const auto& hop : way.hops) {
      if (hop.out != PortNum{0})
        text += fmt::format("\n{} port {} VL {}", fabric_.state().nodes[hop.node].name, hop.out, hop.vl);
    }
    return text;
  }

  Result show() {
    if (auto good = count(2, 3, "show NODE [PORT]"); !good) return std::unexpected(good.error());
    const auto node = find_node(fabric_.state(), word(1));
    if (!node) return no_node(1);
    if (words_.size() == 3) {
      const auto there = place(1);
      return there ? Result(show_port(*fabric_.find(*there))) : no_port(1);
    }
    std::string text;
    for (unsigned number = 0; number <= fabric_.state().nodes[*node].ports; ++number) {
      if (number == 0 && !fabric_.state().nodes[*node].is_switch()) continue;
      if (!text.empty()) text += '\n';
      text += show_port(fabric_.state().index(fabric_.state().nodes[*node], number));
    }
    return text;
  }
  std::string show_port(PortIndex index) const {
    const auto& state = fabric_.state();
    const auto& port = state.ports[index];
    auto text = fmt::format("{}: {} lid {} {} {}", port_text(state, index), to_string(port.info.port_state),
                            port.info.lid, to_string(wire::link_width(port.info)), to_string(port.speed));
    if (port.peer != kNowhere) text += fmt::format(" -> {}", port_text(state, port.peer));
    return text;
  }

  Result clients() {
    if (auto good = count(1, 1, "clients"); !good) return std::unexpected(good.error());
    std::string text;
    for (const auto& client : fabric_.state().clients) {
      if (!text.empty()) text += '\n';
      text += fmt::format("{} {} sent {} received {}", client.id, port_text(fabric_.state(), client.port),
                          client.sent, client.received);
    }
    return text;
  }

  Fabric& fabric_;
  Words words_;
};

}  // namespace

std::expected<std::string, std::string> control(Fabric& fabric, std::string_view command) {
  auto words = split_words(command);
  if (!words) return std::unexpected(words.error());
  return Command(fabric, std::move(*words)).run();
}

}  // namespace smd::sim
