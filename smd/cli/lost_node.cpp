// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/lost_node.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <ostream>

#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

bool is_end(const json::value& row, const std::string& guid) { return text_of(row, "guid") == guid; }

}  // namespace

std::optional<LostNode> lost_node_of(const json::value& why) {
  const auto& row = member_of(why, "lost");
  if (!row.is_object()) return std::nullopt;
  LostNode lost;
  const auto& node = member_of(row, "node");
  lost.guid = text_of(node, "guid");
  lost.name = text_of(node, "name");
  lost.type = text_of(node, "type");
  lost.node = node;
  lost.accepted = text_of(row, "accepted") == "true";
  lost.links = list_of(row, "links");
  lost.disabled = list_of(row, "ports_disabled");
  lost.gone = member_of(row, "gone");
  return lost;
}

std::expected<std::optional<LostNode>, std::string> find_lost_node(const Conversation& daemon,
                                                                   const std::string& subnet,
                                                                   const std::string& words) {
  std::string why;
  const auto answer = daemon.find(path_of(subnet, "why?node=" + api::percent_encoded(words)), &why);
  if (!answer) return std::unexpected(answer.error());
  return *answer ? lost_node_of(**answer) : std::optional<LostNode>{};
}

std::string own_port(const LostNode& lost, const json::value& link) {
  return text_of(is_end(link, lost.guid) ? link : member_of(link, "peer"), "port");
}

void print_lost_node(std::ostream& out, const LostNode& lost, const std::string& port) {
  const auto& fields = member_of(lost.gone, "fields");
  out << fmt::format("{} {} \"{}\": ", lost.type, lost.guid, lost.name);
  if (lost.accepted) {
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
  if (lost.disabled.empty() && !lost.accepted)
    out << "  look at the power of the node, and at the cable at both its ends\n";
  if (!lost.accepted) out << fmt::format("  if it is away for good: smd accept --lost {}\n", lost.guid);
}

json::object lost_node_json(const LostNode& lost) {
  return {{"node", lost.node},
          {"links", lost.links},
          {"ports_disabled", lost.disabled},
          {"accepted", lost.accepted}};
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
    out << sm::to_text(json::object{{"subnet", subnet}, {"lost", lost_node_json(**lost)}}) << '\n';
  } else {
    print_lost_node(out, **lost, {});
    print_lost_advice(out, **lost);
  }
  return std::optional<json::value>{};
}

}  // namespace smd::cli
