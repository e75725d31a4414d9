// SPDX-License-Identifier: Apache-2.0
#pragma once
// PathRecord and MultiPathRecord: from where to where, on which terms. TraceRecord: by which nodes.

#include <expected>

#include "mad/wire/sa/path_record.h"
#include "smd/sa/directory.h"
#include "smd/sa/policy.h"
#include "smd/sa/registry/registry.h"
#include "smd/sa/request.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// Longest answer that is made, in bytes. A question for all paths of a large fabric at once is refused with
/// kSaNoResources: nobody could take the answer.
inline constexpr std::size_t kLongestAnswer = std::size_t{16} << 20U;

/// What paths are made of.
struct PathGround {
  const Directory& directory;
  const Registry& registry;  ///< alias GUIDs
  const Settings& settings;  ///< lifetime, the highest rate, routers to other subnets
};

/// Get: the one path, or the status that refuses it.
std::expected<wire::PathRecord, std::uint16_t> one_path(const PathGround& ground, const Request& request);
/// GetTable.
Answer path_records(const PathGround& ground, const Request& request);

/// GetMulti(MultiPathRecord): paths from each of some ports to each of some others, as PathRecords; NumbPath
/// of them at most, 127 where it is not named. With IndependenceSelector those of the LIDs' paths come first
/// that share the fewest links with those before them.
Answer multi_path_records(const PathGround& ground, const Request& request);

/// GetTraceTable with the components of a PathRecord: the nodes of the one path, or of the first of several,
/// from the source on.
Answer trace_records(const PathGround& ground, const Request& request);

}  // namespace smd::sa
