// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values that answers are made of.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "mad/base/id.h"
#include "smd/report/json.h"

namespace smd::api {

inline sm::Json text(std::string_view value) { return sm::Json{std::string(value)}; }
inline sm::Json number(std::uint64_t value) { return sm::Json{value}; }
inline sm::Json guid(Guid value) { return sm::Json{fmt::format("{}", value)}; }

}  // namespace smd::api
