// SPDX-License-Identifier: Apache-2.0
#pragma once
// What [lids], [links], [multicast] and [routing] say of a fabric, as text: a standby goes on with the
// master's.

#include <expected>
#include <map>
#include <string>

#include "config/config.h"
#include "config/load.h"

namespace smd::config {

struct FabricSettings {
  /// TOML values by path ("lids.lmc"), lists in place of the files that hold them. Without what is of one
  /// machine: threads, names of files, `reassign` and `import_guid2lid`.
  std::map<std::string, std::string> values;
  std::string torus{};  ///< what [routing] torus_file holds; empty: no file
  friend bool operator==(const FabricSettings&, const FabricSettings&) = default;
};

FabricSettings fabric_settings(const SubnetConfig& config);

/// Puts them in force in `into`. Keys that this version does not have are left out. `context`: the engines.
/// The error is the first one; then nothing is changed.
std::expected<void, std::string> restore_fabric_settings(const FabricSettings& settings,
                                                         const ConfigContext& context, SubnetConfig& into);

}  // namespace smd::config
