// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/fabric_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ostream>
#include <vector>

#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/lost_node.h"
#include "smd/cli/paint.h"
#include "smd/cli/words.h"
#include "smd/report/json.h"
#include "smd/report/qos_explanation.h"

namespace smd::cli {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

constexpr std::array kFilterOptions{OptionOfKey{"pkey", "--pkey"}, OptionOfKey{"sl", "--sl"},
                                    OptionOfKey{"match", "--match"}, OptionOfKey{"level", "--level"}};

/// A link that is slower than its best stands out by that.
Tone tone_of_cell(const Row& titles, const Row& row, std::size_t column) {
  if (titles[column] == "STATE") return tone_of(row[column]);
  const bool slow = titles[column] == "BEST" && !row[column].empty() && row[column] != row[column - 1];
  return slow ? Tone::notice : Tone::plain;
}

/// Columns as wide as their widest text; no blanks at the ends of lines.
void print_table(std::ostream& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto tone = &row == &rows.front() ? Tone::plain : tone_of_cell(rows.front(), row, i);
      line += painted(out, tone, row[i]) + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void print_nodes(std::ostream& out, const json::value& answer) {
  std::vector<Row> rows{{"GUID", "TYPE", "LID", "PORTS", "LINKED", "ACTIVE", "NAME"}};
  for (const auto& node : list_of(answer, "nodes"))
    rows.push_back({text_of(node, "guid"), text_of(node, "type"), text_of(node, "lid"),
                    text_of(node, "ports"), text_of(node, "ports_linked"), text_of(node, "ports_active"),
                    text_of(node, "name")});
  print_table(out, rows);
}

void print_node(std::ostream& out, const json::value& node) {
  out << fmt::format("{} {} \"{}\"\n  LID {}, system {}, vendor {}, device {}\n", text_of(node, "type"),
                     text_of(node, "guid"), text_of(node, "name"), text_of(node, "lid"),
                     text_of(node, "system_image_guid"), text_of(node, "vendor_id"),
                     text_of(node, "device_id"));
  std::vector<Row> rows{{"PORT", "STATE", "RATE", "MTU", "PEER", "REASON"}};
  for (const auto& port : list_of(node, "port_list")) {
    const auto speed = text_of(port, "speed");
    rows.push_back({text_of(port, "port"), state_words(port),
                    speed.empty() ? "" : fmt::format("{} {}", text_of(port, "width"), speed),
                    text_of(port, "mtu"), end_text(member_of(port, "peer")), text_of(port, "reason")});
  }
  print_table(out, rows);
}

void print_links(std::ostream& out, const json::value& answer) {
  std::vector<Row> rows{{"A", "B", "STATE", "RATE", "BEST"}};
  for (const auto& link : list_of(answer, "links"))
    rows.push_back({end_text(member_of(link, "a")), end_text(member_of(link, "b")), text_of(link, "state"),
                    fmt::format("{} {}", text_of(link, "width"), text_of(link, "speed")),
                    text_of(link, "best")});
  print_table(out, rows);
}

void print_direction(std::ostream& out, const json::value& from, const json::value& to,
                     const json::value& way) {
  const auto known = [](const std::string& number) { return number.empty() ? "?" : number; };
  const auto sl = text_of(way, "sl"), pkey = text_of(way, "pkey");
  out << fmt::format("{} -> {} (LID {}, layer {}", end_text(from), end_text(to), text_of(to, "lid"),
                     text_of(way, "layer"));
  if (!pkey.empty()) out << fmt::format(", P_Key {}", pkey);
  out << (sl.empty() ? ")\n" : fmt::format(", SL {}, VL {})\n", sl, known(text_of(way, "vl"))));
  for (const auto& hop : list_of(way, "hops")) {
    out << fmt::format("  {} \"{}\" in {} out {}", text_of(hop, "guid"), text_of(hop, "name"),
                       text_of(hop, "in"), text_of(hop, "out"));
    out << (sl.empty() ? "\n" : fmt::format(" SL {} VL {}\n", sl, known(text_of(hop, "vl"))));
  }
  if (const auto refused = text_of(way, "refused"); !refused.empty())
    out << "  THE SA GRANTS NO PATH: " << refused << '\n';
  if (const auto reason = text_of(way, "reason"); !reason.empty())
    out << "  NOT COMPLETE: " << reason << '\n';
}

void print_path(std::ostream& out, const json::value& path) {
  const auto& from = member_of(path, "from");
  const auto& to = member_of(path, "to");
  print_direction(out, from, to, member_of(path, "forward"));
  print_direction(out, to, from, member_of(path, "back"));
}

void print_groups(std::ostream& out, const json::value& answer) {
  std::vector<Row> rows{{"MGID", "MLID", "P_KEY", "Q_KEY", "MTU", "SL", "MEMBERS"}};
  for (const auto& group : list_of(answer, "groups"))
    rows.push_back({text_of(group, "mgid"), text_of(group, "mlid"), text_of(group, "pkey"),
                    text_of(group, "qkey"), text_of(group, "mtu"), text_of(group, "sl"),
                    text_of(group, "members")});
  print_table(out, rows);
}

void print_switches(std::ostream& out, const json::value& answer) {
  std::vector<Row> rows{{"GUID", "LID", "LEVEL", "PORTS", "FREE", "HOSTS", "ROUTES", "LFT", "MFT", "NAME"}};
  for (const auto& one : list_of(answer, "switches"))
    rows.push_back({text_of(one, "guid"), text_of(one, "lid"), text_of(one, "level"), text_of(one, "ports"),
                    text_of(one, "ports_free"), text_of(one, "hosts"), text_of(one, "lft_entries"),
                    text_of(one, "lft_capacity"), text_of(one, "mft_capacity"), text_of(one, "name")});
  print_table(out, rows);
}

void print_services(std::ostream& out, const json::value& answer) {
  std::vector<Row> rows{{"ID", "NAME", "P_KEY", "GID", "ENDS", "NODE", "PORT"}};
  for (const auto& one : list_of(answer, "services")) {
    const auto& at = member_of(one, "at");
    const auto ends = text_of(one, "ends");
    rows.push_back({text_of(one, "id"), text_of(one, "name"), text_of(one, "pkey"), text_of(one, "gid"),
                    ends.empty() ? "never" : ends, text_of(at, "name"), text_of(at, "port")});
  }
  print_table(out, rows);
}

void print_qos_answer(std::ostream& out, const json::value& answer) {
  const auto found = sm::qos_explanation_of(answer);
  if (found) {
    sm::print_qos(out, *found);
  } else {
    out << "an answer of another release of smd: smd qos --json\n";
  }
}

/// Of each switch; with its ports where there is only one.
void print_balance(std::ostream& out, const json::value& answer) {
  const auto& switches = list_of(answer, "switches");
  std::vector<Row> rows{{"GUID", "LINKS", "FEWEST", "MOST", "NAME"}};
  for (const auto& one : switches)
    rows.push_back({text_of(one, "guid"), text_of(one, "links_to_switches"), text_of(one, "fewest_host_lids"),
                    text_of(one, "most_host_lids"), text_of(one, "name")});
  print_table(out, rows);
  if (switches.size() != 1) return;
  out << '\n';
  rows = {{"PORT", "HOST LIDS", "LIDS", "PEER"}};
  for (const auto& port : list_of(switches.front(), "ports"))
    rows.push_back({text_of(port, "port"), text_of(port, "host_lids"), text_of(port, "lids"),
                    end_text(member_of(port, "peer"))});
  print_table(out, rows);
}

std::string target_of(std::string_view name, const FabricOptions& options) {
  std::string query;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty())
      query += fmt::format("{}{}={}", query.empty() ? "?" : "&", key, api::percent_encoded(value));
  };
  if (name == "node") return "nodes/" + api::percent_encoded(options.node);
  if (name == "nodes") add("type", options.type), add("match", options.match);
  if (name == "switches") add("match", options.match), add("level", options.level);
  if (name == "groups") add("pkey", options.pkey);
  if (name == "services") add("node", options.node), add("match", options.match), add("pkey", options.pkey);
  if (name == "links") {
    add("node", options.node), add("degraded", options.degraded ? "true" : "");
    add("type", options.type), add("state", options.state);
  }
  if (name == "balance") add("node", options.node);
  if (name == "path") {
    add("src", options.from), add("dst", options.to);
    add("sl", options.sl), add("pkey", options.pkey);
  }
  return std::string(name) + query;
}

