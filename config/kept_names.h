// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "config/partition_definition.h"

namespace smd::config {

/// The words by which the number of a partition without a P_Key is kept. Several may have one name, or none:
/// of the two files, and in OpenSM's, which merges by short names alone. Those of one file are told apart by
/// their order: ask for them in the order in which they are merged.
class KeptNames {
 public:
  std::string next(PolicyOrigin origin, std::string_view name) {
    auto kept = origin == PolicyOrigin::toml ? of_toml(name) : std::string(name);
    const auto place = ++seen_[kept];
    return place == 1 ? kept : fmt::format("{}\n{}", kept, place);
  }
  /// No name has a line end.
  static std::string of_toml(std::string_view name) { return fmt::format("{}\nsmd.toml", name); }

 private:
  std::map<std::string, unsigned> seen_{};
};

}  // namespace smd::config
