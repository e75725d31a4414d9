// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/why_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/lost_node.h"

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

/// A port, or (no number) any port of a node.
struct End {
  std::string guid, port;
};

bool is_about(const json::value& event, const std::vector<End>& ends) {
  const auto& fields = member_of(event, "fields");
  return std::ranges::any_of(ends, [&](const End& end) {
    const auto is_end = [&](std::string_view guid_key, std::string_view port_key) {
      const auto number = text_of(fields, port_key);
      return text_of(fields, guid_key) == end.guid &&
             (end.port.empty() || number.empty() || number == end.port);
    };
    return is_end("guid", "port") || is_end("peer_guid", "peer_port");
  });
}

/// The latest events about the ends, oldest first.
json::array events_about(const json::value& page, const std::vector<End>& ends) {
  json::array found;
  for (const auto& event : list_of(page, "events")) {
    if (is_about(event, ends)) found.push_back(event);
  }
  if (found.size() > kEventsShown) found.erase(found.begin(), found.end() - kEventsShown);
  return found;
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

class Why {
 public:
  Why(const Conversation& daemon, const std::string& subnet, std::string port, bool as_json,
      std::ostream& out)
      : daemon_(daemon), subnet_(subnet), port_(std::move(port)), as_json_(as_json), out_(out) {}

  Done of_node(const json::value& node) const {
    json::array ports;
    for (const auto& one : list_of(node, "port_list")) {
      if (port_.empty() ? !text_of(one, "state").empty() : text_of(one, "port") == port_)
        ports.push_back(one);
    }
    if (ports.empty())
      return std::unexpected(fmt::format("\"{}\" has no port {}", text_of(node, "name"), port_));
    std::vector<End> ends{{text_of(node, "guid"), port_}};
    for (const auto& one : ports) {
      const auto& peer = member_of(member_of(one, "lost"), "peer");
      if (peer.is_object()) ends.push_back({text_of(peer, "guid"), text_of(peer, "port")});
    }
    auto events = events_of(ends);
    if (!events) return std::unexpected(events.error());
    if (as_json_) {
      out_ << json::serialize(json::object{
                  {"subnet", subnet_}, {"ports", std::move(ports)}, {"events", *std::move(events)}})
           << '\n';
      return {};
    }
    for (const auto& one : ports) {
      print_port(out_, one);
      print_port_advice(out_, one);
    }
    for (const auto& event : *events) print_what_happened(out_, event);
    return {};
  }

  Done of_lost(const LostNode& lost) const {
    std::vector<End> ends{{lost.guid, port_}};
    bool has_port = port_.empty() || lost.links.empty();
    for (const auto& link : lost.links) {
      if (!port_.empty() && own_port(lost, link) != port_) continue;
      has_port = true;
      const auto& peer = member_of(link, "peer");
      for (const auto* end : {&link, &peer})
        if (text_of(*end, "guid") != lost.guid)
          ends.push_back({text_of(*end, "guid"), text_of(*end, "port")});
    }
    if (!has_port)
      return std::unexpected(fmt::format("\"{}\" has no lost link at port {}", lost.name, port_));
    auto events = events_of(ends);
    if (!events) return std::unexpected(events.error());
    if (as_json_) {
      out_ << json::serialize(json::object{{"subnet", subnet_},
                                           {"lost", lost_node_json(lost)},
                                           {"ports", json::array()},
                                           {"events", *std::move(events)}})
           << '\n';
      return {};
    }
    print_lost_node(out_, lost, port_);
    for (const auto& event : *events) print_what_happened(out_, event);
    print_lost_advice(out_, lost);
    return {};
  }

 private:
  std::expected<json::array, std::string> events_of(const std::vector<End>& ends) const {
    const auto page = daemon_.call("GET", path_of(subnet_, fmt::format("events?limit={}", kEventsLookedAt)));
    if (!page) return std::unexpected(page.error());
    return events_about(*page, ends);
  }

  const Conversation& daemon_;
  const std::string& subnet_;
  std::string port_;
  bool as_json_;
  std::ostream& out_;
};

}  // namespace

Done why_command(const Conversation& daemon, const std::string& port, bool as_json, std::ostream& out) {
  const auto [words, number] = node_and_port(port);
  bool found = false;
  const auto done = daemon.each([&](const std::string& subnet, bool) -> Done {
    const Why command(daemon, subnet, number, as_json, out);
    std::string why;
    const auto node = daemon.find(path_of(subnet, "nodes/" + api::percent_encoded(words)), &why);
    if (!node) return std::unexpected(node.error());
    Done shown;
    if (*node) {
      shown = command.of_node(**node);
    } else {
      const auto lost = find_lost_node(daemon, subnet, words);
      if (!lost) return std::unexpected(lost.error());
      if (!*lost) return std::unexpected(why);
      shown = command.of_lost(**lost);
    }
    found = found || shown.has_value();
    return shown;
  });
  return found ? Done{} : done;
}

}  // namespace smd::cli
