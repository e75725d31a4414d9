// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "config/loader.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

/// The file's errors by line, then those of files that it names and of overrides, as they were found.
std::vector<ConfigError> sorted(std::vector<ConfigError> errors, const std::string& file) {
  std::vector<ConfigError> own;
  std::vector<ConfigError> others;
  for (auto& error : errors) (error.file == file ? own : others).push_back(std::move(error));
  std::ranges::sort(own, {},
                    [](const auto& error) { return std::tie(error.line, error.key, error.expected); });
  own.insert(own.end(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
  return own;
}

}  // namespace

std::expected<Config, std::vector<ConfigError>> load_text(std::string_view text,
                                                          const std::filesystem::path& file,
                                                          std::span<const std::string> overrides,
                                                          const ConfigContext& context,
                                                          const Schema& schema) {
  Loader loader(file, context, schema);
  auto document = read_toml(text, file.string());
  loader.read_document(document.root, document.errors.empty());
  for (const auto& override_text : overrides) loader.read_override(override_text);
  loader.check_whole();
  auto errors = loader.take_errors(context.may_refuse_policy && document.errors.empty());
  errors.insert(errors.begin(), document.errors.begin(), document.errors.end());
  if (errors.empty()) return loader.take();
  return std::unexpected(sorted(std::move(errors), file.string()));
}

std::expected<Config, std::vector<ConfigError>> load(const std::optional<std::filesystem::path>& file,
                                                     std::span<const std::string> overrides,
                                                     const ConfigContext& context) {
  if (!file) return load_text("", "", overrides, context);
  const auto bytes = context.read(*file);
  if (bytes) return load_text(*bytes, *file, overrides, context);
  return std::unexpected(std::vector<ConfigError>{{.file = file->string(), .expected = bytes.error()}});
}

}  // namespace smd::config
