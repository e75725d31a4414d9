// SPDX-License-Identifier: Apache-2.0
#include "config/fabric_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "config/scalars.h"
#include "config/schema.h"
#include "mad/base/error_list.h"
#include "mad/base/torus_conf.h"

namespace smd::config {
namespace {

constexpr std::array<std::string_view, 4> kFabricTables{"lids", "links", "multicast", "routing"};
/// Of one machine, or said once by an operator.
constexpr std::array<std::string_view, 5> kOwnKeys{"lids.reassign", "lids.import_guid2lid", "routing.threads",
                                                   "routing.tables_file", "routing.torus_file"};
constexpr const char* kOfMaster = "the master's";

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
  return !key.is_array() && std::ranges::find(kFabricTables, key.table) != kFabricTables.end() &&
         std::ranges::find(kOwnKeys, key.path()) == kOwnKeys.end();
}

/// A file of the tables, with `own` for what is not shared and checks look at.
std::string toml_of(const FabricSettings& settings, const RoutingConfig& own) {
  std::string text;
  for (const auto table : kFabricTables) {
    text += fmt::format("[{}]\n", table);
    for (const auto& key : product_schema().keys) {
      const auto at = settings.values.find(key.path());
      if (key.table == table && is_shared(key) && at != settings.values.end())
        text += fmt::format("{} = {}\n", key.name, at->second);
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
  const auto loaded = load_text(toml_of(settings, into.routing), kOfMaster, {}, context);
  if (!loaded) return std::unexpected(to_string(loaded.error().front()));
  const auto& taken = loaded->base;
  auto lids = taken.lids;
  lids.reassign = into.lids.reassign;
  lids.import_guid2lid = into.lids.import_guid2lid;
  into.lids = std::move(lids);
  into.links = taken.links;
  into.multicast = taken.multicast;
  take_routing(taken.routing, std::move(torus), into.routing);
  return {};
}

}  // namespace smd::config
