// SPDX-License-Identifier: Apache-2.0
#include "smd/report/json.h"

#include <fmt/format.h>

#include <boost/json/visit.hpp>
#include <cmath>
#include <iterator>

#include "smd/log/format.h"

namespace smd::sm::inline reports {
namespace {

/// Length of the UTF-8 sequence at the front of `text`; 0 where its bytes are none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if (length > 2) {  // the forms that are too long, surrogates, and what lies past U+10FFFF
    const unsigned second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return 0;
    }
  }
  return length;
}

/// The short escapes for what has one; other control characters by their number.
void append_byte(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  } else {
    out += c;
  }
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto length = sequence(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1) {
      append_byte(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

/// Boost.JSON 1.81 writes 12.5 as 1.25E1 and leaves bytes that are not UTF-8 as they are: hence a writer of
/// our own.
struct Writer {
  std::string& out;

  void operator()(std::nullptr_t) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::uint64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const {
    if (!std::isfinite(value)) {
      out += "null";
    } else {
      out += log::to_plain(value);
    }
  }
  void operator()(const boost::json::string& value) const { append_string(out, value); }
  void operator()(const JsonArray& values) const {
    out += '[';
    for (const auto& value : values) {
      if (&value != values.data()) out += ',';
      boost::json::visit(*this, value);
    }
    out += ']';
  }
  void operator()(const JsonObject& members) const {
    out += '{';
    for (const auto& member : members) {
      if (&member != &*members.begin()) out += ',';
      append_string(out, member.key());
      out += ':';
      boost::json::visit(*this, member.value());
    }
    out += '}';
  }
};

}  // namespace

std::string to_text(const Json& value) {
  std::string out;
  boost::json::visit(Writer{out}, value);
  return out;
}

JsonArray strings_json(const std::vector<std::string>& texts) {
  JsonArray list;
  for (const auto& one : texts) list.emplace_back(one);
  return list;
}

}  // namespace smd::sm::inline reports
