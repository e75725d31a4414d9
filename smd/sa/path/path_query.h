// SPDX-License-Identifier: Apache-2.0
#pragma once
// PathRecord and MultiPathRecord: from where to where, on which terms. TraceRecord: by which nodes.

#include <expected>
#include <memory>
#include <optional>

#include "mad/wire/sa/path_record.h"
#include "smd/sa/path/path_search.h"
#include "smd/sa/request.h"

namespace smd::sa {

/// A search, or the status that refuses the question.
using PathsOf = std::expected<std::unique_ptr<Search>, std::uint16_t>;

/// Get: the one path, or the status that refuses it; nothing where the slice is over before it is known.
std::optional<std::expected<wire::PathRecord, std::uint16_t>> one_path(const PathContext& context,
                                                                       const Request& request, Slice& slice);
/// Get and GetTable. What `context` names outlives the search, of all of these; `request` need not.
PathsOf path_records(const PathContext& context, const Request& request);

/// GetMulti(MultiPathRecord): paths from each of some ports to each of some others, as PathRecords; NumbPath
/// of them at most, 127 where it is not named. With IndependenceSelector those of the LIDs' paths come first
/// that share the fewest links with those before them.
PathsOf multi_path_records(const PathContext& context, const Request& request);

/// GetTraceTable with the components of a PathRecord: the nodes of the one path, or of the first of several,
/// from the source on.
PathsOf trace_records(const PathContext& context, const Request& request);

}  // namespace smd::sa
