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

std::string_view word_of(Exposition::Kind kind) {
  switch (kind) {
    case Exposition::Kind::counter:
      return "counter";
    case Exposition::Kind::histogram:
      return "histogram";
    case Exposition::Kind::gauge:
      break;
  }
  return "gauge";
}

}  // namespace

bool Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  const bool wanted = families_.empty() || families_.contains(name);
  name_ = wanted ? name : std::string_view();
  if (wanted)
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   word_of(kind));
  return wanted;
}

void Exposition::sample(std::string_view part, std::initializer_list<Label> labels, double value) {
  if (name_.empty()) return;
  text_ += name_;
  text_ += part;
  char before = '{';
  for (const auto& [name, content] : labels) {
    if (name.empty()) continue;
    text_ += before;
    text_ += name;
    text_ += '=';
    // A JSON string without control characters, which names of nodes have none of, is a label's value.
    if (is_plain_label(content)) {
      text_ += '"';
      text_ += content;
      text_ += '"';
    } else {
      text_ += sm::to_text(sm::Json(std::string(content)));
    }
    before = ',';
  }
  if (before == ',') text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", value);
}

}  // namespace smd::api
