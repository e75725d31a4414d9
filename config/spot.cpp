// SPDX-License-Identifier: Apache-2.0
#include "config/spot.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::config {

void Spot::wrong(const Value& value, std::string expected, std::string hint) const {
  errors.push_back({.file = file,
                    .line = value.line,
                    .key = key,
                    .found = value.spelled,
                    .expected = std::move(expected),
                    .hint = std::move(hint)});
}

void Spot::refuse(const Value& value, std::string complaint, std::string hint) const {
  errors.push_back({.file = file,
                    .line = value.line,
                    .key = key,
                    .expected = std::move(complaint),
                    .hint = std::move(hint)});
}

void Spot::refuse_in(const Value& table, std::string_view name, std::string complaint) const {
  const auto given = std::ranges::find(table.items, name, &Value::key);
  with_key(fmt::format("{}.{}", key, name))
      .refuse(given != table.items.end() ? *given : table, std::move(complaint));
}

Spot Spot::with_key(std::string other) const {
  return {.file = file,
          .key = std::move(other),
          .folder = folder,
          .context = context,
          .errors = errors,
          .all_was_read = all_was_read};
}

Spot Spot::element(std::size_t index) const { return with_key(fmt::format("{}[{}]", key, index)); }

std::filesystem::path Spot::resolve(const std::string& name) const { return folder / name; }

std::optional<std::string> Spot::contents(const Value& value) const {
  const auto path = resolve(value.text);
  auto bytes = context.read(path);
  if (bytes) return *std::move(bytes);
  refuse(value, fmt::format("cannot read {}: {}", path.string(), bytes.error()));
  return std::nullopt;
}

std::optional<std::string> Spot::secret(const Value& value) const {
  if (!context.read_secret) return contents(value);
  const auto path = resolve(value.text);
  auto bytes = context.read_secret(path);
  if (bytes) return *std::move(bytes);
  wrong(value, fmt::format("a file that only its owner and the group smd can read; {}: {}", path.string(),
                           bytes.error()));
  return std::nullopt;
}

}  // namespace smd::config
