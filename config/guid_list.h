// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file of GUIDs, one a line, '#' to the end of a line is a comment: OpenSM's root_guid_file, cn_guid_file
// and io_guid_file.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "mad/base/id.h"

namespace smd::config {

/// The GUIDs in the order of the file, each once, or one error for each wrong line. `file` is its name in
/// errors.
std::expected<std::vector<Guid>, std::vector<ConfigError>> read_guid_list(std::string_view text,
                                                                          const std::string& file);

}  // namespace smd::config
