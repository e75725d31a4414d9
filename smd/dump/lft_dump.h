// SPDX-License-Identifier: Apache-2.0
#pragma once
// Forwarding tables as text: OpenSM's opensm-lfts.dump and opensm.fdbs, and what dump_fts and ibdiagnet
// print.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mad/base/file_error.h"
#include "mad/base/id.h"
#include "routing/routes.h"

namespace smd::sm::inline dumps {

/// The tables in a file, by GUID of the switch.
struct LftDump {
  std::map<Guid, std::shared_ptr<const routing::LftRow>> rows;
  /// Port GUID of each LID, where the file's comments say it (opensm.fdbs has none).
  std::map<Lid, Guid> owners;
};

/// Either format, told apart by the first line that is not blank. The first errors of each file, at most 20.
std::expected<LftDump, base::FileErrors> read_lfts(std::string_view text, const std::string& file);

/// The same from a file, which is mapped and not copied (opensm.fdbs of a large fabric has gigabytes).
std::expected<LftDump, base::FileErrors> load_lfts(const std::filesystem::path& path);

}  // namespace smd::sm::inline dumps
