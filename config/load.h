// SPDX-License-Identifier: Apache-2.0
#pragma once
// smd.toml and --set to Config. Every mistake is found in one go.

#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/error.h"

namespace smd::config {

/// A file's bytes, or why they cannot be had ("No such file or directory").
using FileReader = std::function<std::expected<std::string, std::string>(const std::filesystem::path&)>;

/// The operating system's files.
std::expected<std::string, std::string> read_file(const std::filesystem::path& path);

/// The same of a file that holds a key. It is refused where users other than its owner and root could read
/// it, or anybody but its owner could write it. Its group may read it if that is the group of this process or
/// "smd", and files in $CREDENTIALS_DIRECTORY (systemd's LoadCredential=) are as systemd has made them.
std::expected<std::string, std::string> read_secret_file(const std::filesystem::path& path);

/// What this room cannot know: it is told by who loads.
struct ConfigContext {
  std::vector<std::string> engines;      ///< names that [routing] engines may hold
  std::vector<std::string> log_modules;  ///< names that [log] modules may hold; empty: any
  FileReader read = read_file;           ///< of smd.toml and the files it names
  FileReader read_secret{};              ///< of files that hold a key; empty: `read`
};

/// The defaults, under the file (none: no file), under the overrides ("table.key=value", lists written with
/// commas). Names of files inside the file are relative to its folder. All errors, in the order of the lines.
std::expected<Config, std::vector<ConfigError>> load(const std::optional<std::filesystem::path>& file,
                                                     std::span<const std::string> overrides,
                                                     const ConfigContext& context);

/// The same with the file's text at hand; `file` is its name in errors.
std::expected<Config, std::vector<ConfigError>> load_text(std::string_view text,
                                                          const std::filesystem::path& file,
                                                          std::span<const std::string> overrides,
                                                          const ConfigContext& context);

}  // namespace smd::config
