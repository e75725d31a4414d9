// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came and went, one log line each: links by both ends, nodes by the port that leads to them. Of many at
// once those of one switch are one line, and what is too much is counted.

#include <string>
#include <string_view>
#include <vector>

#include "smd/inventory/flaps.h"
#include "smd/inventory/update.h"
#include "smd/log/log.h"

namespace smd::sm::inline reports {

struct ChangeContext {
  const Inventory& known;  ///< with what is gone
  const Subnet* before;    ///< null: not known
  const Subnet& now;
  std::string_view cause;  ///< what the sweep was asked for by
  UnixTime time = 0;
};

/// link.down, link.up, link.degraded, node.gone, node.new, node.rebooted.
void log_changes(const log::Log& log, const Changes& changes, const ChangeContext& context);

/// Logs link.flapping, a line for each link.
void log_flapping(const log::Log& log, const std::vector<Flapping>& links, const Inventory& known);

/// The most severe of the changes in words: `link.down "leaf000" port 5, and 2 more`; empty where there is
/// none.
std::string summary_of(const Changes& changes, const Inventory& known);

/// "12d 3h", "3h 12m", "5m 10s", "42s": the two largest units.
std::string duration_text(UnixTime seconds);

/// Names with commas between them, as many as fit a line: "h00001,h00002 and 30 more".
std::string names_text(const std::vector<Guid>& nodes, const Inventory& known);

}  // namespace smd::sm::inline reports
