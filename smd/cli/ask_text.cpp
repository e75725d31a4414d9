// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>

namespace smd::cli {

namespace json = boost::json;

namespace {

/// More of one kind than fit on a screen are for `smd ports`.
constexpr std::size_t kShownItems = 20;

/// Names come from the fabric: a terminal must not take them as commands.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

std::string port_words(const json::value& port) {
  return fmt::format("{} \"{}\" port {}", text_of(port, "guid"), text_of(port, "name"),
                     text_of(port, "port"));
}

void line(std::ostream& out, std::string_view title, const std::string& words) {
  out << fmt::format("  {:<13}{}\n", title, words);
}

template <class Words>
void lines(std::ostream& out, std::string_view title, const json::array& items, std::string_view more,
           const Words& words) {
  for (std::size_t i = 0; i < std::min(items.size(), kShownItems); ++i)
    line(out, i == 0 ? title : "", words(items[i]));
  if (items.size() > kShownItems)
    line(out, "", fmt::format("and {} more: {}", items.size() - kShownItems, more));
}

std::string sm_words(const json::value& sm) {
  return fmt::format("{} on \"{}\", LID {}, priority {}", text_of(sm, "guid"), text_of(sm, "node"),
                     text_of(sm, "lid"), text_of(sm, "priority"));
}

void print_sweep(std::ostream& out, const json::value& subnet) {
  const auto& sweep = member_of(subnet, "last_sweep");
  if (!sweep.is_object()) return line(out, "last sweep", "none yet");
  line(out, "fabric",
       fmt::format("{} switches, {} CAs, {} routers, {} links, {} LIDs", text_of(sweep, "switches"),
                   text_of(sweep, "cas"), text_of(sweep, "routers"), text_of(sweep, "links"),
                   text_of(sweep, "lids")));
  line(out, "ports",
       fmt::format("{} Active, {} with a link and not Active", text_of(sweep, "ports_active"),
                   text_of(sweep, "ports_not_active")));
  line(out, "last sweep",
       fmt::format("{}, {} for \"{}\": {} ms, {} Get, {} Set, {} Sets failed, {} time-outs",
                   text_of(subnet, "swept_at"), text_of(sweep, "sweep"), text_of(sweep, "reason"),
                   text_of(sweep, "total_ms"), text_of(sweep, "smps_get"), text_of(sweep, "smps_set"),
                   text_of(sweep, "sets_failed"), text_of(sweep, "timeouts")));
}

void print_routing(std::ostream& out, const json::value& subnet) {
  const auto& routing = member_of(subnet, "routing");
  if (!routing.is_object() || text_of(member_of(subnet, "last_sweep"), "switches") == "0") return;
  const auto found = text_of(routing, "found");
  line(out, "routes",
       fmt::format("{}, {}", text_of(routing, "engine"),
                   found.empty() ? "verified" : "not verified: " + found));
  lines(out, "", list_of(routing, "fell_back_from"), "smd status --json", [](const json::value& refusal) {
    return fmt::format("{} was passed over: {}", text_of(refusal, "engine"), text_of(refusal, "reason"));
  });
}

}  // namespace

const json::value& member_of(const json::value& from, std::string_view key) {
  static const json::value kNothing;
  const auto* object = from.if_object();
  const auto* found = object != nullptr ? object->if_contains({key.data(), key.size()}) : nullptr;
  return found != nullptr ? *found : kNothing;
}

const json::array& list_of(const json::value& from, std::string_view key) {
  static const json::array kNone;
  const auto* list = member_of(from, key).if_array();
  return list != nullptr ? *list : kNone;
}

std::string text_of(const json::value& from, std::string_view key) {
  const auto& value = member_of(from, key);
  if (value.is_null()) return {};
  if (const auto* text = value.if_string()) return plain(std::string_view(text->data(), text->size()));
  if (const auto* number = value.if_double()) return fmt::format("{}", *number);
  return json::serialize(value);
}

void print_subnet(std::ostream& out, const json::value& subnet) {
  const auto& sm = member_of(subnet, "sm");
  const auto& master = member_of(subnet, "master");
  const auto name = text_of(subnet, "subnet");
  const auto& sweep = member_of(subnet, "last_sweep");
  const auto& waiting = member_of(subnet, "waiting");
  const auto state = waiting.is_object() ? "waiting"
                     : sweep.is_object() ? text_of(sweep, "state")
                                         : "starting";
  out << fmt::format("subnet {}: {}\n", name.empty() ? "(no name yet)" : name, state);
  if (waiting.is_object())
    line(out, "waiting", fmt::format("{} (since {})", text_of(waiting, "reason"), text_of(waiting, "since")));
  line(out, "port", text_of(subnet, "port"));
  line(out, "SM", fmt::format("{}, {}", text_of(sm, "state"), sm_words(sm)));
  if (master.is_object() && text_of(master, "guid") != text_of(sm, "guid"))
    line(out, "master", sm_words(master));
  print_sweep(out, subnet);
  print_routing(out, subnet);
  lines(out, "not Active", list_of(subnet, "ports_not_active"), "smd ports --not-active",
        [](const auto& port) { return fmt::format("{}: {}", port_words(port), text_of(port, "reason")); });
  lines(out, "unresponsive", list_of(subnet, "unresponsive"), "smd status --json", [](const auto& lost) {
    const auto guid = text_of(lost, "guid");
    const auto name = text_of(lost, "name");
    return fmt::format("{}{}behind {}: {}", guid.empty() ? "" : guid + " ", name.empty() ? "" : name + " ",
                       port_words(member_of(lost, "behind")), text_of(lost, "reason"));
  });
  lines(out, "refused", list_of(subnet, "refused_sets"), "smd status --json", [](const auto& set) {
    return fmt::format("{}: {}", port_words(member_of(set, "at")), text_of(set, "reason"));
  });
  lines(out, "duplicates", list_of(subnet, "duplicate_guids"), "smd status --json", [](const auto& twice) {
    std::string places;
    for (const auto& place : list_of(twice, "behind"))
      places += (places.empty() ? "" : ", ") + port_words(place);
    return fmt::format("GUID {} behind {}: who had it stays, others are not put in service",
                       text_of(twice, "guid"), places);
  });
  if (const auto& ports = list_of(subnet, "ports_without_lid"); !ports.empty())
    line(out, "no LID left", fmt::format("for {} ports: smd status --json", ports.size()));
  lines(out, "other SMs", list_of(subnet, "other_sms"), "smd status --json",
        [](const auto& other) { return fmt::format("{}, {}", text_of(other, "state"), sm_words(other)); });
}

void print_status(std::ostream& out, const json::value& status) {
  const auto file = text_of(status, "configuration");
  out << fmt::format("smd {}, process {}, since {}; {}\n", text_of(status, "version"), text_of(status, "pid"),
                     text_of(status, "started"),
                     file.empty() ? "no configuration file"
                                  : fmt::format("{} of {}", file, text_of(status, "configuration_loaded")));
  for (const auto& subnet : list_of(status, "subnets")) {
    out << '\n';
    print_subnet(out, subnet);
  }
}

void print_ports(std::ostream& out, const json::value& ports, bool with_subnet) {
  for (const auto& port : list_of(ports, "ports")) {
    if (with_subnet) out << text_of(ports, "subnet") << ' ';
    out << port_words(port) << ": " << text_of(port, "state");
    if (const auto width = text_of(port, "width"); !width.empty())
      out << ' ' << width << ' ' << text_of(port, "speed");
    if (const auto& peer = member_of(port, "peer"); peer.is_object()) out << " to " << port_words(peer);
    if (const auto reason = text_of(port, "reason"); !reason.empty()) out << ": " << reason;
    out << '\n';
  }
}

void print_log(std::ostream& out, const json::value& log) {
  out << "level " << text_of(log, "level") << '\n';
  for (const auto* key : {"modules", "guids"}) {
    const auto* named = member_of(log, key).if_object();
    if (named == nullptr) continue;
    for (const auto& [name, level] : *named) {
      if (level.is_string())
        out << std::string_view(name) << ' ' << std::string_view(level.get_string()) << '\n';
    }
  }
}

}  // namespace smd::cli
