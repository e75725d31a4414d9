// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/partition_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <boost/json.hpp>
#include <ostream>
#include <tuple>
#include <utility>

#include "mad/asio.h"
#include "mad/base/parse.h"
#include "mad/real_clock.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/words.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

/// Between two looks of `wait`.
constexpr mad::Duration kLook = std::chrono::milliseconds(100);
/// What the bodies of changes are made from.
constexpr std::array kOptionsOfKeys{
    OptionOfKey{"pkey", "--pkey"},       OptionOfKey{"sl", "--sl"},
    OptionOfKey{"ipoib.mtu", "--mtu"},   OptionOfKey{"ipoib.rate", "--rate"},
    OptionOfKey{"ipoib.qkey", "--qkey"}, OptionOfKey{"ipoib.scopes", "--scope"},
    OptionOfKey{"members[]", "MEMBERS"}};
/// Seconds that `wait` waits.
constexpr double kPatience = 60;
/// Members that a line of `wait` names.
constexpr std::size_t kMissingNamed = 5;

class PartitionCommand {
 public:
  PartitionCommand(const Conversation& daemon, const PartitionOptions& options, bool as_json,
                   std::ostream& out, bool* misused)
      : daemon_(daemon), options_(options), as_json_(as_json), out_(out), misused_(misused) {}

  Done list() const { return print("partitions"); }
  Done show() const { return print("partitions?name=" + api::percent_encoded(options_.partition)); }
  Done create() const;
  Done add() const;
  Done remove() const;
  Done erase() const;
  Done wait() const;
  Done reindex() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  std::expected<std::optional<json::value>, std::string> look(const std::string& subnet, TimePoint until,
                                                              std::string* why) const;
  Done wait_in(const std::string& subnet, bool several, TimePoint until) const;
  Done print(const std::string& what) const;
  std::expected<json::value, std::string> tell(std::string_view method, const std::string& target,
                                               const std::string& body) const;
  std::string own_path() const { return "partitions/" + api::percent_encoded(options_.partition); }
  /// `done`: what is said where it has changed something.
  Done change(std::string_view method, const std::string& what, const std::string& body,
              std::string_view done, std::string_view unchanged = "nothing changes") const;

  const Conversation& daemon_;
  const PartitionOptions& options_;
  bool as_json_;
  std::ostream& out_;
  bool* misused_;
};

/// A partition that is named need not be in all subnets.
Done PartitionCommand::print(const std::string& what) const {
  bool found = false;
  const auto done = daemon_.each([&](const std::string& name, bool several) -> Done {
    const auto value = daemon_.call("GET", path_of(name, what));
    if (!value) return std::unexpected(value.error());
    found = true;
    if (as_json_) {
      out_ << sm::to_text(*value) << '\n';
    } else {
      print_partitions(out_, *value, several);
    }
    return {};
  });
  return found && !options_.partition.empty() ? Done{} : done;
}

std::expected<json::value, std::string> PartitionCommand::tell(std::string_view method,
                                                               const std::string& target,
                                                               const std::string& body) const {
  std::string code;
  auto value = daemon_.call(method, target, body, &code);
  if (!value) *misused_ = code == "bad_body" || code == "bad_name";
  return value;
}

Done PartitionCommand::change(std::string_view method, const std::string& what, const std::string& body,
                              std::string_view done, std::string_view unchanged) const {
  const auto subnet = daemon_.only_subnet();
  if (!subnet) return std::unexpected(subnet.error());
  const auto value = tell(method, path_of(*subnet, what), body);
  if (!value) return std::unexpected(with_option(value.error(), kOptionsOfKeys));
  if (as_json_) {
    out_ << sm::to_text(*value) << '\n';
    return {};
  }
  const auto* changed = member_of(*value, "changed").if_bool();
  out_ << fmt::format("{} {}: {}\n", text_of(*value, "pkey"), text_of(*value, "partition"),
                      changed != nullptr && *changed ? done : unchanged);
  if (const auto warning = text_of(*value, "warning"); !warning.empty())
    out_ << fmt::format("warning: {}\n", warning);
  return {};
}

json::object member_body(const std::string& ports, std::string_view membership, bool index0) {
  json::object member{{"ports", ports}, {"membership", std::string(membership)}};
  if (index0) member["index0"] = true;
  return member;
}

