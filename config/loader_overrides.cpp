// SPDX-License-Identifier: Apache-2.0
// `--set KEY=VALUE`, laid over what the file says.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/loader.h"
#include "config/overrides.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::string_view kOverride = "--set";  ///< in the place of a file

}  // namespace

void Loader::read_override(std::string_view text) {
  const auto equals = text.find('=');
  const auto path = text.substr(0, equals);
  const auto dot = std::min(path.find('.'), path.size());
  const bool whole = equals != std::string_view::npos && dot != path.size();
  const auto table = path.substr(0, dot);
  const auto name = whole ? path.substr(dot + 1) : std::string_view();
  const auto old = renamed(table, name);
  const auto* key = schema_.find(table, old ? old->now : name);
  const Spot at{
      .file = std::string(kOverride), .key = printable(path), .context = context_, .errors = errors_};
  auto value = override_value(whole ? text.substr(equals + 1) : "", key != nullptr ? key->form : Form::text);
  if (refuse_override(path, value, at)) return;
  if (!whole) {
    errors_.push_back({.file = at.file,
                       .found = printable(text),
                       .expected = "KEY=VALUE with a key such as lids.lmc",
                       .hint = equals == std::string_view::npos ? "" : hint_for_key("", path)});
    return;
  }
  value.key = name;
  if (!schema_.has_table(table)) {
    value.key = table;
    value.kind = Value::Kind::table;
    return unknown_table(value, at, false);
  }
  if (key == nullptr) return read_key(value, table, at, base_);
  if (old) {
    warn_of(*old, value, at);
    value = as_now(*old, std::move(value));
  }
  const auto before = errors_.size();
  set(*key, value, at, base_);
  for (auto& layer : subnets_) {
    if (errors_.size() == before) set(*key, value, at, layer);
  }
}

/// True, with an error, for what stands in the file only: a subnet's own keys, and blocks.
bool Loader::refuse_override(std::string_view path, const Value& value, const Spot& at) {
  if (path.starts_with("subnet.")) {
    at.refuse(value, "a subnet's own keys stand in the file only; --port names subnets on the command line");
    return true;
  }
  const auto* array = schema_.find_array(path);
  if (array == nullptr || (array->form != Form::blocks && path == array->path())) return false;
  at.refuse(value, fmt::format("blocks of {} stand in the file only", heading(*array)),
            array->form == Form::blocks ? "" : fmt::format("--set {}= takes the whole list", array->path()));
  return true;
}

}  // namespace smd::config
