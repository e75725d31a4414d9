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

/// A JSON string of any bytes; escaped when it is written.
inline sm::Json text(std::string_view value) { return sm::Json(std::string(value)); }
/// A JSON number.
inline sm::Json number(std::uint64_t value) { return sm::Json(value); }
/// A JSON string: "0x0002c90000000001".
inline sm::Json guid(Guid value) { return sm::Json(fmt::format("{}", value)); }
/// A JSON string: "0xffff".
inline sm::Json pkey(PKey value) { return sm::Json(fmt::format("{}", value)); }

}  // namespace smd::api
