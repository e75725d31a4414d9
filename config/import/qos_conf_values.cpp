// SPDX-License-Identifier: Apache-2.0
#include "config/import/qos_conf_values.h"

#include <fmt/format.h>

#include <limits>

#include "config/import/c_number.h"
#include "config/scalars.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::uint64_t kEveryNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kPKeyBits = 0x7fff;
constexpr std::string_view kPortNameForm =
    "NODE/P1: a node's description, the last '/' and the port's number from 1 to 254";

std::vector<std::string_view> split_outside_quotes(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = find_outside_quotes(text, ',');
    parts.push_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// As opensm reads it: strtoull with base 0, but nothing may follow.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;  // a sign is no digit
  const auto number = read_c_number(text);
  if (!number.digits || !number.rest.empty()) return std::nullopt;
  const bool too_large = number.value == kEveryNumber && parse_number(text) != kEveryNumber;
  return too_large ? std::nullopt : std::optional(number.value);
}

void warn_of_octal(const QosValue& value, std::string_view word) {
  if (word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9')
    value.notes.warn(value.key, fmt::format("\"{}\" begins with 0 and is octal, as opensm has it: {}",
                                            printable(word), whole_number(word).value_or(0)));
}

bool wrong_value(const QosValue& value, std::string_view found, std::string expected) {
  value.notes.wrong(value.key, found, std::move(expected));
  return false;
}

bool add_range(const QosValue& value, std::string_view item, std::uint64_t most, std::string_view meaning,
               QosRanges& into) {
  const auto dash = item.find('-');
  const auto low = trim(item.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : trim(item.substr(dash + 1));
  const auto first = whole_number(low), last = whole_number(high);
  if (!first || !last || *first > most || *last > most)
    return wrong_value(value, item, fmt::format("{}, or a range of them such as 1-5", meaning));
  warn_of_octal(value, low);
  if (dash != std::string_view::npos) warn_of_octal(value, high);
  if (*first > *last)
    value.notes.warn(value.key, fmt::format("\"{}\" ends before it begins: both ends are swapped, as opensm "
                                            "does",
                                            printable(item)));
  into.push_back({std::min(*first, *last), std::max(*first, *last)});
  return true;
}

/// Text in quotes and text outside of them. False: a quote is not closed.
bool unquote(std::string_view text, std::string& into, bool& quoted) {
  while (!text.empty()) {
    const auto quote = text.find('"');
    into += text.substr(0, quote);
    if (quote == std::string_view::npos) return true;
    const auto end = text.find('"', quote + 1);
    if (end == std::string_view::npos) return false;
    into += text.substr(quote + 1, end - quote - 1);
    quoted = true;
    text.remove_prefix(end + 1);
  }
  return true;
}

std::optional<std::string> plain_name(const QosValue& value, std::string_view item, bool& quoted) {
  std::string name;
  if (!unquote(item, name, quoted)) {
    value.notes.wrong(value.key, item, "a closing '\"' in the same line");
    return std::nullopt;
  }
  name = std::string(trim(name));
  if (name.empty()) {
    value.notes.wrong(value.key, value.text, "a name");
    return std::nullopt;
  }
  return name;
}

std::optional<QosPortName> port_name(const QosValue& value, std::string_view item) {
  bool quoted = false;
  const auto name = plain_name(value, item, quoted);
  if (!name) return std::nullopt;
  const auto slash = name->rfind('/');
  const auto number = slash == std::string::npos || slash == 0 || slash + 2 >= name->size() ||
                              ((*name)[slash + 1] != 'P' && (*name)[slash + 1] != 'p')
                          ? std::nullopt
                          : whole_number(std::string_view(*name).substr(slash + 2));
  constexpr std::uint64_t kMostPorts = 254, kMost = 65535;
  if (!number || *number == 0 || *number > kMost) {
    value.notes.wrong(value.key, item, std::string(kPortNameForm));
    return std::nullopt;
  }
  // It looks for the node first, and of one that it does not find the number is not looked at.
  if (*number > kMostPorts)
    value.notes.warn(
        value.key, fmt::format("\"{}\" names no port, as no node has more than {}: opensm leaves it out, or "
                               "refuses the file where there is a node of this description",
                               printable(item), kMostPorts));
  if (!quoted && name->find_first_of(" \t") != std::string::npos)
    value.notes.warn(
        value.key,
        fmt::format("opensm leaves out the blanks of \"{}\" and finds no such node", printable(*name)),
        "write it in quotes");
  return QosPortName{.node = name->substr(0, slash), .port = static_cast<unsigned>(*number)};
}

}  // namespace

std::size_t find_outside_quotes(std::string_view text, char sought) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == sought) return i;
    if (text[i] != '"') continue;
    const auto end = text.find('"', i + 1);
    if (end != std::string_view::npos) i = end;
  }
  return std::string_view::npos;
}

