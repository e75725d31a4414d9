// SPDX-License-Identifier: Apache-2.0
#include "smd/api/json_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/stream_parser.hpp>
#include <limits>
#include <set>
#include <vector>

namespace smd::api {
namespace {

/// Told by Boost.JSON's parser what is in a text that is JSON. Finds a name that an object has twice: a value
/// has the last one only.
class NamesOnce {
 public:
  static constexpr auto max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr auto max_array_size = max_object_size;
  static constexpr auto max_key_size = max_object_size;
  static constexpr auto max_string_size = max_object_size;
  using Error = boost::system::error_code;
  using Text = boost::json::string_view;

  const std::optional<std::string>& twice() const { return twice_; }

  bool on_object_begin(Error&) {
    open_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, Error&) {
    open_.pop_back();
    return true;
  }
  bool on_key_part(Text part, std::size_t, Error&) {
    key_.append(part.data(), part.size());
    return true;
  }
  /// False ends the parser: there is no more to find.
  bool on_key(Text part, std::size_t, Error& error) {
    key_.append(part.data(), part.size());
    if (open_.back().insert(key_).second) {
      key_.clear();
      return true;
    }
    twice_ = std::move(key_);
    error = boost::json::error::syntax;
    return false;
  }
  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_array_begin(Error&) { return true; }
  bool on_array_end(std::size_t, Error&) { return true; }
  bool on_string_part(Text, std::size_t, Error&) { return true; }
  bool on_string(Text, std::size_t, Error&) { return true; }
  bool on_number_part(Text, Error&) { return true; }
  bool on_int64(std::int64_t, Text, Error&) { return true; }
  bool on_uint64(std::uint64_t, Text, Error&) { return true; }
  bool on_double(double, Text, Error&) { return true; }
  bool on_bool(bool, Error&) { return true; }
  bool on_null(Error&) { return true; }
  bool on_comment_part(Text, Error&) { return true; }
  bool on_comment(Text, Error&) { return true; }

 private:
  std::vector<std::set<std::string>> open_;  ///< names of the objects that are not ended yet
  std::string key_;
  std::optional<std::string> twice_;
};

std::optional<std::string> name_twice(std::string_view text) {
  boost::json::basic_parser<NamesOnce> parser{boost::json::parse_options()};
  boost::system::error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return parser.handler().twice();
}

}  // namespace

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

std::expected<boost::json::value, std::string> parse_body(std::string_view text) {
  auto value = parse_json(text);
  if (!value || !value->is_structured()) return value;
  if (const auto name = name_twice(text))
    return std::unexpected(fmt::format("{}: twice in an object", *name));
  return value;
}

std::expected<boost::json::object, Answer> object_of(std::string_view body,
                                                     std::initializer_list<std::string_view> known) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return boost::json::object{};
  auto value = parse_body(body);
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