struct Command {
  std::string_view name;
  std::string_view summary;
  void (*print)(std::ostream&, const json::value&);
  bool of_one_subnet;  ///< what the others say of it does not count where one has it
};
constexpr std::array kSummaries{
    Command{"nodes", "the nodes of the fabric", print_nodes, false},
    Command{"node", "one node and its ports", print_node, true},
    Command{"switches", "the switches: their place in the fabric and their tables", print_switches, false},
    Command{"links", "the cables of the fabric, each once", print_links, false},
    Command{"path", "the way of packets between two ports, there and back", print_path, true},
    Command{"groups", "the multicast groups that clients have joined", print_groups, false},
    Command{"services", "the services that clients have registered", print_services, false},
    Command{"qos", "VL, weight and share of each service level in use", print_qos_answer, false},
    Command{"balance", "how many LIDs each switch sends through each of its links", print_balance, false}};
static_assert(kSummaries.size() == kFabricCommands.size());

void add_pkey_option(CLI::App& command, FabricOptions& options) {
  command.add_option("--pkey", options.pkey, "only those of this partition")->type_name("P_KEY");
}

const Command& command_of(std::string_view name) {
  return *std::ranges::find(kSummaries, name, &Command::name);
}

}  // namespace

std::string_view summary_of(std::string_view command) { return command_of(command).summary; }

