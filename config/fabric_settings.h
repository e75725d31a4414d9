// SPDX-License-Identifier: Apache-2.0
#pragma once
// What [lids], [links], [multicast], [routing] and the tables of [qos] say of a fabric, as text: a standby
// goes on with the master's.

#include <expected>
#include <functional>
#include <map>
#include <string>

#include "config/config.h"
#include "config/load.h"

namespace smd::config {

struct FabricSettings {
  /// TOML values by path ("lids.lmc"), lists in place of the files that hold them. Without what is of one
  /// machine: threads, names of files, `reassign` and `import_guid2lid`; and without the QoS policy.
  std::map<std::string, std::string, std::less<>> values;
  std::string torus{};  ///< what [routing] torus_file holds; empty: no file
  friend bool operator==(const FabricSettings&, const FabricSettings&) = default;
};

/// The settings of one configuration, read from it by the keys of the schema. Pure.
FabricSettings fabric_settings(const SubnetConfig& config);

/// Puts them in force in `into`. Keys that this version does not have are left out. `context`: the engines.
/// The error is the first one; then nothing is changed.
std::expected<void, std::string> restore_fabric_settings(const FabricSettings& settings,
                                                         const ConfigContext& context, SubnetConfig& into);

/// The tables of [qos] and [[qos.ports]] alone, whose groups are those of `into`. Of an older version there
/// are none: nothing is changed.
std::expected<void, std::string> restore_qos_tables(const FabricSettings& settings,
                                                    const ConfigContext& context, SubnetConfig& into);

}  // namespace smd::config
