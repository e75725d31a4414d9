// SPDX-License-Identifier: Apache-2.0
#include "config/guid_list.h"

#include <set>
#include <utility>

#include "config/lines.h"
#include "config/scalars.h"
#include "config/toml_reader.h"

namespace smd::config {

std::expected<std::vector<Guid>, std::vector<ConfigError>> read_guid_list(std::string_view text,
                                                                          const std::string& file) {
  std::vector<Guid> guids;
  std::set<Guid> seen;
  std::vector<ConfigError> errors;
  for (const auto& [number, line] : lines_without_comments(text)) {
    const auto guid = parse_guid(line);
    if (!guid) {
      errors.push_back(
          {.file = file, .line = number, .found = printable(line), .expected = std::string(kGuidForm)});
    } else if (seen.insert(*guid).second) {
      guids.push_back(*guid);
    }
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return guids;
}

}  // namespace smd::config
