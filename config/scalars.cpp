// SPDX-License-Identifier: Apache-2.0
#include "config/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ranges>

#include "mad/base/parse.h"

namespace smd::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::array kUnits{Unit{"d", 86'400'000'000'000}, Unit{"h", 3'600'000'000'000},
                            Unit{"m", 60'000'000'000},     Unit{"s", 1'000'000'000},
                            Unit{"ms", 1'000'000},         Unit{"us", 1'000}};

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_hex_prefix(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

}  // namespace

std::optional<Guid> parse_guid(std::string_view text) {
  std::string plain(text);
  if (has_hex_prefix(text)) {
    plain.erase(0, 2);
  } else if (text.size() == 19 && text[4] == ':' && text[9] == ':' && text[14] == ':') {
    std::erase(plain, ':');
  }
  if (!has_hex_prefix(text) && plain.size() != 16) return std::nullopt;
  const auto value = digits(plain, 16);
  return value && *value != 0 ? std::optional(Guid{*value}) : std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  return has_hex_prefix(text) ? digits(text.substr(2), 16) : digits(text, 10);
}

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = 0, smallest = kMost;
  auto left = text;
  do {
    const auto unit_at = left.find_first_not_of("0123456789");
    if (unit_at == left.npos) return std::nullopt;
    const auto count = digits(left.substr(0, unit_at), 10);
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

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
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
