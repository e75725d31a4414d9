// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/why_command.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <ostream>
#include <utility>

#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/lost_node.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

void print_port(std::ostream& out, const json::value& port) {
  const auto& peer = member_of(port, "peer");
  const auto speed = text_of(port, "speed"), reason = text_of(port, "reason");
  out << fmt::format("\"{}\" port {}: {}", text_of(port, "name"), text_of(port, "port"), state_words(port));
  if (!speed.empty()) out << fmt::format(", {} {}", text_of(port, "width"), speed);
  if (!peer.is_null())
    out << fmt::format(", to \"{}\" port {}", text_of(peer, "name"), text_of(peer, "port"));
  out << '\n';
  if (!reason.empty()) out << "  " << reason << '\n';
}

/// "2026-11-23T00:31:41.123Z link.down "leaf000" port 5, to "h00009" port 1: cause trap 128, up_for 3h"
void print_what_happened(std::ostream& out, const json::value& event) {
  const auto& fields = member_of(event, "fields");
  const auto name = text_of(fields, "name"), port = text_of(fields, "port");
  const auto peer = text_of(fields, "peer_name");
  out << fmt::format("  {} {}", text_of(event, "time"), text_of(event, "event"));
  if (!name.empty()) out << fmt::format(" \"{}\"", name);
  if (!port.empty()) out << fmt::format(" port {}", port);
  if (!peer.empty()) out << fmt::format(", to \"{}\" port {}", peer, text_of(fields, "peer_port"));
  std::string_view between = ": ";
  for (const auto* key : {"by", "cause", "reason", "physical_state", "up_for", "down_for", "action"}) {
    const auto words = text_of(fields, key);
    if (!words.empty()) out << std::exchange(between, ", ") << key << ' ' << words;
  }
  out << '\n';
}

/// What an operator can do for a port that had a link and has none.
void print_port_advice(std::ostream& out, const json::value& port) {
  const bool disabled = member_of(port, "disabled").is_object();
  const auto at = fmt::format("{}:{}", text_of(port, "guid"), text_of(port, "port"));
  if (disabled) {
    const auto& order = member_of(port, "disabled");
    out << fmt::format("  disabled by {} since {}: smd port enable {}\n", text_of(order, "by"),
                       text_of(order, "since"), at);
  } else if (const auto& lost = member_of(port, "lost"); lost.is_object()) {
    const auto& peer = member_of(lost, "peer");
    out << fmt::format("  look at {}, and at the cable at both its ends; smd why {}\n", end_text(peer),
                       text_of(peer, "guid"));
    out << fmt::format("  if the link is away for good: smd accept --lost {}\n", text_of(port, "guid"));
  }
}

void print_why(std::ostream& out, const json::value& answer) {
  const auto lost = lost_node_of(answer);
  if (const auto off = text_of(answer, "sweeps_off_until"); !off.empty())
    out << fmt::format("sweeps are off until {}: what is shown may be old\n", off);
  if (lost) print_lost_node(out, *lost, {});
  for (const auto& port : list_of(answer, "ports")) {
    print_port(out, port);
    print_port_advice(out, port);
  }
  for (const auto& event : list_of(answer, "events")) print_what_happened(out, event);
  if (lost) print_lost_advice(out, *lost);
}

}  // namespace

Done why_command(const Conversation& daemon, const std::string& port, bool as_json, std::ostream& out) {
  bool found = false;
  const auto act = [&](const std::string& subnet, bool several) -> Done {
    std::string why;
    const auto answer = daemon.find(path_of(subnet, "why?port=" + api::percent_encoded(port)), &why);
    if (!answer) return std::unexpected(answer.error());
    if (!*answer) return std::unexpected(why);
    found = true;
    if (as_json) {
      out << sm::to_text(**answer) << '\n';
    } else {
      if (several) out << fmt::format("subnet {}\n", subnet);
      print_why(out, **answer);
    }
    return {};
  };
  const auto done = daemon.each_that_has(
      act, [](const std::string&, const std::string& error) { return is_elsewhere(error) ? 0U : 1U; });
  return found ? Done{} : done;
}

}  // namespace smd::cli
