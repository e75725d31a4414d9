// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd diff`: in what two dumps of forwarding tables differ.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "smd/dump/lft_dump.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// One switch that is in both dumps.
struct SwitchDifference {
  Guid guid{};
  std::size_t changed = 0;  ///< entries that lead out of another port
  std::size_t added = 0, removed = 0;
  /// LIDs that leave by the port with the most of them.
  std::size_t most_before = 0, most_after = 0;
  /// Entries that differ.
  std::size_t all() const { return changed + added + removed; }
  friend bool operator==(const SwitchDifference&, const SwitchDifference&) = default;
};

struct LftDifference {
  std::vector<Guid> only_before{}, only_after{};  ///< switches, ascending
  std::vector<SwitchDifference> switches{};       ///< of which an entry differs, ascending
  std::size_t compared = 0;                       ///< switches that are in both
  std::size_t entries = 0;                        ///< of those, with a port in one of the dumps at least
  std::size_t differing() const;                  ///< entries
  /// The dumps have the same switches, with the same entries.
  bool none() const { return only_before.empty() && only_after.empty() && switches.empty(); }
};

/// What has changed from `before` to `after`, by switch GUID and LID. Pure.
LftDifference difference(const sm::LftDump& before, const sm::LftDump& after);

struct DiffOptions {
  std::string before, after;  ///< files, or folders of `smd dump`
  bool json = false;
};

/// The subcommand, which fills in `options`; the caller keeps both.
const CLI::App* add_diff_command(CLI::App& app, DiffOptions& options);

/// The exit status: 0 no difference, 1 one, 2 a file cannot be read.
int diff(const DiffOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