std::string_view without_comment(std::string_view line) {
  return trim(line.substr(0, find_outside_quotes(line, '#')));
}

std::optional<std::uint64_t> read_qos_number(const QosValue& value, std::uint64_t least, std::uint64_t most,
                                             std::string_view meaning) {
  const auto number = whole_number(value.text);
  if (!number || *number < least || *number > most) {
    value.notes.wrong(value.key, value.text, std::string(meaning));
    return std::nullopt;
  }
  warn_of_octal(value, value.text);
  return number;
}

std::optional<QosRanges> read_qos_ranges(const QosValue& value, std::uint64_t most,
                                         std::string_view meaning) {
  QosRanges ranges;
  for (const auto item : split_outside_quotes(value.text)) {
    if (!add_range(value, item, most, meaning, ranges)) return std::nullopt;
  }
  return ranges;
}

std::optional<QosRanges> read_qos_pkeys(const QosValue& value) {
  auto ranges = read_qos_ranges(value, kEveryNumber, "a P_Key such as 0x8001");
  if (!ranges) return std::nullopt;
  for (auto& range : *ranges) {
    const auto given = QosRanges{range};
    const auto first = range.first & kPKeyBits, last = range.last & kPKeyBits;
    range = {std::min(first, last), std::max(first, last)};
    if (given[0].last > 0xffff || first > last)
      value.notes.warn(value.key, fmt::format("of {} the low 15 bits count, as opensm has it: {}",
                                              to_string(given, true), to_string({range}, true)));
  }
  return ranges;
}

std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> read_qos_pairs(const QosValue& value) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const auto item : split_outside_quotes(value.text)) {
    const auto colon = item.find(':');
    const auto vl = whole_number(trim(item.substr(0, colon)));
    const auto weight =
        colon == std::string_view::npos ? std::nullopt : whole_number(trim(item.substr(colon + 1)));
    if (!vl || !weight) {
      value.notes.wrong(value.key, item, "a VL, ':' and its weight, such as 0:64");
      return std::nullopt;
    }
    pairs.emplace_back(*vl, *weight);
  }
  return pairs;
}

std::optional<std::string> read_qos_name(const QosValue& value) {
  if (find_outside_quotes(value.text, ',') != std::string_view::npos) {
    value.notes.wrong(value.key, value.text, "one name", "a name with a ',' stands in quotes");
    return std::nullopt;
  }
  bool quoted = false;
  return plain_name(value, value.text, quoted);
}

std::optional<std::vector<std::string>> read_qos_names(const QosValue& value) {
  std::vector<std::string> names;
  bool quoted = false;
  for (const auto item : split_outside_quotes(value.text)) {
    auto name = plain_name(value, item, quoted);
    if (!name) return std::nullopt;
    names.push_back(*std::move(name));
  }
  return names;
}

std::string read_qos_text(std::string_view text) {
  std::string plain;
  for (const char c : trim(text)) {
    if (c != '"') plain += c;
  }
  return plain;
}

std::optional<std::vector<QosPortName>> read_qos_port_names(const QosValue& value) {
  std::vector<QosPortName> names;
  for (const auto item : split_outside_quotes(value.text)) {
    auto name = port_name(value, item);
    if (!name) return std::nullopt;
    names.push_back(*std::move(name));
  }
  return names;
}

}  // namespace smd::config
