// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd route` found out about a fabric and its tables.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "routing/cabling/health.h"
#include "routing/quality/levels.h"
#include "routing/quality/quality.h"
#include "routing/verify/report.h"

namespace smd::sm::inline reports {

/// Milliseconds of the phases; nothing where a phase was not run.
struct RouteTimes {
  std::optional<double> load, topology, route, verify, quality, dump;
};

/// Of each phase the smallest, and the middle one (of an even number the lower).
RouteTimes minimum(const std::vector<RouteTimes>& passes);
RouteTimes median(const std::vector<RouteTimes>& passes);  ///< see minimum()

struct ChangedEntries {
  std::uint64_t lft_entries = 0, lft_blocks = 0;
};

/// One direction of a cable, by name.
struct NamedLink {
  struct End {
    Guid guid;
    std::string name;
    PortNum port;
  };
  End from, to;
  std::uint64_t paths = 0;
};

struct RouteReport {
  std::string fabric;  ///< as the operator named it
  std::uint64_t switches = 0, hosts = 0, lids = 0, links = 0;
  unsigned threads = 1;
  std::string engine;                       ///< "lfts" where tables were read instead of computed
  std::vector<std::string> fell_back_from;  ///< "ftree: not a tree: …"
  std::string shape, why;                   ///< of "auto": the fabric, and the reason for the engine
  RouteTimes ms;
  std::optional<RouteTimes> ms_median;  ///< with --repeat
  double memset_ms = 0;
  std::uint64_t peak_rss_kb = 0;
  routing::Verification verify;
  std::string faults;   ///< with examples, as routing::describe gives it; for the text
  std::string no_path;  ///< of aggregation nodes, as routing::describe_left_out gives it
  std::optional<routing::Quality> quality;
  std::vector<NamedLink> hottest;           ///< with quality
  std::vector<routing::LevelWidth> levels;  ///< with quality, of trees: in Gb/s
  std::optional<routing::Health> health;    ///< without findings that are accepted
  std::size_t accepted = 0;                 ///< findings that are
  std::optional<ChangedEntries> changed;    ///< with --without: against the complete fabric
  bool left_out = false;                    ///< nodes or ports are not in service: no LID, or a GUID twice
  std::vector<std::string> notes;           ///< what the files do not fit in; for JSON
};

/// One JSON object on one line.
std::string to_json(const RouteReport& report);
/// A screen for humans; ends with a newline.
std::string to_text(const RouteReport& report);

}  // namespace smd::sm::inline reports
