// SPDX-License-Identifier: Apache-2.0
#pragma once
// A node name map in the format of OpenSM and infiniband-diags (man 8 ibnetdiscover, NODE NAME MAP FILE
// FORMAT): `0xguid "name"` a line, '#' begins a comment.

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "mad/base/id.h"

namespace smd::config {

/// Names by node GUID; a GUID with two names is an error.
std::expected<std::map<Guid, std::string>, std::vector<ConfigError>> read_name_map(std::string_view text,
                                                                                   const std::string& file);

}  // namespace smd::config
