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

}  // namespace smd::api
