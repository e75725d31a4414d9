// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foreign JSON: bodies of requests, answers of a daemon.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <expected>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "smd/api/request.h"

namespace smd::api {

/// The error says where the text stops being JSON.
std::expected<boost::json::value, std::string> parse_json(std::string_view text);

/// The same of a request's body: an error too where an object has a name twice, of which one reader takes the
/// first and another one the last.
std::expected<boost::json::value, std::string> parse_body(std::string_view text);

/// A body that must be an object, with members of these names only; an empty body has none. The error is for
/// the client: 400.
std::expected<boost::json::object, Answer> object_of(std::string_view body,
                                                     std::initializer_list<std::string_view> known);

/// A text of an object; nothing where it has no such member. 400: not a text.
std::expected<std::optional<std::string>, Answer> text_in(const boost::json::object& object,
                                                          std::string_view name);

/// A truth value of an object, false where it has no such member. 400: not true or false.
std::expected<bool, Answer> flag_in(const boost::json::object& object, std::string_view name);

/// The member `dry_run`: whether the call is only to say what it would do. As flag_in().
std::expected<bool, Answer> dry_run_in(const boost::json::object& object);

}  // namespace smd::api
