// SPDX-License-Identifier: Apache-2.0
// What a loader says about keys and tables that the schema does not have.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/loader.h"
#include "config/opensm_options.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

/// Names of the keys that stand as `name = value` in their table.
std::vector<std::string> plain_names(const std::vector<const Key*>& keys) {
  std::vector<std::string> names;
  for (const auto* key : keys) {
    if (key->form != Form::blocks) names.emplace_back(key->name);
  }
  return names;
}

std::string heading_in(bool in_subnet, const std::string& path, bool array) {
  const auto inner = in_subnet ? "subnet." + path : path;
  return array ? fmt::format("[[{}]]", inner) : fmt::format("[{}]", inner);
}

}  // namespace

void Loader::unknown_key(const Value& value, std::string_view table, const Spot& at, bool in_subnet) {
  if (value.is_array_of_tables()) return unknown_array(value, table, at, in_subnet);
  auto hint = hint_for_key(table, value.key);
  if (hint.empty()) hint = hint_for_array(table, value.key, in_subnet);
  if (hint.empty())
    hint = fmt::format("its keys are {}", fmt::join(plain_names(schema_.keys_of(table)), ", "));
  const auto where = table == "subnet" || !in_subnet ? heading(table) : fmt::format("[subnet.{}]", table);
  at.errors.push_back({.file = at.file,
                       .line = value.key_line,
                       .expected = fmt::format("unknown key \"{}\" in {}", printable(value.key), where),
                       .hint = std::move(hint)});
}

/// "did you mean [[qos.level]]?" for a key of [qos]; empty: no array of the table is near.
std::string Loader::hint_for_array(std::string_view table, const std::string& name, bool in_subnet) const {
  std::vector<std::string> names;
  for (const auto* array : schema_.arrays_of(table == "subnet" ? "" : table)) names.emplace_back(array->name);
  const auto near = nearest(name, names);
  if (!near) return {};
  const auto path = table == "subnet" ? *near : fmt::format("{}.{}", table, *near);
  return fmt::format("did you mean {}?", heading_in(in_subnet, path, true));
}

void Loader::unknown_table(const Value& value, const Spot& at, bool in_subnet) {
  if (value.is_array_of_tables()) return unknown_array(value, "", at, in_subnet);
  const auto name = printable(value.key);
  auto hint = value.is_table() ? "" : hint_for_key("", value.key);
  if (hint.empty()) hint = hint_for_heading(value.key, in_subnet, false);
  at.errors.push_back({.file = at.file,
                       .line = value.key_line,
                       .expected = value.is_table()
                                       ? fmt::format("unknown table [{}{}]", in_subnet ? "subnet." : "", name)
                                       : fmt::format("key \"{}\" outside of the tables", name),
                       .hint = std::move(hint)});
}

void Loader::unknown_array(const Value& value, std::string_view table, const Spot& at, bool in_subnet) {
  const auto path = table.empty() ? value.key : fmt::format("{}.{}", table, value.key);
  at.errors.push_back(
      {.file = at.file,
       .line = value.key_line,
       .expected = fmt::format("unknown table {}", heading_in(in_subnet, printable(path), true)),
       .hint = hint_for_heading(path, in_subnet, true)});
}

/// The nearest heading that there is, or all of them. `arrays_only`: those in double brackets.
std::string Loader::hint_for_heading(const std::string& name, bool in_subnet, bool arrays_only) const {
  std::vector<std::string> paths;
  std::vector<std::string> headings;
  const auto add = [&](const std::string& path, bool array) {
    paths.push_back(path);
    headings.push_back(heading_in(in_subnet, path, array));
  };
  for (const auto& table : schema_.tables) {
    const bool subnet = table.name == "subnet";
    if (in_subnet && (table.of_process || subnet)) continue;
    if (subnet || !arrays_only) add(std::string(table.name), subnet);
  }
  for (const auto& key : schema_.keys) {
    if (key.is_array() && (arrays_only || key.table.empty())) add(key.path(), true);
  }
  auto near = nearest(name, paths);
  // [[level]] for [[qos.level]].
  const auto inner = std::ranges::find_if(schema_.keys, [&](const Key& key) {
    return key.is_array() && !near && arrays_only && key.name == name;
  });
  if (inner != schema_.keys.end()) near = inner->path();
  if (!near) return fmt::format("tables are {}", fmt::join(headings, ", "));
  const auto index = std::ranges::find(paths, *near) - paths.begin();
  return fmt::format("did you mean {}?", headings[static_cast<std::size_t>(index)]);
}

/// A key of another table, an option of OpenSM, or a slip of the finger; empty: none of them.
std::string Loader::hint_for_key(std::string_view table, std::string_view name) const {
  if (name.empty()) return {};
  const auto own = plain_names(schema_.keys_of(table));
  for (const auto& key : schema_.keys) {
    if (key.name == name) return fmt::format("did you mean \"{}\"?", key.path());
  }
  for (const auto& key : schema_.keys) {
    const bool without_file = key.opensm.ends_with("_file") && key.opensm == fmt::format("{}_file", name);
    if (key.opensm == name || without_file)
      return fmt::format("OpenSM's {} is \"{}\" here", key.opensm, key.path());
  }
  auto why = why_no_key(name);
  return why.empty() ? did_you_mean(name, own) : why;
}

}  // namespace smd::config