void add_filter_options(CLI::App& command, FabricOptions& options, const char* type, const char* state) {
  command.add_option("--type", options.type, type)->check(CLI::IsMember({"ca", "switch", "router"}));
  command.add_option("--state", options.state, state)
      ->check(CLI::IsMember({"down", "init", "armed", "active"}));
}

void add_fabric_options(std::string_view name, CLI::App& command, FabricOptions& options) {
  if (name == "nodes") {
    command.add_option("--type", options.type, "only these")
        ->check(CLI::IsMember({"ca", "switch", "router"}));
    command.add_option("--match", options.match, "only nodes whose names have this pattern, as \"h00*\"")
        ->type_name("PATTERN");
  } else if (name == "node") {
    command.add_option("NODE", options.node, "GUID, port GUID, LID, or a name that one node only has")
        ->check(not_empty)
        ->required();
  } else if (name == "links") {
    command.add_option("NODE", options.node, "only those of this node: GUID, port GUID, LID or name")
        ->check(not_empty);
    add_filter_options(command, options, "only cables with such a node at an end",
                       "only cables in this state");
    command.add_flag("--degraded", options.degraded, "only those that run at less than both ends can");
  } else if (name == "switches") {
    command.add_option("--match", options.match, "only switches whose names have this pattern, as \"leaf*\"")
        ->type_name("PATTERN");
    command.add_option("--level", options.level, "only switches so many links above the leaves, which are 0")
        ->type_name("N")
        ->check(CLI::Range(0U, 255U));
  } else if (name == "groups") {
    add_pkey_option(command, options);
  } else if (name == "services") {
    command.add_option("NODE", options.node, "only those at this node: GUID, port GUID, LID or name")
        ->check(not_empty);
    command.add_option("--match", options.match, "only services whose names have this pattern")
        ->type_name("PATTERN");
    add_pkey_option(command, options);
  } else if (name == "balance") {
    command.add_option("NODE", options.node, "only this switch, with its ports: GUID, LID or name")
        ->check(not_empty);
  } else if (name == "path") {
    command.add_option("FROM", options.from, "GUID, port GUID, LID, name, or NODE:PORT")
        ->check(not_empty)
        ->required();
    command.add_option("TO", options.to, "the same")->check(not_empty)->required();
    command.add_option("--sl", options.sl, "the path that the SA answers to this SL")
        ->type_name("SL")
        ->check(CLI::Range(0, 15));
    command.add_option("--pkey", options.pkey, "the path that the SA answers to this P_Key")
        ->type_name("P_KEY");
  }
}

namespace {

/// Conversation::Has: of two ends of a path a subnet may have the one.
Conversation::Has part_of(std::string_view name, const Conversation& daemon, const FabricOptions& options) {
  return [name, &daemon, &options](const std::string& subnet, const std::string& error) -> unsigned {
    if (!is_elsewhere(error)) return 2;
    if (name != "path") return 0;
    auto first = options;
    first.to = first.from;
    std::string why;
    const auto found = daemon.find(path_of(subnet, target_of(name, first)), &why);
    return found && !*found && why == error ? 0 : 1;
  };
}

}  // namespace

Done fabric_command(std::string_view name, const Conversation& daemon, const FabricOptions& options,
                    bool as_json, std::ostream& out) {
  const auto& command = command_of(name);
  bool found = false;
  const auto act = [&](const std::string& subnet, bool several) -> Done {
    const auto value = get_of_node(daemon, subnet, target_of(name, options), options.node, as_json, out);
    if (!value) return std::unexpected(with_option(value.error(), kFilterOptions));
    found = true;
    if (!*value) return {};
    if (as_json) {
      out << sm::to_text(**value) << '\n';
      return {};
    }
    if (several) out << fmt::format("subnet {}\n", subnet);
    command.print(out, **value);
    return {};
  };
  const auto done = daemon.each_that_has(act, part_of(name, daemon, options));
  // A node is of one subnet: what the others say of it does not count.
  return found && (command.of_one_subnet || !options.node.empty()) ? Done{} : done;
}

}  // namespace smd::cli
