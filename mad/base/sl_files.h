// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that say the SL of each path and the VL of each SL, of any SM.

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/base/file_error.h"
#include "mad/base/id.h"

namespace smd::base {

/// By the GUID of a source (its node's or its port's) the SL of the path to each LID, or kNoSlSaid; a row
/// ends with the highest LID that the file has for the source.
using PathSlFile = std::map<Guid, std::vector<std::uint8_t>>;
inline constexpr std::uint8_t kNoSlSaid = 255;
/// What the file says of paths from a port: by its own GUID, else by its node's. Null: nothing.
const std::vector<std::uint8_t>* sls_from(const PathSlFile& file, Guid port, Guid node);
/// By the switch's GUID and (in, out) the VL of each SL.
using SlToVlFile = std::map<Guid, std::map<std::pair<PortNum, PortNum>, std::array<std::uint8_t, 16>>>;

/// Lines "SOURCE-GUID DLID SL", as path-sl.txt has them and ibdmchk reads them (-c). The first errors, at
/// most 20. `file` names the file in errors.
std::expected<PathSlFile, base::FileErrors> read_path_sl(std::string_view text, const std::string& file);

/// Lines "SWITCH-GUID IN OUT 0xVV 0xVV ...", two VLs a word, as sl2vl.txt has them and ibdmchk reads them
/// (-d); or opensm-sl2vl.dump.
std::expected<SlToVlFile, base::FileErrors> read_sl_to_vl(std::string_view text, const std::string& file);

}  // namespace smd::base
