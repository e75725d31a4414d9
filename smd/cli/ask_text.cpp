// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/ask_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ostream>
#include <set>

#include "mad/base/escaped.h"
#include "smd/cli/ask_replica.h"
#include "smd/cli/paint.h"
#include "smd/cli/words.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

/// More of one kind than fit on a screen are for `smd ports`.
constexpr std::size_t kShownItems = 20;
constexpr std::size_t kTitleWidth = 13;

std::string port_words(const json::value& port) {
  return fmt::format("{} \"{}\" port {}", text_of(port, "guid"), text_of(port, "name"),
                     text_of(port, "port"));
}

/// Of the number that has this key: "2 links".
std::string number_of(const json::value& from, std::string_view key, std::string_view one,
                      std::string_view many = {}) {
  return counted(text_of(from, key), one, many);
}

/// Titles of lines that are there only where something is wrong.
constexpr std::array<std::string_view, 11> kOfTrouble{
    "why",     "lost",         "not Active", "disabled",   "violations", "sweeps",
    "waiting", "unresponsive", "refused",    "duplicates", "no LID left"};

Tone tone_of_title(std::string_view title) {
  const auto* const at = std::ranges::find(kOfTrouble, title);
  if (at == kOfTrouble.end()) return Tone::plain;
  return at < std::ranges::find(kOfTrouble, "waiting") ? Tone::notice : Tone::bad;
}

void line(std::ostream& out, std::string_view title, const std::string& words) {
  out << "  " << painted(out, tone_of_title(title), title)
      << fmt::format("{:<{}}{}\n", "", kTitleWidth - std::min(kTitleWidth, title.size()), words);
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
  const auto stranger = text_of(sm, "never_obeyed");
  return fmt::format("{} on \"{}\", LID {}, priority {}{}{}", text_of(sm, "guid"), text_of(sm, "node"),
                     text_of(sm, "lid"), text_of(sm, "priority"), stranger.empty() ? "" : "; ", stranger);
}

void print_sweep(std::ostream& out, const json::value& subnet) {
  const auto& sweep = member_of(subnet, "last_sweep");
  if (!sweep.is_object()) return line(out, "last sweep", "none yet");
  line(out, "fabric",
       fmt::format("{}, {}, {}, {}, {}", number_of(sweep, "switches", "switch", "switches"),
                   number_of(sweep, "cas", "CA"), number_of(sweep, "routers", "router"),
                   number_of(sweep, "links", "link"), number_of(sweep, "lids", "LID")));
  line(out, "ports",
       fmt::format("{} Active, {} with a link and not Active", text_of(sweep, "ports_active"),
                   text_of(sweep, "ports_not_active")));
  line(out, "last sweep",
       fmt::format("{}, {} for \"{}\": {} ms, {} Get, {} Set, {} failed, {}", text_of(subnet, "swept_at"),
                   text_of(sweep, "sweep"), text_of(sweep, "reason"), text_of(sweep, "total_ms"),
                   text_of(sweep, "smps_get"), text_of(sweep, "smps_set"),
                   number_of(sweep, "sets_failed", "Set"), number_of(sweep, "timeouts", "time-out")));
}

/// `hosts`: how many of the pairs have hosts at both switches; empty where an older daemon does not say.
std::string stale_words(const std::string& pairs, const std::string& hosts) {
  if (hosts == "0") return "they concern LIDs of switches without hosts, not connections of hosts";
  const auto some =
      hosts.empty() || hosts == pairs ? "" : fmt::format(" ({} of them with hosts at both)", hosts);
  return "connections made before are not proven" + some;
}

