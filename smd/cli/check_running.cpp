// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_running.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/escaped.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/conversation.h"
#include "smd/cli/words.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

/// What ports lose, one line each; how many only get some.
void print_keys(std::ostream& out, const json::value& fabric) {
  std::size_t losing = 0, gaining = 0;
  for (const auto& port : list_of(fabric, "pkeys")) {
    const auto &lost = list_of(port, "lost"), &gained = list_of(port, "gained");
    ++(lost.empty() ? gaining : losing);
    if (lost.empty()) continue;
    out << fmt::format("  P_Keys of {} \"{}\" port {}: would lose {}{}{}\n", text_of(port, "node_guid"),
                       text_of(port, "name"), text_of(port, "port"), joined_texts(lost),
                       gained.empty() ? "" : " and get ", joined_texts(gained));
  }
  out << fmt::format("  P_Keys: {} end ports lose some, {} only get some\n", losing, gaining);
}

std::string joined_numbers(const json::array& numbers) {
  std::string text;
  for (const auto& one : numbers) {
    if (one.is_number()) text += (text.empty() ? "" : ", ") + json::serialize(one);
  }
  return text;
}

double percent_of(const json::value& standing, std::string_view key) {
  const auto& share = member_of(standing, key);
  return share.is_number() ? 100 * share.to_number<double>() : 0;
}

std::string vls_text(const json::value& standing) {
  auto vls = joined_numbers(list_of(standing, "vls"));
  if (text_of(standing, "dropped") != "true") return vls;
  return vls.empty() ? "15 (dropped)" : vls + " (dropped at some ports)";
}

std::string share_text(const json::value& standing) {
  const auto least = fmt::format("{:.1f}", percent_of(standing, "share_least")),
             most = fmt::format("{:.1f}", percent_of(standing, "share_most"));
  return least == most ? most + " %" : fmt::format("{} to {} %", least, most);
}

/// What has an SL without a class.
std::string names_text_of(const json::value& standing) {
  return base::escaped(joined_texts(list_of(standing, "by")));
}

/// "SL 1, VL 1, 30.0 % of a link".
std::string standing_text(const json::value& standing) {
  auto text = "SL " + joined_numbers(list_of(standing, "sls"));
  if (const auto vls = vls_text(standing); !vls.empty())
    text += fmt::format(", VL {}, {} of a link", vls, share_text(standing));
  const auto by = names_text_of(standing);
  return by.empty() ? text : fmt::format("{} ({})", text, by);
}

/// "SL 1 -> 4, VL 1 -> 2": what differs.
std::string standings_text(const json::value& before, const json::value& after) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::string& was, const std::string& is) {
    if (was != is)
      parts.push_back(fmt::format("{} {} -> {}", what, was.empty() ? "none" : was, is.empty() ? "none" : is));
  };
  add("SL", joined_numbers(list_of(before, "sls")), joined_numbers(list_of(after, "sls")));
  add("VL", vls_text(before), vls_text(after));
  add("share", share_text(before), share_text(after));
  add("of", names_text_of(before), names_text_of(after));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void print_lines(std::ostream& out, std::string_view what, const json::array& lines) {
  for (const auto& line : lines) {
    if (line.is_string())
      out << fmt::format("  {}: {}\n", what, base::escaped(std::string(line.get_string())));
  }
}

/// Each class that gets another SL, VL or share, then what `smd qos` would warn of.
void print_qos_changes(std::ostream& out, const json::value& qos) {
  for (const auto& one : list_of(qos, "classes")) {
    const auto &before = member_of(one, "before"), &after = member_of(one, "after");
    const auto name = text_of(one, "class");
    const auto what = name.empty() ? std::string() : fmt::format("class {}: ", name);
    if (before.is_null()) {
      out << fmt::format("  QoS: {}new: {}\n", what, standing_text(after));
    } else if (after.is_null()) {
      out << fmt::format("  QoS: {}gone: {}\n", what, standing_text(before));
    } else {
      const auto sl = name.empty() ? fmt::format("SL {}: ", joined_numbers(list_of(after, "sls"))) : what;
      out << fmt::format("  QoS: {}{}\n", sl, standings_text(before, after));
    }
  }
  print_lines(out, "QoS pending", list_of(qos, "pending"));
  print_lines(out, "QoS warning", list_of(qos, "warnings"));
}