/// A decimal number as such, as the API tells it from a hexadecimal one.
json::value pkey_json(const std::string& text) {
  const bool decimal = text.find_first_not_of("0123456789") == std::string::npos;
  const auto number = decimal ? base::parse_number(text, 0xFFFF) : std::nullopt;
  return number ? json::value(*number) : json::value(text);
}

Done PartitionCommand::create() const {
  json::object body;
  if (!options_.pkey.empty()) body["pkey"] = pkey_json(options_.pkey);
  if (!options_.sl.empty()) body["sl"] = options_.sl;
  json::array members;
  const std::array<std::pair<const std::vector<std::string>*, const char*>, 4> lists{
      {{&options_.members, options_.membership.empty() ? "limited" : options_.membership.c_str()},
       {&options_.limited, "limited"},
       {&options_.full, "full"},
       {&options_.both, "both"}}};
  for (const auto& [list, membership] : lists) {
    for (const auto& ports : *list) members.push_back(member_body(ports, membership, options_.index0));
  }
  body["members"] = std::move(members);
  json::object ipoib;
  for (const auto& [key, value] :
       {std::pair("mtu", options_.mtu), {"rate", options_.rate}, {"qkey", options_.qkey}}) {
    if (!value.empty()) ipoib[key] = value;
  }
  if (!options_.scopes.empty()) ipoib["scopes"] = json::array(options_.scopes.begin(), options_.scopes.end());
  if (options_.ipoib) body["ipoib"] = std::move(ipoib);
  return change("PUT", own_path() + "?create=true", json::serialize(body), "created");
}

Done PartitionCommand::add() const {
  json::array members;
  for (const auto& ports : options_.members)
    members.push_back(
        member_body(ports, options_.membership.empty() ? "limited" : options_.membership, options_.index0));
  return change("POST", own_path() + "/members",
                json::serialize(json::object{{"members", std::move(members)}}), "added");
}

/// All of them in one change.
Done PartitionCommand::remove() const {
  json::array members;
  for (const auto& ports : options_.members) members.emplace_back(ports);
  return change("DELETE", own_path() + "/members",
                json::serialize(json::object{{"members", std::move(members)}}), "removed",
                "nothing changes: no rule is for exactly these ports; smd partitions show names the rules");
}

Done PartitionCommand::erase() const { return change("DELETE", own_path(), "", "deleted"); }

/// Members that are in the fabric and do not have their key yet: "h3 port 1: no_room".
std::vector<std::string> missing_members(const json::value& partition) {
  std::vector<std::string> missing;
  for (const auto& member : list_of(partition, "members")) {
    const auto state = text_of(member, "state");
    if (state != "programmed")
      missing.push_back(fmt::format("{} \"{}\" port {}: {}", text_of(member, "port_guid"),
                                    text_of(member, "name"), text_of(member, "port"), state));
  }
  return missing;
}

