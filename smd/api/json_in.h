// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foreign JSON: bodies of requests, answers of a daemon.

#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <string_view>

namespace smd::api {

/// The error says where the text stops being JSON.
std::expected<boost::json::value, std::string> parse_json(std::string_view text);

}  // namespace smd::api
