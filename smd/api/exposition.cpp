// SPDX-License-Identifier: Apache-2.0
#include "smd/api/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mad/base/escaped.h"
#include "smd/report/json.h"

namespace smd::api {
namespace {

/// Nothing in it has to be escaped: so are nearly all of the million values of a large fabric.
bool is_plain_label(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

/// The format has escapes for a backslash, a quote and a newline only: other control characters become
/// blanks, as in names of nodes. Bytes that are no UTF-8 become U+FFFD.
std::string quoted_label(std::string_view content) {
  std::string text;
  while (!content.empty()) {
    const auto length = content.front() == '\n' ? 0 : base::control_length(content);
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