std::string still_missing(const json::value& partition, const std::vector<std::string>& missing,
                          double seconds) {
  auto text = fmt::format("after {} s, {}", seconds, members_by_state(partition));
  for (std::size_t i = 0; i < std::min(missing.size(), kMissingNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? ": " : ", ", missing[i]);
  if (missing.size() > kMissingNamed) text += fmt::format(" and {} more", missing.size() - kMissingNamed);
  return text;
}

void pause(mad::Duration time) {
  asio::io_context io{1};
  mad::RealClock clock(io);
  clock.call_at(clock.now() + time, [] {});
  io.run();
}

/// What the subnet says of the partition, nothing where it does not have it. One that waits, for its port or
/// for the first sweep, does not know yet.
std::expected<std::optional<json::value>, std::string> PartitionCommand::look(const std::string& subnet,
                                                                              TimePoint until,
                                                                              std::string* why) const {
  for (;;) {
    std::string code;
    auto value = daemon_.find(path_of(subnet, own_path()), why, &code);
    if (value || code != "waiting" || std::chrono::steady_clock::now() >= until) return value;
    pause(kLook);
  }
}

/// As print(): in the subnets that have it.
Done PartitionCommand::wait() const {
  const std::chrono::duration<double> patience(options_.timeout.value_or(kPatience));
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(patience);
  std::vector<std::string> with;
  std::vector<SubnetError> unknown;
  bool several = false;
  const auto asked = daemon_.each([&](const std::string& name, bool among) -> Done {
    several = among;
    if (among) {
      std::string why;
      const auto value = look(name, until, &why);
      if (!value) unknown.push_back({.subnet = name, .text = value.error(), .has = 0});
      if (!value) return std::unexpected(value.error());
      if (!*value) return std::unexpected(why);
    }
    with.push_back(name);
    return {};
  });
  if (with.empty()) return asked;
  if (!unknown.empty()) return std::unexpected(joined(unknown));
  for (const auto& name : with) {
    auto done = wait_in(name, several, until);
    if (!done && several)
      return std::unexpected(joined({{.subnet = name, .text = std::move(done.error()), .has = 0}}));
    if (!done) return done;
  }
  return {};
}

Done PartitionCommand::wait_in(const std::string& subnet, bool several, TimePoint until) const {
  for (;;) {
    std::string why;
    const auto found = look(subnet, until, &why);
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::unexpected(why);
    const auto& value = *found;
    const auto* in_force = member_of(*value, "in_force").if_bool();
    const auto missing = missing_members(*value);
    const bool ready = in_force != nullptr && *in_force && missing.empty();
    if (ready && as_json_) out_ << sm::to_text(*value) << '\n';
    if (ready && !as_json_)
      out_ << fmt::format("{}{} {}: {}\n", several ? subnet + ": " : "", text_of(*value, "pkey"),
                          text_of(*value, "name"), members_by_state(*value));
    if (ready) return {};
    if (std::chrono::steady_clock::now() >= until)
      return std::unexpected(still_missing(*value, missing, options_.timeout.value_or(kPatience)));
    pause(kLook);
  }
}

Done PartitionCommand::reindex() const {
  const auto subnet = daemon_.only_subnet();
  if (!subnet) return std::unexpected(subnet.error());
  json::object body;
  if (!options_.partition.empty()) body["ports"] = options_.partition;
  const auto value = tell("POST", path_of(*subnet, "partitions/reindex"), json::serialize(body));
  if (!value) return std::unexpected(value.error());
  if (as_json_) {
    out_ << sm::to_text(*value) << '\n';
  } else {
    out_ << fmt::format("{}: the P_Key at index 0 of {} is chosen again\n", *subnet,
                        counted(text_of(*value, "ports"), "port"));
  }
  return {};
}

struct What {
  const char* name;
  bool needs_partition;
  bool needs_members;
  Done (PartitionCommand::*act)() const;
};
constexpr std::array kWhats{What{"list", false, false, &PartitionCommand::list},
                            What{"show", true, false, &PartitionCommand::show},
                            What{"create", true, false, &PartitionCommand::create},
                            What{"add", true, true, &PartitionCommand::add},
                            What{"remove", true, true, &PartitionCommand::remove},
                            What{"delete", true, false, &PartitionCommand::erase},
                            What{"wait", true, false, &PartitionCommand::wait},
                            What{"reindex", false, false, &PartitionCommand::reindex}};

}  // namespace

