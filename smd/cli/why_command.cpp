// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/why_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>
#include <utility>

#include "mad/base/parse.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

/// Events that are looked through, and those of a node that are shown.
constexpr std::size_t kEventsLookedAt = 10'000, kEventsShown = 5;

/// "leaf1:3" is port 3 of leaf1; a name may have colons of its own, and a GUID too.
std::pair<std::string, std::string> node_and_port(const std::string& words) {
  const auto colon = words.rfind(':');
  if (colon == std::string::npos || words.find(':') != colon) return {words, {}};
  const auto port = base::parse_number(std::string_view(words).substr(colon + 1), 254);
  return port ? std::pair(words.substr(0, colon), std::to_string(*port)) : std::pair(words, std::string());
}

void print_port(std::ostream& out, const json::value& port) {
  const auto& peer = member_of(port, "peer");
  const auto speed = text_of(port, "speed"), reason = text_of(port, "reason");
  out << fmt::format("\"{}\" port {}: {}", text_of(port, "name"), text_of(port, "port"),
                     text_of(port, "state"));
  if (!speed.empty()) out << fmt::format(", {} {}", text_of(port, "width"), speed);
  if (!peer.is_null())
    out << fmt::format(", to \"{}\" port {}", text_of(peer, "name"), text_of(peer, "port"));
  out << '\n';
  if (!reason.empty()) out << "  " << reason << '\n';
}

bool is_about(const json::value& event, const std::string& guid, const std::string& port) {
  const auto& fields = member_of(event, "fields");
  const auto is_end = [&](std::string_view guid_key, std::string_view port_key) {
    const auto number = text_of(fields, port_key);
    return text_of(fields, guid_key) == guid && (port.empty() || number.empty() || number == port);
  };
  return is_end("guid", "port") || is_end("peer_guid", "peer_port");
}

/// The latest events about the node, or the port, oldest first.
json::array events_about(const json::value& page, const std::string& guid, const std::string& port) {
  json::array found;
  for (const auto& event : list_of(page, "events")) {
    if (is_about(event, guid, port)) found.push_back(event);
  }
  if (found.size() > kEventsShown) found.erase(found.begin(), found.end() - kEventsShown);
  return found;
}

}  // namespace

Done why_command(const Conversation& daemon, const std::string& port, bool as_json, std::ostream& out) {
  const auto [words, number] = node_and_port(port);
  bool found = false;
  const auto done = daemon.each([&](const std::string& subnet, bool) -> Done {
    const auto node = daemon.call("GET", path_of(subnet, "nodes/" + api::percent_encoded(words)));
    if (!node) return std::unexpected(node.error());
    json::array ports;
    for (const auto& one : list_of(*node, "port_list")) {
      if (number.empty() ? !text_of(one, "state").empty() : text_of(one, "port") == number)
        ports.push_back(one);
    }
    if (ports.empty())
      return std::unexpected(fmt::format("\"{}\" has no port {}", text_of(*node, "name"), number));
    const auto page = daemon.call("GET", path_of(subnet, fmt::format("events?limit={}", kEventsLookedAt)));
    if (!page) return std::unexpected(page.error());
    auto events = events_about(*page, text_of(*node, "guid"), number);
    found = true;
    if (as_json) {
      out << json::serialize(
                 json::object{{"subnet", subnet}, {"ports", std::move(ports)}, {"events", std::move(events)}})
          << '\n';
      return {};
    }
    for (const auto& one : ports) print_port(out, one);
    for (const auto& event : events)
      out << fmt::format("  {} {} {}\n", text_of(event, "time"), text_of(event, "event"),
                         text_of(member_of(event, "fields"), "reason"));
    return {};
  });
  return found ? Done{} : done;
}

}  // namespace smd::cli
