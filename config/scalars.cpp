// SPDX-License-Identifier: Apache-2.0
#include "config/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>

namespace smd::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::array kUnits{Unit{"d", 86'400'000'000'000}, Unit{"h", 3'600'000'000'000},
                            Unit{"m", 60'000'000'000},     Unit{"s", 1'000'000'000},
                            Unit{"ms", 1'000'000},         Unit{"us", 1'000}};

}  // namespace

std::optional<Guid> parse_guid(std::string_view text) {
  const auto guid = base::parse_guid(text);
  return guid != Guid{} ? guid : std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = 0, smallest = kMost;
  auto left = text;
  do {
    const auto unit_at = left.find_first_not_of("0123456789");
    if (unit_at == left.npos) return std::nullopt;
    const auto count = parse_number(left.substr(0, unit_at));
    left.remove_prefix(unit_at);
    const auto next = left.find_first_of("0123456789");
    const auto name = trim(left.substr(0, next));
    left.remove_prefix(next == left.npos ? left.size() : next);
    const auto unit = std::ranges::find(kUnits, name, &Unit::name);
    if (!count || unit == kUnits.end()) return std::nullopt;
    const auto size = unit->nanoseconds;
    if (size >= smallest || *count > static_cast<std::uint64_t>((kMost - sum) / size)) return std::nullopt;
    smallest = size;
    sum += static_cast<std::int64_t>(*count) * size;
  } while (!left.empty());
  return Duration(sum);
}

std::string show_duration(Duration time) {
  if (time == Duration::zero()) return "0s";
  for (const auto& unit : kUnits | std::views::drop(1)) {  // "24h", not "1d"
    if (time.count() % unit.nanoseconds == 0)
      return fmt::format("{}{}", time.count() / unit.nanoseconds, unit.name);
  }
  return fmt::format("{}us", time.count() / 1000);
}

bool is_address(std::string_view text) {
  const auto address = base::parse_host_port(text);
  return address && address->port != 0;
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace smd::config
