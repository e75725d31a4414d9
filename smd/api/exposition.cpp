// SPDX-License-Identifier: Apache-2.0
#include "smd/api/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "smd/report/json.h"

namespace smd::api {
namespace {

/// Nothing in it has to be escaped: so are nearly all of the million values of a large fabric.
bool is_plain_label(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

/// Bytes of the control character that the text begins with (C0, DEL, C1, separators of lines and paragraphs,
/// direction of text), in UTF-8; 0: none.
std::size_t control_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : std::uint8_t{0};
  };
  if (at(0) < 0x20 || at(0) == 0x7F) return 1;
  if (at(0) == 0xC2 && at(1) >= 0x80 && at(1) < 0xA0) return 2;
  if (at(0) != 0xE2) return 0;
  const bool separates = at(1) == 0x80 && at(2) >= 0xA8 && at(2) <= 0xAE;
  const bool isolates = at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9;
  return separates || isolates ? 3 : 0;
}

/// The format has escapes for a backslash, a quote and a newline only: other control characters become
/// blanks, as in names of nodes. Bytes that are no UTF-8 become U+FFFD.
std::string quoted_label(std::string_view content) {
  std::string text;
  while (!content.empty()) {
    const auto length = content.front() == '\n' ? 0 : control_length(content);
    text += length != 0 ? ' ' : content.front();
    content.remove_prefix(std::max<std::size_t>(1, length));
  }
  return sm::to_text(sm::Json(text));
}

}  // namespace

bool Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  const bool wanted = wants(name);
  name_ = wanted ? name : std::string_view();
  if (wanted)
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   kind == Kind::counter ? "counter" : "gauge");
  return wanted;
}

void Exposition::sample(std::initializer_list<Label> labels, double value) {
  if (name_.empty()) return;
  text_ += name_;
  char before = '{';
  for (const auto& [name, content] : labels) {
    if (name.empty()) continue;
    text_ += before;
    text_ += name;
    text_ += '=';
    if (is_plain_label(content)) {
      text_ += '"';
      text_ += content;
      text_ += '"';
    } else {
      text_ += quoted_label(content);
    }
    before = ',';
  }
  if (before == ',') text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", value);
}

}  // namespace smd::api
