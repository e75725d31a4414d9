// SPDX-License-Identifier: Apache-2.0
#include "smd/log/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "mad/base/escaped.h"

namespace smd::log {
namespace {

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

/// Bytes of the UTF-8 character at the front of `text`; 0 where there is none. Overlong forms, surrogates
/// and what lies beyond U+10FFFF are none.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!tail(1) || !tail(2) || (first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) > 0x9F)) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    return (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F) ? 0 : 4;
  }
  return 0;
}

bool is_plain(std::string_view value) {
  if (value.empty()) return false;
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

void append_quoted_text(std::string& out, std::string_view value) {
  out += '"';
  while (!value.empty()) {
    const auto length = utf8_length(value);
    const auto byte = static_cast<unsigned char>(value.front());
    const auto character = value.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || base::control_length(character) != 0) {
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += character;
    }
    value.remove_prefix(character.size());
  }
  out += '"';
}

void append_json_string(std::string& out, std::string_view value) {
  out += '"';
  while (!value.empty()) {
    const auto length = utf8_length(value);
    const auto byte = static_cast<unsigned char>(value.front());
    const auto character = value.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (is_control(byte)) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (base::control_length(character) != 0) {
      out += base::escaped(character);  // "\u202e", as JSON has it
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += character;
    }
    value.remove_prefix(character.size());
  }
  out += '"';
}

void append_json_field(std::string& out, std::string_view key, std::string_view value, bool bare) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
  if (bare) {
    out += value;
  } else {
    append_json_string(out, value);
  }
}

}  // namespace

void append_text_field(std::string& out, std::string_view key, std::string_view value) {
  out += ' ';
  out += key;
  out += '=';
  if (is_plain(value)) {
    out += value;
  } else {
    append_quoted_text(out, value);
  }
}

std::string to_text(const Record& record) {
  auto out = record.event;
  if (!record.subnet.empty()) append_text_field(out, "subnet", record.subnet);
  for (const auto& field : record.fields) append_text_field(out, field.key, field.value);
  return out;
}

std::string to_json(const Record& record, std::chrono::system_clock::time_point when) {
  std::string out = "{";
  append_json_field(out, "time", to_utc(when), false);
  append_json_field(out, "level", config::to_string(record.level), false);
  append_json_field(out, "event", record.event, false);
  if (!record.subnet.empty()) append_json_field(out, "subnet", record.subnet, false);
  std::vector<std::string> taken{"time", "level", "event", "subnet"};
  for (const auto& field : record.fields) {
    auto key = field.key;
    for (unsigned n = 2; std::ranges::find(taken, key) != taken.end(); ++n)
      key = fmt::format("{}_{}", field.key, n);
    append_json_field(out, key, field.value, field.bare);
    taken.push_back(std::move(key));
  }
  return out + "}";
}

std::string to_plain(double value) {
  auto text = fmt::format("{}", value);
  if (text.find('e') == std::string::npos) return text;
  text = fmt::format("{:.6f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string to_utc(std::chrono::system_clock::time_point when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(when - seconds).count();
  const std::time_t time = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, millis);
}

}  // namespace smd::log
