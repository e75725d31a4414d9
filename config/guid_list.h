// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file of GUIDs, one a line, '#' to the end of a line is a comment: OpenSM's root GUID file and its kin.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "mad/base/id.h"

namespace smd::config {

/// In the order of the file, each once; `file` is its name in errors.
std::expected<std::vector<Guid>, std::vector<ConfigError>> read_guid_list(std::string_view text,
                                                                          const std::string& file);

}  // namespace smd::config