void print_fabric(std::ostream& out, const json::value& fabric) {
  if (fabric.is_null()) {
    out << "  no routes are decided: what the fabric would get is not known\n";
    return;
  }
  if (const auto refused = text_of(fabric, "refused"); !refused.empty()) {
    out << fmt::format("  no routes: {}\n", refused);
    return;
  }
  out << fmt::format("  LIDs: {} change\n  routes: {} of {} entries of ports in use change\n",
                     text_of(fabric, "lids_changed"), text_of(fabric, "entries_changed"),
                     text_of(fabric, "entries_in_use"));
  const auto& links = list_of(fabric, "links_taken_down");
  out << fmt::format("  links taken down: {}\n", links.empty() ? "none" : joined_texts(links));
  const auto now = text_of(fabric, "engine_now"), engine = text_of(fabric, "engine");
  out << fmt::format("  engine: {}{}\n", engine, now == engine ? "" : fmt::format(" instead of {}", now));
  if (const auto waits = text_of(fabric, "engine_waits"); !waits.empty())
    out << fmt::format("  {} would give paths other SLs: it waits for smd resweep converge --engine\n",
                       waits);
  if (const auto& limit = member_of(fabric, "max_vls_waits"); limit.is_object())
    out << fmt::format(
        "  max_vls of [qos] leaves {} for the {} layers of the routes, and paths would get other SLs: it "
        "waits for smd resweep converge\n",
        counted(text_of(limit, "max_vls"), "VL", "VLs"), text_of(limit, "layers"));
  print_keys(out, fabric);
  print_qos_changes(out, member_of(fabric, "qos"));
  std::vector<std::string> sets;
  for (const auto& one : list_of(fabric, "sets"))
    sets.push_back(fmt::format("{} {}", text_of(one, "phase"), text_of(one, "sets")));
  out << fmt::format("  Sets: {}\n", sets.empty() ? "none" : fmt::format("{}", fmt::join(sets, ", ")));
}

void print_change(std::ostream& out, const json::value& subnet) {
  out << fmt::format("subnet {}\n", text_of(subnet, "subnet"));
  if (text_of(subnet, "leaves") == "true") {
    out << "  not in the configuration any more: it would not be managed\n";
    return;
  }
  const auto& changed = list_of(subnet, "changed");
  const bool takeover = text_of(subnet, "takeover") == "true";
  if (changed.empty())
    out << (takeover ? "  the configuration is the one of this standby\n"
                     : "  the configuration is the one in force\n");
  for (const auto& one : changed) {
    if (one.is_string()) out << fmt::format("  {}\n", base::escaped(std::string(one.get_string())));
  }
  if (takeover) out << "  this SM writes nothing while it is standby; a takeover with this configuration:\n";
  print_fabric(out, member_of(subnet, "fabric"));
}

bool disturbs(const json::value& subnet) {
  if (text_of(subnet, "leaves") == "true") return true;
  const auto& fabric = member_of(subnet, "fabric");
  return !fabric.is_null() && (text_of(fabric, "disturbs") == "true" || !text_of(fabric, "refused").empty());
}

}  // namespace

int check_running(const std::string& socket, std::chrono::seconds timeout, bool json, std::ostream& out,
                  std::ostream& err) {
  const Conversation conversation(socket, {}, timeout);
  const auto reply =
      api::ask(conversation.socket(), "POST", "/v1/reload", R"({"dry_run":true})", {}, timeout);
  if (!reply) {
    err << "smd check --running: " << reply.error().text << '\n';
    return 1;
  }
  if (reply->status != 200) {
    err << message_of(*reply) << '\n';
    return reply->status == 422 ? 2 : 1;
  }
  boost::system::error_code error;
  const auto answer = json::parse(reply->body, error);
  if (error) {
    err << "smd check --running: an answer of another release of smd\n";
    return 1;
  }
  const auto& subnets = list_of(answer, "subnets");
  if (json) out << reply->body << '\n';
  for (const auto& warning : list_of(answer, "warnings")) {
    if (!json && warning.is_string()) err << base::escaped(std::string(warning.get_string())) << '\n';
  }
  for (const auto& subnet : subnets) {
    if (!json) print_change(out, subnet);
  }
  return std::ranges::any_of(subnets, disturbs) ? 3 : 0;
}

}  // namespace smd::cli
