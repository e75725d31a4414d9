// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/configuration.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "config/load.h"
#include "routing/engine.h"
#include "smd/log/modules.h"

namespace smd::cli {

std::expected<config::Config, Failure> load_configuration(const std::string& file,
                                                          std::span<const std::string> overrides) {
  config::ConfigContext context;
  for (const auto& engine : routing::kEngines) context.engines.emplace_back(engine.name);
  for (const auto module : log::kModules) context.log_modules.emplace_back(module);
  std::optional<std::filesystem::path> path;
  if (!file.empty()) path = file;
  auto loaded = config::load(path, overrides, context);
  if (loaded) return std::move(*loaded);
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

}  // namespace smd::cli
