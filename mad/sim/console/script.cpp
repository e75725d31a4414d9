// SPDX-License-Identifier: Apache-2.0
// Commands with their times, from a file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mad/sim/console/control.h"
#include "mad/sim/state/words.h"

namespace smd::sim {
namespace {

constexpr double kLatest = 1e9;  // seconds

/// A line that says something, as a command, or what is wrong with it.
std::expected<TimedCommand, std::string> parse(std::string_view text, unsigned line) {
  const auto end = std::min(text.find_first_of(" \t\r"), text.size());
  const auto seconds = number(text.substr(0, end), kLatest);
  if (!seconds)
    return std::unexpected(
        fmt::format("found time {}, allowed 0 to {:.0f} seconds", quoted(text.substr(0, end)), kLatest));
  const auto start = std::min(text.find_first_not_of(" \t\r", end), text.size());
  if (start == text.size())
    return std::unexpected(std::string("found a time without a command, allowed SECONDS COMMAND"));
  text.remove_prefix(start);
  text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
  return TimedCommand{
      .at = Duration{static_cast<std::int64_t>(*seconds * 1e9)}, .line = line, .command = std::string(text)};
}

}  // namespace

std::expected<std::vector<TimedCommand>, std::vector<std::string>> read_script(std::string_view text,
                                                                               std::string_view file,
                                                                               Fabric& rehearsal) {
  std::vector<TimedCommand> commands;
  std::map<unsigned, std::string> wrong;
  for (unsigned line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    auto here = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto start = here.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || here[start] == '#') continue;
    here.remove_prefix(start);
    if (auto command = parse(here, line)) {
      commands.push_back(*std::move(command));
    } else {
      wrong.emplace(line, std::move(command.error()));
    }
  }
  std::ranges::sort(commands, {}, [](const TimedCommand& each) { return std::pair(each.at, each.line); });
  for (const auto& each : commands) {
    if (auto done = control(rehearsal, each.command); !done) wrong.emplace(each.line, done.error());
  }
  if (wrong.empty()) return commands;
  std::vector<std::string> errors;
  for (const auto& [line, what] : wrong) errors.push_back(fmt::format("{}:{}: {}", file, line, what));
  return std::unexpected(std::move(errors));
}

}  // namespace smd::sim
