// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON values, which are Boost.JSON's, and their text.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace smd::sm::inline reports {

/// The members of an object stay in the order in which they were added. Json(x), not Json{x}: the latter is
/// an array.
using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

/// One line, no blanks between tokens. Numbers have at most as many digits as needed, no exponent; those that
/// are not finite become null. Bytes that are not UTF-8 (a NodeDescription may hold any) become U+FFFD.
std::string to_text(const Json& value);

/// An array of strings.
JsonArray strings_json(const std::vector<std::string>& texts);

}  // namespace smd::sm::inline reports