void print_routing(std::ostream& out, const json::value& subnet) {
  const auto& routing = member_of(subnet, "routing");
  if (!routing.is_object() || text_of(member_of(subnet, "last_sweep"), "switches") == "0") return;
  const auto found = text_of(routing, "found");
  line(out, "routes",
       fmt::format("{}, {}", text_of(routing, "engine"),
                   found.empty() ? "verified" : "not verified: " + found));
  const auto why = text_of(routing, "why");
  if (!why.empty()) line(out, "", why);
  if (const auto unused = text_of(routing, "unused_options"); !unused.empty()) line(out, "", unused);
  if (const auto waits = text_of(routing, "engine_waits"); !waits.empty())
    line(out, "",
         fmt::format(
             "{} is asked for by [routing], and would give paths other SLs: smd resweep converge --engine",
             waits));
  if (const auto& limit = member_of(routing, "max_vls_waits"); limit.is_object())
    line(out, "",
         fmt::format("max_vls of [qos] leaves {} for {} layers, and would give paths other SLs: smd resweep "
                     "converge",
                     counted(text_of(limit, "max_vls"), "VL", "VLs"), text_of(limit, "layers")));
  if (text_of(routing, "fixed_sl_ok") == "false")
    line(out, "",
         fmt::format("{} layers: each client has to use the SL that subnet administration says",
                     text_of(routing, "layers")));
  if (const auto stale = text_of(routing, "pairs_with_stale_sl"); !stale.empty() && stale != "0")
    line(out, "",
         fmt::format("{} another SL than at first: {}",
                     counted(stale, "pair of switches has", "pairs of switches have"),
                     stale_words(stale, text_of(routing, "host_pairs_with_stale_sl"))));
  if (const auto unknown = text_of(routing, "paths_with_unknown_sl"); !unknown.empty() && unknown != "0")
    line(out, "",
         fmt::format("the SL that clients use is not known for {} of the subnet manager before: "
                     "connections made then are not proven",
                     counted(unknown, "path")));
  if (const auto trees = text_of(routing, "multicast_trees_not_proven"); !trees.empty() && trees != "0")
    line(out, "",
         fmt::format("{} may close a credit loop with unicast paths on SL 0",
                     counted(trees, "multicast tree")));
  if (!why.empty()) return;
  lines(out, "", list_of(routing, "fell_back_from"), "smd status --json", [](const json::value& refusal) {
    return fmt::format("{} was passed over: {}", text_of(refusal, "engine"), text_of(refusal, "reason"));
  });
}

/// "1 switch, 2 links, 1 host"; empty where nothing is lost.
std::string loss_words(const json::value& counts) {
  std::string words;
  const auto add = [&](std::string_view key, std::string_view one, std::string_view many) {
    const auto count = text_of(counts, key);
    if (count.empty() || count == "0") return;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", counted(count, one, many));
  };
  add("switches", "switch", "switches");
  add("links", "link", "links");
  add("hosts", "host", "hosts");
  return words;
}

void print_losses(std::ostream& out, const json::value& subnet) {
  const auto& lost = member_of(subnet, "lost");
  if (const auto words = loss_words(lost); !words.empty()) {
    const auto complete = text_of(lost, "complete_at");
    line(out, "lost",
         fmt::format("{} since the fabric was last complete{}: smd ports --lost", words,
                     complete.empty() ? "" : " (" + complete + ")"));
  }
  const auto& slow = list_of(subnet, "links_degraded");
  if (slow.empty()) return;
  const auto narrow = static_cast<std::size_t>(std::ranges::count_if(
      slow, [](const json::value& link) { return text_of(link, "width") != text_of(link, "best_width"); }));
  line(out, "links", fmt::format("{} narrow, {} slow: smd ports --degraded", narrow, slow.size() - narrow));
}

/// Switches that forward past their tables: how many, and the first ones by name.
void print_adaptive(std::ostream& out, const json::value& subnet) {
  constexpr std::size_t kNamed = 4;
  const auto& switches = list_of(subnet, "adaptive_routing");
  if (switches.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, switches.size()); ++i)
    names += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", text_of(switches[i], "guid"),
                         text_of(switches[i], "name"));
  if (switches.size() > kNamed)
    names += fmt::format(" and {} more: smd status --json", switches.size() - kNamed);
  line(out, "adaptive",
       fmt::format(
           "{} adaptively, past the forwarding tables: {}",
           switches.size() == 1 ? "1 switch routes" : fmt::format("{} switches route", switches.size()),
           names));
}

