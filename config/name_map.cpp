// SPDX-License-Identifier: Apache-2.0
#include "config/name_map.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "config/lines.h"
#include "config/scalars.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

struct Named {
  Guid guid;
  std::string_view name;
};

/// `0xguid "name"`, maybe with a comment behind it. Names hold no escapes.
std::optional<Named> parse_line(std::string_view line) {
  const auto open = line.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  const auto close = line.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto rest = trim(line.substr(close + 1));
  const auto guid = parse_guid(trim(line.substr(0, open)));
  if (!guid || (!rest.empty() && !rest.starts_with('#'))) return std::nullopt;
  return Named{.guid = *guid, .name = line.substr(open + 1, close - open - 1)};
}

}  // namespace

std::expected<std::map<Guid, std::string>, std::vector<ConfigError>> read_name_map(std::string_view text,
                                                                                   const std::string& file) {
  std::map<Guid, std::string> names;
  std::map<Guid, unsigned> lines;
  std::vector<ConfigError> errors;
  for (const auto& [number, line] : numbered_lines(text)) {
    if (line.starts_with('#')) continue;
    const auto named = parse_line(line);
    if (!named || named->name.empty()) {
      errors.push_back({.file = file,
                        .line = number,
                        .found = printable(line),
                        .expected = "a GUID and a name, as in 0x0002c90300001234 \"leaf 1\""});
      continue;
    }
    const auto [at, fresh] = names.emplace(named->guid, named->name);
    if (fresh) lines[named->guid] = number;
    if (fresh || at->second == named->name) continue;
    errors.push_back({.file = file,
                      .line = number,
                      .found = printable(line),
                      .expected = fmt::format("one name for a GUID; line {} calls it \"{}\"",
                                              lines[named->guid], printable(at->second))});
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return names;
}

}  // namespace smd::config
