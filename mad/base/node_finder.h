// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node that a user means: by name, GUID or id.

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/fabric.h"

namespace smd::base {

/// Refers to the fabric's strings: must not outlive it, nor see it changed.
class NodeFinder {
 public:
  /// Indexes names, ids and GUIDs once; of several nodes with one name the first is found.
  explicit NodeFinder(const Fabric& fabric);

  /// Name first, then id, then GUID (parse_guid). The error says what is wrong: no node has it, or several.
  std::expected<NodeIndex, std::string> find(std::string_view name_or_guid) const;

 private:
  const Fabric& fabric_;
  std::multimap<std::string_view, NodeIndex> names_, ids_;
  std::multimap<Guid, NodeIndex> guids_;
};

}  // namespace smd::base
