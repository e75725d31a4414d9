// SPDX-License-Identifier: Apache-2.0
#include "smd/api/since.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "config/scalars.h"

namespace smd::api {
namespace {

using Time = std::chrono::system_clock::time_point;

/// Numbers of fixed lengths with the characters between them, from the front of a text.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : text_(text) {}

  /// The number of `digits` digits that comes next, after `before` where that is not 0. Nothing: another
  /// text comes.
  std::optional<int> number(std::size_t digits, char before = 0) {
    auto rest = text_;
    if (before != 0) {
      if (!rest.starts_with(before)) return std::nullopt;
      rest.remove_prefix(1);
    }
    if (rest.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : rest.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    text_ = rest.substr(digits);
    return value;
  }
  /// ".250": as it is there.
  std::chrono::nanoseconds fraction() {
    std::int64_t value = 0, unit = 1'000'000'000;
    if (!text_.starts_with('.')) return {};
    text_.remove_prefix(1);
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
      unit /= 10;
      value += (text_.front() - '0') * unit;
    }
    return std::chrono::nanoseconds(value);
  }
  bool ends() {
    if (text_.starts_with('Z')) text_.remove_prefix(1);
    return text_.empty();
  }
  char next() const { return text_.empty() ? '\0' : text_.front(); }

 private:
  std::string_view text_;
};

std::optional<Time> parse_time(std::string_view words) {
  TimeText text(words);
  const auto year = text.number(4), month = text.number(2, '-'), day = text.number(2, '-');
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  // What a system_clock holds, with room for differences.
  if (!date.ok() || *year < 1970 || *year > 2200) return std::nullopt;
  Time time = std::chrono::sys_days(date);
  if (text.next() == 'T' || text.next() == ' ') {
    const auto hour = text.number(2, text.next()), minute = text.number(2, ':');
    const auto second = minute && text.next() == ':' ? text.number(2, ':') : std::optional(0);
    if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    time += std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second) +
            text.fraction();
  }
  return text.ends() ? std::optional(time) : std::nullopt;
}

}  // namespace

std::optional<Time> parse_since(std::string_view text, Time now) {
  if (const auto ago = config::parse_duration(text)) return now - *ago;
  return parse_time(text);
}

}  // namespace smd::api
