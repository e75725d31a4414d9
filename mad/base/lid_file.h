// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of `--lids`: which LIDs a port has.

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "mad/base/file_error.h"
#include "mad/base/id.h"

namespace smd::base {

/// Both ends included; more than one LID where LMC is not 0.
struct LidRange {
  Lid first, last;
  friend bool operator==(const LidRange&, const LidRange&) = default;
};

/// By port GUID.
using GuidLids = std::map<Guid, LidRange>;

/// A line each: `GUID LID`, or as in OpenSM's guid2lid `0xGUID 0xFIRST 0xLAST`; empty lines and comments are
/// skipped. No GUID and no LID may stand there twice. All errors at once.
std::expected<GuidLids, FileErrors> read_lids(std::string_view text, const std::string& file_name);
/// The same of a file on the disk.
std::expected<GuidLids, FileErrors> load_lids(const std::string& path);

}  // namespace smd::base
