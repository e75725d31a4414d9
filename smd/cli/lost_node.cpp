// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/lost_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>
#include <utility>

#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "smd/cli/ask_text.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

bool same_guid(const std::string& text, const std::optional<Guid>& guid) {
  return guid && base::parse_guid(text) == guid;
}

/// A row of `lost_nodes`, or the fields of an event, by its GUID or name.
bool is_named(const json::value& row, const std::string& words) {
  const auto name = text_of(row, "name");
  return same_guid(text_of(row, "guid"), base::parse_guid(words)) || name == base::escaped(words);
}

/// The latest event node.gone that the words name, of the latest 10,000. Null: none.
json::value gone_of(const json::value& page, const std::string& words) {
  const auto guid = base::parse_guid(words);
  const auto& events = list_of(page, "events");
  for (auto at = events.rbegin(); at != events.rend(); ++at) {
    const auto& fields = member_of(*at, "fields");
    if (is_named(fields, words) || text_of(fields, "lid") == words ||
        same_guid(text_of(fields, "port_guid"), guid))
      return *at;
  }
  return {};
}

bool is_end(const json::value& row, const std::string& guid) { return text_of(row, "guid") == guid; }

bool same_port(const json::value& a, const json::value& b) {
  return text_of(a, "guid") == text_of(b, "guid") && text_of(a, "port") == text_of(b, "port");
}

/// Links and disabled ports of the node, out of the daemon's lists.
void take_links(LostNode& lost, const json::value& ports, const json::value& status) {
  for (const auto& link : list_of(ports, "lost_links")) {
    const auto& peer = member_of(link, "peer");
    if (!is_end(link, lost.guid) && !is_end(peer, lost.guid)) continue;
    lost.links.push_back(link);
    for (const auto& port : list_of(status, "ports_disabled")) {
      if (same_port(port, link) || same_port(port, peer)) lost.disabled.push_back(port);
    }
  }
}

}  // namespace

std::expected<std::optional<LostNode>, std::string> find_lost_node(const Conversation& daemon,
                                                                   const std::string& subnet,
                                                                   const std::string& words) {
  const auto ports = daemon.call("GET", path_of(subnet, "ports?lost=true"));
  if (!ports) return std::unexpected(ports.error());
  const auto page = daemon.call("GET", path_of(subnet, "events?match=node.gone&limit=10000"));
  if (!page) return std::unexpected(page.error());
  const auto& nodes = list_of(*ports, "lost_nodes");
  const auto find = [&](const std::string& by) {
    return std::ranges::find_if(nodes, [&](const json::value& node) { return is_named(node, by); });
  };
  LostNode lost;
  lost.gone = gone_of(*page, words);
  const auto& fields = member_of(lost.gone, "fields");
  auto at = find(words);
  if (at == nodes.end() && !lost.gone.is_null()) at = find(text_of(fields, "guid"));
  if (at == nodes.end() && lost.gone.is_null()) return std::optional<LostNode>{};
  if (at != nodes.end()) lost.node = *at;
  const auto& row = lost.node.is_null() ? fields : lost.node;
  lost.guid = text_of(row, "guid");
  lost.name = text_of(row, "name");
  lost.type = text_of(row, "type");
  if (lost.gone.is_null()) lost.gone = gone_of(*page, lost.guid);
  const auto status = daemon.call("GET", path_of(subnet, "status"));
  if (!status) return std::unexpected(status.error());
  take_links(lost, *ports, *status);
  return std::optional(std::move(lost));
}

std::string own_port(const LostNode& lost, const json::value& link) {
  return text_of(is_end(link, lost.guid) ? link : member_of(link, "peer"), "port");
}

void print_lost_node(std::ostream& out, const LostNode& lost, const std::string& port) {
  const auto& fields = member_of(lost.gone, "fields");
  out << fmt::format("{} {} \"{}\": ", lost.type, lost.guid, lost.name);
  if (lost.node.is_null()) {
    out << fmt::format("not in the fabric since {}, and not counted as lost (smd accept)\n",
                       text_of(lost.gone, "time"));
    if (const auto behind = text_of(fields, "behind_name"); !behind.empty())
      out << fmt::format("  was cabled to \"{}\" port {}\n", behind, text_of(fields, "behind_port"));
    return;
  }
  out << fmt::format("LOST since {}\n", text_of(lost.node, "since"));
  for (const auto& link : lost.links) {
    const auto own = own_port(lost, link);
    if (!port.empty() && own != port) continue;
    const auto& peer = is_end(link, lost.guid) ? member_of(link, "peer") : link;
    out << fmt::format("  port {} was cabled to {}, {} {}, down since {}\n", own, end_text(peer),
                       text_of(link, "width"), text_of(link, "speed"), text_of(link, "since"));
  }
}

void print_lost_advice(std::ostream& out, const LostNode& lost) {
  for (const auto& port : lost.disabled)
    out << fmt::format("  {} is disabled by {} since {}: smd port enable {}:{}\n", end_text(port),
                       text_of(port, "by"), text_of(port, "since"), text_of(port, "guid"),
                       text_of(port, "port"));
  if (lost.disabled.empty() && !lost.node.is_null())
    out << "  look at the power of the node, and at the cable at both its ends\n";
  if (!lost.node.is_null()) out << fmt::format("  if it is away for good: smd accept --lost {}\n", lost.guid);
}

json::object lost_node_json(const LostNode& lost) {
  json::object object{{"node", lost.node}, {"links", lost.links}, {"ports_disabled", lost.disabled}};
  if (lost.node.is_null())
    object["node"] = json::object{{"guid", lost.guid}, {"name", lost.name}, {"type", lost.type}};
  object["accepted"] = lost.node.is_null();
  return object;
}

std::expected<std::optional<json::value>, std::string> get_of_node(const Conversation& daemon,
                                                                   const std::string& subnet,
                                                                   const std::string& target,
                                                                   const std::string& words, bool as_json,
                                                                   std::ostream& out) {
  std::string why;
  auto value = daemon.find(path_of(subnet, target), &why);
  if (!value || *value || words.empty()) {
    if (value && !*value) return std::unexpected(why);
    return value;
  }
  const auto lost = find_lost_node(daemon, subnet, words);
  if (!lost) return std::unexpected(lost.error());
  if (!*lost) return std::unexpected(why);
  if (as_json) {
    out << json::serialize(json::object{{"subnet", subnet}, {"lost", lost_node_json(**lost)}}) << '\n';
  } else {
    print_lost_node(out, **lost, {});
    print_lost_advice(out, **lost);
  }
  return std::optional<json::value>{};
}

}  // namespace smd::cli
