// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/port_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/cli/words.h"
#include "smd/report/json.h"

namespace smd::cli {
namespace {

namespace json = boost::json;

void print_order(std::ostream& out, const json::value& order) {
  const bool dry = member_of(order, "dry_run") == json::value(true);
  const bool changed = member_of(order, "changed") == json::value(true);
  const auto action = text_of(order, "action");
  out << fmt::format("{}: {}{}", end_text(member_of(order, "port")), action, dry ? " (dry run)" : "");
  if (!changed) out << ": it is so already";
  if (member_of(order, "at") != member_of(order, "port"))
    out << fmt::format(", at {}", end_text(member_of(order, "at")));
  out << '\n';
  if (const auto confirm = text_of(order, "confirm"); !confirm.empty()) {
    out << fmt::format("  cuts off {}:\n", counted(text_of(order, "cut_off_count"), "node"));
    for (const auto& node : list_of(order, "cut_off"))
      out << fmt::format("    {} {}\n", text_of(node, "guid"), text_of(node, "name"));
    if (action == "disable" && dry) out << fmt::format("  to do it: --confirm {}\n", confirm);
  }
}

}  // namespace

void add_port_options(CLI::App& command, PortOptions& options) {
  command
      .add_option("ACTION", options.action,
                  "disable: no link until it is enabled; enable; reset: trains anew")
      ->required()
      ->check(CLI::IsMember({"disable", "enable", "reset"}));
  command
      .add_option("PORT", options.port,
                  "NODE:PORT, where NODE is a GUID, port GUID, LID or name; either end will do")
      ->required()
      ->check([](const std::string& text) {
        const auto colon = text.rfind(':');
        const bool good = colon != std::string::npos && colon != 0 && colon + 1 < text.size();
        return good ? std::string() : fmt::format("{}: not NODE:PORT", text);
      });
  command.add_flag("--dry-run", options.dry_run, "says what would be cut off, and changes nothing");
  command.add_option("--confirm", options.confirm, "what the dry run says, where nodes are cut off")
      ->type_name("TEXT");
}

namespace {

/// The subnet that has this port: LIDs and names may be those of several.
std::expected<std::string, std::string> subnet_with(const Conversation& daemon, const PortOptions& options,
                                                    std::string_view path) {
  auto names = daemon.subnets();
  if (!names) return std::unexpected(std::move(names.error()));
  if (names->size() == 1) return std::move(names->front());
  std::vector<std::string> with;
  std::vector<SubnetError> failed;
  for (const auto& name : *names) {
    const auto order = daemon.call("POST", path_of(name, path), R"({"dry_run": true})");
    if (order) with.push_back(name);
    if (!order)
      failed.push_back({.subnet = name, .text = order.error(), .has = is_elsewhere(order.error()) ? 0U : 1U});
  }
  if (with.size() == 1) return std::move(with.front());
  if (with.empty()) return std::unexpected(joined(failed));
  return std::unexpected(fmt::format("{} is in several subnets ({}): name one with --subnet", options.port,
                                     fmt::join(with, ", ")));
}

}  // namespace

Done port_command(const Conversation& daemon, const PortOptions& options, bool as_json, std::ostream& out) {
  const auto colon = options.port.rfind(':');
  const auto path = fmt::format("ports/{}/{}/{}", api::percent_encoded(options.port.substr(0, colon)),
                                api::percent_encoded(options.port.substr(colon + 1)), options.action);
  json::object body{{"dry_run", options.dry_run}};
  if (!options.confirm.empty()) body["confirm"] = options.confirm;
  const auto subnet = subnet_with(daemon, options, path);
  if (!subnet) return std::unexpected(subnet.error());
  std::string code;
  const auto order = daemon.call("POST", path_of(*subnet, path), json::serialize(body), &code);
  if (!order && code == "needs_confirmation")
    return std::unexpected(fmt::format("{}: smd port {} {} --dry-run, then --confirm TEXT", order.error(),
                                       options.action, options.port));
  if (!order) return std::unexpected(order.error());
  if (as_json) {
    out << sm::to_text(*order) << '\n';
  } else {
    print_order(out, *order);
  }
  return {};
}

}  // namespace smd::cli