void print_tables(std::ostream& out, const json::value& subnet) {
  print_adaptive(out, subnet);
  const auto& partitions = member_of(subnet, "partitions");
  if (const auto ports = text_of(partitions, "foreign_ports"); !ports.empty() && ports != "0")
    line(out, "partitions",
         fmt::format("{} of another SM", counted(ports, "port has keys", "ports have keys")));
  const auto keys_words = [](const json::value& one, std::string_view what) {
    return fmt::format("{}: {}, {} {}", port_words(member_of(one, "at")), number_of(one, "keys", "key"), what,
                       text_of(one, "capacity"));
  };
  lines(out, "partitions", list_of(partitions, "no_room"), "smd status --json",
        [&](const auto& one) { return keys_words(one, "room for"); });
  lines(out, "partitions", list_of(partitions, "not_enforced"), "smd status --json", [&](const auto& one) {
    if (text_of(one, "held_back") != "true") return keys_words(one, "not enforced, room for");
    return keys_words(one, "room for") + "; a link that is not Active waits, an Active one passes " +
           (text_of(one, "capacity") == "0" ? "all" : "what fits");
  });
  if (const auto owners = text_of(partitions, "virtual_port_owners"); !owners.empty() && owners != "0")
    line(out, "partitions",
         fmt::format("{} virtual ports (SR-IOV), which smd does not set up: their VFs stay down",
                     counted(owners, "port can have", "ports can have")));
  const auto at_ports = text_of(partitions, "pkey_violations");
  const auto at_switches = text_of(partitions, "pkey_violations_at_switches");
  if (!(at_ports + at_switches).empty() && at_ports + at_switches != "00")
    line(out, "violations",
         fmt::format("{} at end ports, {} at switches since the start (partition.violation in the log)",
                     counted(at_ports, "P_Key violation"), at_switches));
  const auto& qos = member_of(subnet, "qos");
  const auto as_it_is = [](const json::value& one) {
    return one.is_string() ? std::string(std::string_view(one.get_string())) : std::string{};
  };
  lines(out, "QoS", list_of(qos, "warnings"), "smd qos", as_it_is);
  lines(out, "QoS", list_of(qos, "pending"), "smd qos",
        [&](const auto& one) { return "pending: " + as_it_is(one); });
  if (const auto& keys = member_of(subnet, "m_keys"); keys.is_object())
    line(out, "M_Keys",
         fmt::format("{} of {} end ports have {}, level {}", text_of(keys, "done"), text_of(keys, "ports"),
                     text_of(keys, "removed") == "true"    ? "none any more"
                     : text_of(keys, "per_port") == "true" ? "their own"
                                                           : "it",
                     text_of(keys, "level")));
  lines(out, "M_Keys", list_of(subnet, "unknown_m_keys"), "smd status --json", [](const auto& key) {
    const auto lease = text_of(key, "lease_s");
    return fmt::format("{}: has an M_Key of another SM (protection {}, lease {}): {}",
                       port_words(member_of(key, "at")), text_of(key, "protect_bits"),
                       lease == "0" ? "for ever" : lease + " s", text_of(key, "reason"));
  });
  lines(out, "tables", list_of(subnet, "altered_tables"), "smd status --json", [](const auto& table) {
    return fmt::format("{}: {} {}: {}", port_words(member_of(table, "at")), text_of(table, "attribute"),
                       text_of(table, "reason"), text_of(table, "entries"));
  });
}

