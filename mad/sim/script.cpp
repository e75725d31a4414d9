// SPDX-License-Identifier: Apache-2.0
// Commands with their times, from a file.
#include <fmt/format.h>

#include <algorithm>

#include "mad/sim/control.h"
#include "mad/sim/words.h"

namespace smd::sim {

std::expected<std::vector<TimedCommand>, std::vector<std::string>> read_script(std::string_view text,
                                                                               std::string_view file) {
  std::vector<TimedCommand> commands;
  std::vector<std::string> errors;
  for (unsigned line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    auto here = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto start = here.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || here[start] == '#') continue;
    here.remove_prefix(start);
    const auto space = std::min(here.find_first_of(" \t"), here.size());
    const auto seconds = number(here.substr(0, space), 1e9);
    if (!seconds || space == here.size()) {
      errors.push_back(fmt::format("{}:{}: {}: SECONDS COMMAND is needed", file, line, here));
      continue;
    }
    commands.push_back(
        {Duration{static_cast<std::int64_t>(*seconds * 1e9)}, std::string(here.substr(space + 1))});
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return commands;
}

}  // namespace smd::sim
