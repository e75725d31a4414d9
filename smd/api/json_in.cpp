// SPDX-License-Identifier: Apache-2.0
#include "smd/api/json_in.h"

#include <fmt/format.h>

#include <boost/json/stream_parser.hpp>

namespace smd::api {

std::expected<boost::json::value, std::string> parse_json(std::string_view text) {
  boost::json::stream_parser parser;
  boost::system::error_code error;
  const auto read = parser.write_some(text.data(), text.size(), error);
  if (!error && read != text.size() &&
      text.substr(read).find_first_not_of(" \t\r\n") != std::string_view::npos) {
    return std::unexpected(fmt::format("more after the end of the JSON value, at byte {}", read + 1));
  }
  if (!error) parser.finish(error);
  if (error) return std::unexpected(fmt::format("not JSON from byte {} on: {}", read + 1, error.message()));
  return parser.release();
}

std::expected<boost::json::value, Answer> only_member(std::string_view body, std::string_view name,
                                                      bool needed) {
  const bool empty = body.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (empty && !needed) return boost::json::value{};
  const auto value = parse_json(body);
  if (!value) return std::unexpected(error_of(400, "bad_body", value.error()));
  const auto* object = value->if_object();
  const auto* found = object != nullptr ? object->if_contains({name.data(), name.size()}) : nullptr;
  const bool others = object != nullptr && object->size() != (found != nullptr ? 1U : 0U);
  if (object != nullptr && !others && (found != nullptr || !needed))
    return found != nullptr ? *found : boost::json::value{};
  return std::unexpected(error_of(400, "bad_body", fmt::format("the body must be an object with {}", name)));
}

}  // namespace smd::api