void print_history(std::ostream& out, const json::value& subnet) {
  if (const auto& clients = member_of(subnet, "clients"); clients.is_object())
    line(out, "SA",
         fmt::format("{} with {}, {}, {}", number_of(clients, "groups", "multicast group"),
                     number_of(clients, "members", "member"), number_of(clients, "services", "service"),
                     number_of(clients, "subscriptions", "subscription")));
  if (const auto smps = text_of(subnet, "smps"); !smps.empty())
    line(out, "since start",
         fmt::format("{}, {}, {}", counted(smps, "SMP"), number_of(subnet, "smp_timeouts", "time-out"),
                     number_of(subnet, "traps", "trap")));
  if (const auto& change = member_of(subnet, "last_change"); change.is_object())
    line(out, "last change", fmt::format("{} at {}", text_of(change, "what"), text_of(change, "at")));
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

std::string joined_texts(const json::array& items) {
  std::string text;
  for (const auto& item : items) {
    if (item.is_string())
      text += (text.empty() ? "" : ", ") + std::string(std::string_view(item.get_string()));
  }
  return text;
}

std::string text_of(const json::value& from, std::string_view key) {
  const auto& value = member_of(from, key);
  if (value.is_null()) return {};
  if (const auto* text = value.if_string()) return base::escaped({text->data(), text->size()});
  if (const auto* number = value.if_double()) return fmt::format("{}", *number);
  return json::serialize(value);
}

void print_subnet(std::ostream& out, const json::value& subnet) {
  const auto& sm = member_of(subnet, "sm");
  const auto& master = member_of(subnet, "master");
  const auto name = text_of(subnet, "subnet");
  const auto& waiting = member_of(subnet, "waiting");
  const auto since = text_of(subnet, "state_since");
  const auto state = text_of(subnet, "state");
  out << fmt::format("subnet {}: {}{}\n", name.empty() ? "(no name yet)" : name,
                     painted(out, tone_of(state), state),
                     since.empty() || waiting.is_object() ? "" : " since " + since);
  if (const auto why = text_of(subnet, "why"); !why.empty() && state != "standby") line(out, "why", why);
  if (waiting.is_object())
    line(out, "waiting", fmt::format("{} (since {})", text_of(waiting, "reason"), text_of(waiting, "since")));
  line(out, "port", text_of(subnet, "port"));
  line(out, "SM", fmt::format("{}, {}", text_of(sm, "state"), sm_words(sm)));
  if (master.is_object() && text_of(master, "guid") != text_of(sm, "guid"))
    line(out, "master", sm_words(master));
  if (const auto next = text_of(subnet, "outlook"); !next.empty()) line(out, "next", next);
  if (const auto words = replica_words(subnet); !words.empty()) line(out, "replica", words);
  if (const auto words = config_words(subnet); !words.empty()) line(out, "files", words);
  if (const auto words = refused_words(list_of(subnet, "files_refused")); !words.empty())
    line(out, "files", "wrong, those before are in force: " + words);
  if (const auto words = groups_read_words(subnet); !words.empty()) line(out, "groups read", words);
  if (const auto off = text_of(subnet, "sweeps_off_until"); !off.empty())
    line(out, "sweeps", fmt::format("OFF until {}: changes of the fabric are not followed", off));
  print_sweep(out, subnet);
  print_routing(out, subnet);
  print_losses(out, subnet);
  lines(out, "not Active", list_of(subnet, "ports_not_active"), "smd ports --not-active",
        [](const auto& port) { return fmt::format("{}: {}", port_words(port), text_of(port, "reason")); });
  lines(out, "disabled", list_of(subnet, "ports_disabled"), "smd status --json", [](const auto& port) {
    return fmt::format("{}: by {} since {}; smd port enable ends it", port_words(port), text_of(port, "by"),
                       text_of(port, "since"));
  });
  lines(out, "unresponsive", list_of(subnet, "unresponsive"), "smd status --json", [](const auto& lost) {
    const auto guid = text_of(lost, "guid");
    const auto name = text_of(lost, "name");
    const auto hosts = list_of(lost, "hosts_behind").size();
    return fmt::format("{}{}behind {}: {}{}", guid.empty() ? "" : guid + " ",
                       name.empty() ? "" : fmt::format("\"{}\" ", name),
                       port_words(member_of(lost, "behind")), text_of(lost, "reason"),
                       hosts == 0 ? "" : fmt::format("; {} behind it", counted(hosts, "host")));
  });
  lines(out, "refused", list_of(subnet, "refused_sets"), "smd status --json", [](const auto& set) {
    return fmt::format("{}: {}", port_words(member_of(set, "at")), text_of(set, "reason"));
  });
  lines(out, "duplicates", list_of(subnet, "duplicate_guids"), "smd status --json", [](const auto& twice) {
    std::string places;
    for (const auto& place : list_of(twice, "behind"))
      places += (places.empty() ? "" : ", ") + port_words(place);
    return fmt::format("GUID {} behind {}: only the node that had it first is in service",
                       text_of(twice, "guid"), places);
  });
  print_tables(out, subnet);
  if (const auto& ports = list_of(subnet, "ports_without_lid"); !ports.empty())
    line(out, "no LID left", fmt::format("for {}: smd status --json", counted(ports.size(), "port")));
  lines(out, "other SMs", list_of(subnet, "other_sms"), "smd status --json",
        [](const auto& other) { return fmt::format("{}, {}", text_of(other, "state"), sm_words(other)); });
  print_history(out, subnet);
}

std::string end_text(const json::value& end) {
  return end.is_null() ? "" : fmt::format("\"{}\" port {}", text_of(end, "name"), text_of(end, "port"));
}

void print_status(std::ostream& out, const json::value& status) {
  const auto file = text_of(status, "configuration");
  out << fmt::format("smd {}, process {}, since {}; {}\n", text_of(status, "version"), text_of(status, "pid"),
                     text_of(status, "started"),
                     file.empty() ? "no configuration file"
                                  : fmt::format("{} of {}", file, text_of(status, "configuration_loaded")));
  if (const auto& refused = member_of(status, "configuration_refused"); refused.is_object()) {
    out << fmt::format("the reload of {} was refused, the configuration before it is in force: {}\n",
                       text_of(refused, "at"), refused_words(list_of(refused, "errors")));
  }
  if (const auto waiting = joined_texts(list_of(status, "needs_restart")); !waiting.empty())
    out << fmt::format("changed in the files, and in force after a restart only: {}\n",
                       base::escaped(waiting));
  if (const auto reason = text_of(status, "not_on_network"); !reason.empty())
    out << fmt::format("the API is not on the network: {}\n", reason);
  if (const auto& store = member_of(status, "store"); store.is_object()) {
    out << fmt::format("changes are in memory only, a restart loses them: {} (since {})\n",
                       text_of(store, "failed"), text_of(store, "since"));
  }
  for (const auto& subnet : list_of(status, "subnets")) {
    out << '\n';
    print_subnet(out, subnet);
  }
}

std::string state_words(const json::value& port) {
  auto state = text_of(port, "state");
  if (state.empty() && member_of(port, "lost").is_object()) state = "Down";
  return state;
}

void print_ports(std::ostream& out, const json::value& ports, bool with_subnet) {
  for (const auto& port : list_of(ports, "ports")) {
    if (with_subnet) out << text_of(ports, "subnet") << ' ';
    const auto state = state_words(port);
    out << port_words(port) << ": " << painted(out, tone_of(state), state);
    if (const auto width = text_of(port, "width"); !width.empty())
      out << ' ' << width << ' ' << text_of(port, "speed");
    if (const auto& peer = member_of(port, "peer"); peer.is_object()) out << " to " << port_words(peer);
    const auto reason = text_of(port, "reason");
    // "Down since ... (was ...)" has the state.
    const bool whole = !state.empty() && reason.starts_with(state + ' ');
    if (!reason.empty())
      out << (whole || state.empty() ? "" : ": ") << reason.substr(whole ? state.size() : 0);
    out << '\n';
  }
}

void print_lost(std::ostream& out, const json::value& ports, bool with_subnet) {
  const auto prefix = with_subnet ? text_of(ports, "subnet") + " " : std::string{};
  std::set<std::string> nodes;
  for (const auto& node : list_of(ports, "lost_nodes")) {
    nodes.insert(text_of(node, "guid"));
    const auto& behind = member_of(node, "behind");
    out << fmt::format("{}{} \"{}\" ({}, {}): gone since {}", prefix, text_of(node, "guid"),
                       text_of(node, "name"), text_of(node, "type"), number_of(node, "links", "link"),
                       text_of(node, "since"));
    if (behind.is_object()) out << ", it was behind " << port_words(behind);
    out << '\n';
  }
  for (const auto& link : list_of(ports, "lost_links")) {
    const auto& peer = member_of(link, "peer");
    if (nodes.contains(text_of(link, "guid")) || nodes.contains(text_of(peer, "guid"))) continue;
    out << fmt::format("{}{}: down since {} (was {} {} to {})\n", prefix, port_words(link),
                       text_of(link, "since"), text_of(link, "width"), text_of(link, "speed"),
                       port_words(peer));
  }
}

void print_accepted(std::ostream& out, const json::value& answer) {
  const auto words = loss_words(answer);
  out << fmt::format("{}: {}\n", text_of(answer, "subnet"),
                     words.empty() ? "nothing is lost" : words + " belong to the fabric no more");
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
