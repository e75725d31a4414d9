// SPDX-License-Identifier: Apache-2.0
#include "config/fabric_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "config/partition_sources.h"
#include "config/scalars.h"
#include "config/schema.h"
#include "mad/base/error_list.h"
#include "mad/base/torus_conf.h"

namespace smd::config {
namespace {

constexpr std::array<std::string_view, 5> kFabricTables{"lids", "links", "multicast", "routing", "qos"};
/// Of one machine, said once by an operator, or of the QoS policy.
constexpr std::array<std::string_view, 7> kOwnKeys{
    "lids.reassign",      "lids.import_guid2lid", "routing.threads", "routing.tables_file",
    "routing.torus_file", "qos.policy_file",      "qos.preset"};
constexpr const char* kOfMaster = "the master's";
constexpr std::string_view kQosPorts = "qos.ports", kQosEnabled = "qos.enabled";

struct GuidsOfFile {
  std::vector<Guid> RoutingConfig::* guids;
  std::string RoutingConfig::* file;
};
constexpr std::array kGuidLists{
    GuidsOfFile{&RoutingConfig::root_guids, &RoutingConfig::root_guids_file},
    GuidsOfFile{&RoutingConfig::compute_nodes, &RoutingConfig::compute_nodes_file},
    GuidsOfFile{&RoutingConfig::io_nodes, &RoutingConfig::io_nodes_file},
};

bool is_shared(const Key& key) {
  return (!key.is_array() || key.path() == kQosPorts) &&
         std::ranges::find(kFabricTables, key.table) != kFabricTables.end() &&
         std::ranges::find(kOwnKeys, key.path()) == kOwnKeys.end();
}

/// [[group]] blocks with those of the configuration, which [[qos.ports]] refers to.
std::string groups_of(const SubnetConfig& config) {
  std::string text;
  for (const auto& [name, ports] : partition_sources(config).groups) {
    std::string members;
    for (const auto& term : ports.terms)
      members += (members.empty() ? "" : ", ") + toml_quoted(to_string(term));
    text += fmt::format("[[group]]\nname = {}\nmembers = [{}]\n", toml_quoted(name), members);
  }
  return text;
}

/// The blocks of a list on one line, each with its braces. Texts in quotes may have braces, too.
std::vector<std::string_view> inline_blocks(std::string_view list) {
  std::vector<std::string_view> found;
  std::size_t begin = 0, depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '{') {
      if (depth == 0) begin = i;
      ++depth;
    } else if (!quoted && c == '}' && depth != 0) {
      --depth;
      if (depth == 0) found.push_back(list.substr(begin, i + 1 - begin));
    }
  }
  return found;
}

/// An earlier smd took [[qos.ports]] blocks without a port, which are for no port: a file that has them is
/// refused now, a kept policy is not.
std::string without_blocks_of_no_port(std::string_view blocks) {
  std::string kept;
  for (const auto block : inline_blocks(blocks)) {
    if (!block.starts_with("{ports = []")) kept += fmt::format("{}{}", kept.empty() ? "" : ", ", block);
  }
  return fmt::format("[{}]", kept);
}

/// A file of the tables, with `own` for what is not shared and checks look at.
std::string toml_of(const FabricSettings& settings, const RoutingConfig& own,
                    std::span<const std::string_view> tables) {
  std::string text;
  for (const auto table : tables) {
    text += fmt::format("[{}]\n", table);
    for (const auto& key : product_schema().keys) {
      const auto at = settings.values.find(key.path());
      if (key.table == table && is_shared(key) && at != settings.values.end())
        text += fmt::format("{} = {}\n", key.name,
                            key.path() == kQosPorts ? without_blocks_of_no_port(at->second) : at->second);
    }
    const auto engines = settings.values.find("routing.engines");
    const bool reads_tables =
        engines != settings.values.end() && engines->second.find("\"file\"") != std::string::npos;
    if (table == "routing" && reads_tables && !own.tables_file.empty())
      text += fmt::format("tables_file = {}\n", toml_quoted(own.tables_file));
  }
  return text;
}

/// Names of files stay where their GUIDs are the same.
void take_routing(RoutingConfig routing, std::optional<base::TorusConf> torus, RoutingConfig& into) {
  for (const auto& list : kGuidLists) {
    if (routing.*list.guids == into.*list.guids) routing.*list.file = into.*list.file;
  }
  routing.tables_file = into.tables_file;
  routing.loaded_tables = into.loaded_tables;
  routing.threads = into.threads;
  routing.torus_file = torus == into.torus ? into.torus_file : torus ? kOfMaster : "";
  routing.torus = std::move(torus);
  into = std::move(routing);
}

/// The policy stays as it is.
void take_qos_tables(QosConfig from, QosConfig& into) {
  into.enabled = from.enabled;
  into.optimized_sl2vl = from.optimized_sl2vl;
  into.sm_sl = from.sm_sl;
  into.all = std::move(from.all);
  into.classes = std::move(from.classes);
  into.ports = std::move(from.ports);
}

}  // namespace

FabricSettings fabric_settings(const SubnetConfig& config) {
  FabricSettings found;
  Settings settings{.subnet = config};
  for (const auto& list : kGuidLists) (settings.subnet.routing.*list.file).clear();
  for (const auto& key : product_schema().keys) {
    if (is_shared(key)) found.values.emplace(key.path(), key.show(settings));
  }
  if (config.routing.torus) found.torus = base::torus_conf_text(*config.routing.torus);
  return found;
}

std::expected<void, std::string> restore_fabric_settings(const FabricSettings& settings,
                                                         const ConfigContext& context, SubnetConfig& into) {
  std::optional<base::TorusConf> torus;
  if (!settings.torus.empty()) {
    auto read = base::read_torus_conf(settings.torus, kOfMaster);
    if (!read) return std::unexpected(base::to_string(read.error()));
    torus = *std::move(read);
  }
  const auto loaded =
      load_text(toml_of(settings, into.routing, kFabricTables) + groups_of(into), kOfMaster, {}, context);
  if (!loaded) return std::unexpected(to_string(loaded.error().front()));
  const auto& taken = loaded->base;
  if (settings.values.contains(kQosEnabled)) take_qos_tables(taken.qos, into.qos);
  auto lids = taken.lids;
  lids.reassign = into.lids.reassign;
  lids.import_guid2lid = into.lids.import_guid2lid;
  into.lids = std::move(lids);
  into.links = taken.links;
  into.multicast = taken.multicast;
  take_routing(taken.routing, std::move(torus), into.routing);
  return {};
}

std::expected<void, std::string> restore_qos_tables(const FabricSettings& settings,
                                                    const ConfigContext& context, SubnetConfig& into) {
  if (!settings.values.contains(kQosEnabled)) return {};
  const std::array tables{std::string_view("qos")};
  const auto loaded =
      load_text(toml_of(settings, into.routing, tables) + groups_of(into), "accepted", {}, context);
  if (!loaded) return std::unexpected(to_string(loaded.error().front()));
  take_qos_tables(loaded->base.qos, into.qos);
  return {};
}

}  // namespace smd::config
