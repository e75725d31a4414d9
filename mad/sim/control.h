// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults and changes as lines of text: what `smd sim ctl` and its scripts say (docs/simulator.md).

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "mad/sim/fabric.h"

namespace smd::sim {

/// Carries out one command; the answer is what there is to print, often nothing. An error is one sentence
/// that names what was found and what is allowed. Names with spaces stand in double quotes.
std::expected<std::string, std::string> control(Fabric& fabric, std::string_view command);

struct TimedCommand {
  Duration at{0};
  std::string command;
};
/// Lines `SECONDS COMMAND`; empty lines and those that start with # are skipped. Errors: "file:line: …", all
/// at once. The commands are not looked at before their time.
std::expected<std::vector<TimedCommand>, std::vector<std::string>> read_script(std::string_view text,
                                                                               std::string_view file);

}  // namespace smd::sim
