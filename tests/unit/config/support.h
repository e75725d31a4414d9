// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration from text, with files that exist only here.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"

namespace smd::config {

inline ConfigContext context_with(std::map<std::string, std::string> files = {}) {
  ConfigContext context;
  context.engines = {"auto", "dfsssp", "dmodc", "dor", "file", "minhop", "updn"};
  context.layered_engines = {"dfsssp"};
  context.rooted_engines = {"dmodc", "ftree", "updn"};
  context.spreading_engines = {"dmodc", "ftree", "updn", "dnup", "minhop"};
  context.log_modules = {"mad", "port", "sweep"};
  context.read = [files = std::move(files)](
                     const std::filesystem::path& path) -> std::expected<std::string, std::string> {
    const auto at = files.find(path.string());
    if (at == files.end()) return std::unexpected("No such file or directory");
    return at->second;
  };
  return context;
}

/// The errors of a text, as they are printed.
inline std::vector<std::string> errors_of(std::string_view text,
                                          const std::vector<std::string>& overrides = {},
                                          std::map<std::string, std::string> files = {}) {
  std::vector<std::string> lines;
  const auto config = load_text(text, "smd.toml", overrides, context_with(std::move(files)));
  if (config) return lines;
  for (const auto& error : config.error()) lines.push_back(to_string(error));
  return lines;
}

}  // namespace smd::config
