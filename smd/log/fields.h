// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fields of a line by their key.

#include <string>
#include <string_view>
#include <vector>

#include "smd/log/record.h"

namespace smd::log {

/// Of the first field with this key; null: there is none. Valid as long as `fields` are.
const std::string* value_of(const std::vector<Field>& fields, std::string_view key);

}  // namespace smd::log
