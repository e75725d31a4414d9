// SPDX-License-Identifier: Apache-2.0
#pragma once
// Faults and changes as lines of text: what `smd sim ctl` and its scripts say (docs/simulator.md).

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "mad/sim/fabric/fabric.h"

namespace smd::sim {

/// Carries out one command; the answer is what there is to print, often nothing. An error is one sentence
/// that names what was found and what is allowed. Names with spaces stand in double quotes.
std::expected<std::string, std::string> control(Fabric& fabric, std::string_view command);

struct TimedCommand {
  Duration at{0};
  unsigned line = 0;  ///< of the file
  std::string command;
};
/// Lines `SECONDS COMMAND`, ascending by time; empty lines and those that start with # are skipped. The
/// commands are carried out on `rehearsal`, a fabric of its own as the one that they are for, so that a wrong
/// one is known before anything begins: a name may be given, or a cable moved, by a line before. Errors:
/// "file:line: found …, allowed …", all at once.
std::expected<std::vector<TimedCommand>, std::vector<std::string>> read_script(std::string_view text,
                                                                               std::string_view file,
                                                                               Fabric& rehearsal);

}  // namespace smd::sim