void add_partition_options(CLI::App& command, PartitionOptions& options) {
  std::vector<std::string> names;
  for (const auto& what : kWhats) names.emplace_back(what.name);
  command
      .add_option(
          "WHAT", options.what,
          "list (the default): all of them; show: one with its members; create, delete: one of the API; add, "
          "remove: members of one; wait: until the members that are there have the key; reindex: decides "
          "index 0 of ports anew")
      ->check(CLI::IsMember(names));
  command
      .add_option("PARTITION", options.partition,
                  "its name, of show also its P_Key; of reindex the ports (default: all)")
      ->type_name("NAME|PKEY|PORTS");
  command
      .add_option("MEMBERS", options.members,
                  "of create, add and remove: GUIDs, names of nodes, NODE:PORT, group:NAME")
      ->type_name("PORTS...");
  command.add_option("--full", options.full, "of create: full members")
      ->type_name("PORTS")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--limited", options.limited, "of create: limited members")
      ->type_name("PORTS")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--both", options.both, "of create: members with both keys")
      ->type_name("PORTS")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--membership", options.membership, "of create and add: of MEMBERS (default: limited)")
      ->check(CLI::IsMember({"limited", "full", "both"}));
  command.add_flag("--index0", options.index0,
                   "of create and add: the key belongs at index 0 of the ports' tables");
  command.add_option("--pkey", options.pkey, "of create (default: the lowest free one)")->type_name("PKEY");
  command.add_flag("--ipoib", options.ipoib, "of create: make the IPoIB broadcast group");
  command.add_option("--mtu", options.mtu, "of create, with --ipoib: of the group")->type_name("BYTES");
  command.add_option("--rate", options.rate, "of create, with --ipoib: of the group")->type_name("GB/S");
  command.add_option("--qkey", options.qkey, "of create, with --ipoib: of the group")->type_name("QKEY");
  command
      .add_option("--scope", options.scopes,
                  "of create, with --ipoib: 1 to 15, a group for each (default: 2, link-local)")
      ->type_name("SCOPE")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--sl", options.sl, "of create: of paths and groups of the partition, with QoS")
      ->type_name("SL");
  command.add_option("--timeout", options.timeout, "of wait (default: 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 86'400.0));
}

namespace {

/// What was given that `chosen` has no use for; empty: nothing.
std::string useless_option(const PartitionOptions& options, std::string_view chosen) {
  const bool creates = chosen == "create";
  const bool adds = creates || chosen == "add";
  const std::array uses{
      std::tuple{"--full", !options.full.empty(), creates},
      std::tuple{"--limited", !options.limited.empty(), creates},
      std::tuple{"--both", !options.both.empty(), creates},
      std::tuple{"--pkey", !options.pkey.empty(), creates},
      std::tuple{"--sl", !options.sl.empty(), creates},
      std::tuple{"--ipoib", options.ipoib, creates},
      std::tuple{"--mtu", !options.mtu.empty(), creates},
      std::tuple{"--rate", !options.rate.empty(), creates},
      std::tuple{"--qkey", !options.qkey.empty(), creates},
      std::tuple{"--scope", !options.scopes.empty(), creates},
      std::tuple{"--membership", !options.membership.empty(), adds},
      std::tuple{"--index0", options.index0, adds},
      std::tuple{"--timeout", options.timeout.has_value(), chosen == "wait"},
  };
  for (const auto& [name, given, used] : uses) {
    if (given && !used) return fmt::format("{} takes no {}", chosen, name);
  }
  const std::array of_group{
      std::pair{"--mtu", !options.mtu.empty()}, std::pair{"--rate", !options.rate.empty()},
      std::pair{"--qkey", !options.qkey.empty()}, std::pair{"--scope", !options.scopes.empty()}};
  for (const auto& [name, given] : of_group) {
    if (given && !options.ipoib) return fmt::format("{} is of the IPoIB group: with --ipoib", name);
  }
  return {};
}

/// Words after the partition that `chosen` has no use for; empty: none.
std::string useless_words(const PartitionOptions& options, std::string_view chosen) {
  if (options.members.empty() || chosen == "create" || chosen == "add" || chosen == "remove") return {};
  const auto& first = options.members.front();
  if (chosen == "reindex")
    return fmt::format("reindex takes one set of ports, and {} is a second: once for each, or group:NAME",
                       first);
  return fmt::format("{} takes one partition: what is {}?", chosen, first);
}

}  // namespace

std::string misuse_of(const PartitionOptions& options) {
  const auto chosen = options.what.empty() ? "list" : options.what;
  if (auto text = useless_option(options, chosen); !text.empty()) return text;
  for (const auto& what : kWhats) {
    if (what.name != chosen) continue;
    if (what.needs_partition && options.partition.empty())
      return fmt::format("{} needs a name{}", what.name,
                         what.act == &PartitionCommand::show ? " or a P_Key" : "");
    if (what.act == &PartitionCommand::list && !options.partition.empty())
      return fmt::format("list takes no name: smd partitions show {}", options.partition);
    if (what.needs_members && options.members.empty()) return fmt::format("{} needs members", what.name);
  }
  if (auto text = useless_words(options, chosen); !text.empty()) return text;
  const bool by_option = !options.full.empty() || !options.limited.empty() || !options.both.empty();
  if (chosen == "create" && by_option && !options.members.empty() && options.membership.empty())
    return fmt::format(
        "{}: beside --full, --limited or --both: as PORT,PORT after the option, or with --membership",
        options.members.front());
  return {};
}

Done partition_command(const Conversation& daemon, const PartitionOptions& options, bool as_json,
                       std::ostream& out, bool* misused) {
  const PartitionCommand command(daemon, options, as_json, out, misused);
  for (const auto& what : kWhats) {
    if (what.name != (options.what.empty() ? "list" : options.what)) continue;
    return (command.*what.act)();
  }
  return {};
}

}  // namespace smd::cli
