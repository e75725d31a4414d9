// SPDX-License-Identifier: Apache-2.0
#pragma once
// One command of mad/sim/console/control.h on its way to be carried out.

#include <optional>
#include <string>
#include <string_view>

#include "mad/sim/fabric/fabric.h"
#include "mad/sim/state/words.h"

namespace smd::sim {

/// The words of a command and the fabric that they are for. Each word that begins a command is a function.
class Command {
 public:
  using Result = std::expected<std::string, std::string>;

  /// `fabric` outlives the command.
  Command(Fabric& fabric, Words words) : fabric_(fabric), words_(std::move(words)) {}
  /// Runs the command of the first word: its text output, or one line that says what is wrong.
  Result run();

 private:
  // control.cpp
  Result link();
  Result move();
  Result split();
  Result join();
  // control_show.cpp
  Result show();
  Result clients();
  // control_help.cpp
  Result help();
  // control_node.cpp
  Result node();
  Result capability();
  Result trap();
  // control_adaptive.cpp
  Result adaptive();
  // control_values.cpp
  Result loss();
  Result latency();
  Result lid();
  Result m_key();
  Result p_key();
  Result enforce();
  Result counter();
  // control_packets.cpp
  Result flow();
  Result packet();
  Result smp();
  Result reach();
  // control_arbitrate.cpp
  Result arbitrate();

  // Errors: "found what "found", allowed …"; "found …, allowed …".
  static Result bad(std::string_view what, std::string_view found, std::string_view allowed);
  static Result cannot(std::string_view found, std::string_view allowed);
  /// "0 to 1000 seconds".
  static std::string up_to(double most, std::string_view unit);
  std::string_view word(std::size_t index) const {
    return index < words_.size() ? std::string_view(words_[index]) : std::string_view();
  }
  /// An error where there are fewer or more words.
  std::expected<void, std::string> count(std::size_t least, std::size_t most, std::string_view form) const;
  /// One node has this name.
  bool has_node(std::size_t index) const {
    const auto& state = fabric_.state();
    return find_node(state, word(index)).has_value() && !is_ambiguous(state, word(index));
  }
  Result no_node(std::size_t index) const;
  /// Node and port in the words from `index`.
  std::optional<Place> place(std::size_t index) const;
  Result no_port(std::size_t index) const;
  Result port_value(std::string_view form, std::uint64_t most, std::string_view allowed,
                    const std::function<bool(const Place&, std::uint64_t)>& set);
  std::string show_all() const;
  std::string show_node(NodeIndex index) const;
  std::string show_port(PortIndex index) const;
  std::string text_of(const Walk& way) const;
  /// NODE (its first port with a cable, or a switch's port 0) or NODE:PORT.
  std::optional<PortIndex> end_of(std::size_t index) const;
  Result no_end(std::size_t index) const;
  Result node_lacks();
  Result node_shows();
  Result node_bit31();
  struct Arbitrate;
  Result arbitrate_word(Arbitrate& given);
  Result arbitrate_flow(Arbitrate& given);
  Result arbitrate_blocked(Arbitrate& given);
  std::expected<std::uint64_t, std::string> number_after(Arbitrate& given, std::string_view what,
                                                         std::uint64_t least, std::uint64_t most);

  Fabric& fabric_;
  Words words_;
};

/// Microseconds as the console takes them; fractions of a nanosecond are cut.
inline Duration microseconds(double value) { return Duration{static_cast<std::int64_t>(value * 1e3)}; }

}  // namespace smd::sim
