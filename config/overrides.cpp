// SPDX-License-Identifier: Apache-2.0
#include "config/overrides.h"

#include <algorithm>
#include <limits>
#include <string>

#include "config/scalars.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

std::string_view without_quotes(std::string_view text) {
  const bool quotes =
      text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return quotes ? text.substr(1, text.size() - 2) : text;
}

Value text_value(std::string_view text) {
  Value value;
  value.kind = Value::Kind::text;
  value.text = std::string(without_quotes(trim(text)));
  value.spelled = text.empty() ? "nothing" : printable(text);
  return value;
}

Value list_value(std::string_view text) {
  Value list;
  list.kind = Value::Kind::list;
  list.spelled = text.empty() ? "nothing" : printable(text);
  auto inner = trim(text);
  if (inner.starts_with('[') && inner.ends_with(']')) inner = trim(inner.substr(1, inner.size() - 2));
  while (!inner.empty()) {
    const auto comma = inner.find(',');
    list.items.push_back(text_value(trim(inner.substr(0, comma))));
    if (comma == std::string_view::npos) break;
    inner.remove_prefix(comma + 1);
  }
  return list;
}

}  // namespace

Value override_value(std::string_view text, Form form) {
  auto value = text_value(text);
  switch (form) {
    case Form::text:
    case Form::blocks:
      return value;
    case Form::list:
      return list_value(text);
    case Form::flag:
      if (value.text != "true" && value.text != "false") return value;
      value.kind = Value::Kind::flag;
      value.flag = value.text == "true";
      return value;
    case Form::whole:
      if (const auto number = parse_number(value.text);
          number && *number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        value.kind = Value::Kind::whole;
        value.whole = static_cast<std::int64_t>(*number);
      }
      return value;
    case Form::guids_or_text:
      break;
  }
  auto list = list_value(text);
  const bool any =
      std::ranges::any_of(list.items, [](const Value& item) { return parse_guid(item.text).has_value(); });
  return any || list.items.empty() || value.text.starts_with('[') ? list : value;
}

}  // namespace smd::config
