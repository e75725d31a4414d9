// SPDX-License-Identifier: Apache-2.0
#pragma once
// smd.toml and --set to Config. One load finds all errors.

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

struct Schema;
/// The product's schema (config/schema.h); tests have others.
const Schema& product_schema();

/// A file's bytes, or the reason why it cannot be read ("No such file or directory").
using FileReader = std::function<std::expected<std::string, std::string>(const std::filesystem::path&)>;

/// All bytes of a file, or the operating system's reason.
std::expected<std::string, std::string> read_file(const std::filesystem::path& path);

/// Reads a file that holds a key. Refuses a file that users other than its owner and root can read, or that
/// its group can write. Its group may read it if it is the group of this process or "smd". Files in
/// $CREDENTIALS_DIRECTORY (systemd's LoadCredential=) are not checked.
std::expected<std::string, std::string> read_secret_file(const std::filesystem::path& path);

/// What the loader takes from other modules.
struct ConfigContext {
  std::vector<std::string> engines;              ///< names that [routing] engines may hold
  std::vector<std::string> layered_engines{};    ///< those of them that need routing.path_sl = "asked"
  std::vector<std::string> rooted_engines{};     ///< those that use routing.root_guids
  std::vector<std::string> spreading_engines{};  ///< those that use routing.compute_nodes and io_nodes
  std::vector<std::string> log_modules;          ///< names that [log] modules may hold; empty: any
  FileReader read = read_file;                   ///< of smd.toml and the files it names
  FileReader read_secret{};                      ///< of files that hold a key; empty: `read`
  /// A wrong policy in files (partitions and groups) is no error: see PartitionsConfig::refused.
  bool may_refuse_policy = false;
};

/// Loads the defaults, then the file (if there is one), then the overrides ("table.key=value", lists with
/// commas); later values replace earlier ones. File names inside the file are relative to its folder. Returns
/// all errors, in the order of the lines.
std::expected<Config, std::vector<ConfigError>> load(const std::optional<std::filesystem::path>& file,
                                                     std::span<const std::string> overrides,
                                                     const ConfigContext& context);

/// As `load`, from the text of the file; `file` is its name in errors.
std::expected<Config, std::vector<ConfigError>> load_text(std::string_view text,
                                                          const std::filesystem::path& file,
                                                          std::span<const std::string> overrides,
                                                          const ConfigContext& context,
                                                          const Schema& schema = product_schema());

}  // namespace smd::config
