// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which lines are written.

#include <map>
#include <optional>
#include <string>

#include "config/config.h"
#include "mad/base/id.h"
#include "smd/log/record.h"

namespace smd::log {

/// A module or GUID that is named has its own level, finer or coarser than `level`; of several that a line
/// is about the finest counts.
struct Filter {
  Level level = Level::info;
  std::map<std::string, Level, std::less<>> modules{};
  std::map<Guid, Level> guids{};

  /// Whether the record is to be written by its level; `always` does not count.
  bool passes(const Record& record) const;
  /// The finest level of all.
  Level widest() const;
  friend bool operator==(const Filter&, const Filter&) = default;
};

/// What [log] says: the modules and GUIDs that it names have all their lines written.
Filter filter_of(const config::LogConfig& config);

}  // namespace smd::log
