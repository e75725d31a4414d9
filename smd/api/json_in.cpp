// SPDX-License-Identifier: Apache-2.0
#include "smd/api/json_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

std::expected<boost::json::object, Answer> object_of(std::string_view body,
                                                     std::initializer_list<std::string_view> known) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return boost::json::object{};
  auto value = parse_json(body);
  if (!value) return std::unexpected(bad_body(value.error()));
  if (!value->is_object()) return std::unexpected(bad_body("the body must be an object"));
  for (const auto& [key, member] : value->get_object()) {
    const std::string_view name = key;
    if (std::ranges::find(known, name) == known.end())
      return std::unexpected(
          bad_body(fmt::format("{}: not known; there are {}", name, fmt::join(known, ", "))));
  }
  return std::move(value->get_object());
}

std::expected<std::optional<std::string>, Answer> text_in(const boost::json::object& object,
                                                          std::string_view name) {
  const auto* member = object.if_contains(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_string()) return std::unexpected(bad_body(fmt::format("{}: must be a string", name)));
  return std::string(member->get_string());
}

std::expected<bool, Answer> flag_in(const boost::json::object& object, std::string_view name) {
  const auto* member = object.if_contains(name);
  if (member == nullptr) return false;
  if (!member->is_bool()) return std::unexpected(bad_body(fmt::format("{}: must be true or false", name)));
  return member->get_bool();
}

std::expected<bool, Answer> dry_run_in(const boost::json::object& object) {
  return flag_in(object, "dry_run");
}

}  // namespace smd::api
