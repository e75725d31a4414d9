// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/configuration.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>

#include "routing/chain/chain.h"
#include "routing/engines/engine.h"
#include "smd/dump/lft_dump.h"
#include "smd/log/modules.h"

namespace smd::daemon {
namespace {

std::expected<void, Failure> load_tables(config::RoutingConfig& routing) {
  if (routing.tables_file.empty()) return {};
  auto dump = sm::load_lfts(routing.tables_file);
  if (!dump) return std::unexpected(Failure{2, base::to_string(dump.error())});
  routing.loaded_tables = std::make_shared<const routing::Tables>(std::move(dump->rows));
  return {};
}

std::expected<config::Config, Failure> with_tables(config::Config loaded) {
  if (auto done = load_tables(loaded.base.routing); !done) return std::unexpected(done.error());
  for (auto& subnet : loaded.subnets) {
    if (auto done = load_tables(subnet.routing); !done) return std::unexpected(done.error());
  }
  return loaded;
}

}  // namespace

config::ConfigContext configuration_context() {
  config::ConfigContext context;
  context.engines.emplace_back(routing::kAuto);
  for (const auto& engine : routing::all_engines()) {
    context.engines.emplace_back(engine.name);
    if (engine.layered) context.layered_engines.emplace_back(engine.name);
    if (engine.uses_roots) context.rooted_engines.emplace_back(engine.name);
    if (engine.spreads_roles) context.spreading_engines.emplace_back(engine.name);
  }
  for (const auto module : log::kModules) context.log_modules.emplace_back(module);
  return context;
}

std::expected<config::Config, Failure> load_configuration(const std::string& file,
                                                          std::span<const std::string> overrides,
                                                          bool may_refuse_policy) {
  auto context = configuration_context();
  context.may_refuse_policy = may_refuse_policy;
  context.read_secret = config::read_secret_file;
  std::optional<std::filesystem::path> path;
  if (!file.empty()) path = file;
  auto loaded = config::load(path, overrides, context);
  if (loaded) return with_tables(std::move(*loaded));
  std::string text;
  for (const auto& error : loaded.error()) {
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "\n", config::to_string(error));
  }
  return std::unexpected(Failure{2, std::move(text)});
}

std::string configuration_file(const std::string& given) {
  constexpr auto kDefault = "/etc/smd/smd.toml";
  std::error_code ignored;
  if (!given.empty()) return given;
  return std::filesystem::exists(kDefault, ignored) ? kDefault : "";
}

}  // namespace smd::daemon
