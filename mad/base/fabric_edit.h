// SPDX-License-Identifier: Apache-2.0
#pragma once
// Taking nodes and links away from a fabric: the file of `--without`.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/base/file_error.h"

namespace smd::base {

struct Removals {
  std::vector<NodeIndex> nodes;
  std::vector<Peer> links;  ///< one end of each link, either one; naming both is the same
  friend bool operator==(const Removals&, const Removals&) = default;
};

/// Lines `node NODE` and `link NODE PORT`, empty lines and comments. NODE is what NodeFinder takes; names
/// with " #" in them stand in double quotes. All errors at once.
std::expected<Removals, FileErrors> read_removals(const Fabric& fabric, std::string_view text,
                                                  const std::string& file_name);

/// The fabric without these; the rest keeps its order, names, GUIDs and LIDs.
Fabric without(const Fabric& fabric, const Removals& removals);

}  // namespace smd::base
