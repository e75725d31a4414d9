// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foreign JSON: bodies of requests, answers of a daemon.

#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <string_view>

#include "smd/api/request.h"

namespace smd::api {

/// The error says where the text stops being JSON.
std::expected<boost::json::value, std::string> parse_json(std::string_view text);

/// The one member of a body, or null where there is none and none is needed.
std::expected<boost::json::value, Answer> only_member(std::string_view body, std::string_view name,
                                                      bool needed);

}  // namespace smd::api
