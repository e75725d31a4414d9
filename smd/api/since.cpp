// SPDX-License-Identifier: Apache-2.0
#include "smd/api/since.h"

#include <charconv>
#include <ctime>
#include <string>

#include "config/scalars.h"

namespace smd::api {
namespace {

using Time = std::chrono::system_clock::time_point;

/// Takes ".250" from the front of `rest`. It has no sign and no exponent.
std::optional<std::chrono::nanoseconds> take_fraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return std::chrono::nanoseconds{};
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), seconds, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

/// strptime() takes the 31st of each month, and years of one digit.
std::optional<Time> time_of(const std::tm& parts) {
  using namespace std::chrono;
  const auto date = year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday;
  // What a system_clock holds, with room for differences.
  if (!date.ok() || date.year() < year(1970) || date.year() > year(2200)) return std::nullopt;
  return sys_days(date) + hours(parts.tm_hour) + minutes(parts.tm_min) + seconds(parts.tm_sec);
}

std::optional<Time> parse_time(std::string text) {
  if (text.size() > 10 && text[10] == ' ') text[10] = 'T';
  for (const auto* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), format, &parts);
    if (end == nullptr) continue;
    std::string_view rest(end);
    const auto fraction = std::string_view(format).ends_with("%S")
                              ? take_fraction(rest)
                              : std::optional(std::chrono::nanoseconds{});
    const auto time = time_of(parts);
    if (fraction && time && (rest.empty() || rest == "Z")) return *time + *fraction;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Time> parse_since(std::string_view text, Time now) {
  if (const auto ago = config::parse_duration(text)) return now - *ago;
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // where strptime() ends
  return parse_time(std::string(text));
}

}  // namespace smd::api
