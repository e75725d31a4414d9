// SPDX-License-Identifier: Apache-2.0
// Commands that set a value: loss, latency, LIDs, keys, counters.
#include <fmt/format.h>

#include "mad/sim/console/command.h"

namespace smd::sim {
namespace {

// Microseconds. A link's is kept in 32 bits, as nanoseconds.
constexpr double kLongestLatency = 1e9, kLongestOfLink = 4294967;
constexpr double kFastestRamp = 1e18;

}  // namespace

Command::Result Command::loss() {
  if (auto good = count(2, 4, "loss PERCENT [NODE [PORT]] or loss rmpp PERCENT"); !good)
    return std::unexpected(good.error());
  const bool rmpp = word(1) == "rmpp" && words_.size() == 3;
  const auto value = word(rmpp ? 2 : 1);
  const auto percent = number(value, 100);
  if (!percent) return bad("loss", value, "0 to 100 percent");
  auto faults = fabric_.faults();
  if (rmpp) {
    faults.rmpp_loss(*percent / 100);
  } else if (words_.size() == 2) {
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

Command::Result Command::latency() {
  if (auto good = count(2, 4, "latency MICROSECONDS [NODE [PORT]]"); !good)
    return std::unexpected(good.error());
  const auto most = words_.size() == 4 ? kLongestOfLink : kLongestLatency;
  const auto time = number(word(1), most);
  if (!time) return bad("latency", word(1), up_to(most, "microseconds"));
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
Command::Result Command::port_value(std::string_view form, std::uint64_t most, std::string_view allowed,
                                    const std::function<bool(const Place&, std::uint64_t)>& set) {
  if (auto good = count(4, 4, form); !good) return std::unexpected(good.error());
  const auto there = place(1);
  if (!there) return no_port(1);
  const auto value = whole(word(3), most);
  if (!value) return bad("value", word(3), allowed);
  if (!set(*there, *value))
    return cannot(fmt::format("{} for port {} of {}", word(3), word(2), word(1)), allowed);
  return {};
}

Command::Result Command::lid() {
  return port_value("lid NODE PORT LID", 0xBFFF,
                    "0 to 49151 (0xbfff), for an adapter's port or a switch's port 0",
                    [&](const Place& there, std::uint64_t value) {
                      return fabric_.faults().set_lid(there, Lid{static_cast<std::uint16_t>(value)});
                    });
}

Command::Result Command::m_key() {
  std::optional<std::uint8_t> level;
  if (words_.size() == 5) {
    const auto value = whole(word(4), 3);
    if (!value) return bad("protection level", word(4), "0 to 3");
    level = static_cast<std::uint8_t>(*value);
    words_.pop_back();
  }
  return port_value("mkey NODE PORT KEY [LEVEL]", ~std::uint64_t{0},
                    "0 to 0xffffffffffffffff, for an adapter's port or a switch's port 0",
                    [&](const Place& there, std::uint64_t value) {
                      return fabric_.faults().set_m_key(there, value, level);
                    });
}

Command::Result Command::p_key() {
  return port_value("pkey NODE PORT KEY", 0xFFFF, "0 to 0xffff, for a port with a P_Key table",
                    [&](const Place& there, std::uint64_t value) {
                      return fabric_.faults().set_p_key(there, 0, PKey{static_cast<std::uint16_t>(value)});
                    });
}

Command::Result Command::enforce() {
  if (auto good = count(4, 4, "enforce NODE PORT off|in|out|both"); !good)
    return std::unexpected(good.error());
  const auto there = place(1);
  if (!there) return no_port(1);
  const bool both = word(3) == "both", in = both || word(3) == "in", out = both || word(3) == "out";
  if (!in && !out && word(3) != "off") return bad("direction", word(3), "off, in, out or both");
  if (!fabric_.faults().enforce_p_keys(*there, in, out))
    return cannot(fmt::format("port {} of {}", word(2), word(1)), "a port of a switch, not port 0");
  return {};
}

Command::Result Command::counter() {
  if (auto good = count(5, 5, "counter NODE PORT NAME VALUE[/s]"); !good)
    return std::unexpected(good.error());
  const auto there = place(1);
  const auto index = there ? fabric_.find(*there) : std::nullopt;
  if (!index) return no_port(1);
  const auto which = counter_of(word(3));
  if (!which) return bad("counter", word(3), counter_names());
  auto text = word(4);
  if (text.ends_with("/s")) {
    text.remove_suffix(2);
    const auto rate = number(text, kFastestRamp);
    if (!rate) return bad("rate", word(4), up_to(kFastestRamp, "and /s"));
    const auto& tables = fabric_.state().ports[*index].tables;
    const auto now =
        tables && tables->counters ? tables->counters->read(*which, fabric_.state().now) : std::uint64_t{0};
    fabric_.faults().set_counter(*there, *which, now, *rate);
    return {};
  }
  const auto value = whole(text, ~std::uint64_t{0});
  if (!value) return bad("value", word(4), fmt::format("{}, or a rate with /s", kAny64));
  fabric_.faults().set_counter(*there, *which, *value);
  return {};
}

}  // namespace smd::sim
