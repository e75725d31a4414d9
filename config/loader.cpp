// SPDX-License-Identifier: Apache-2.0
#include "config/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/overrides.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::string_view kOverride = "--set";

std::vector<std::string> names_of(const std::vector<const Key*>& keys) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const auto* key : keys) names.emplace_back(key->name);
  return names;
}

/// The value of a key under its old name as one of the key of today.
Value as_now(const Renamed& old, Value value) {
  if (value.kind == Value::Kind::whole) value.whole += old.more;
  return value;
}

}  // namespace

Loader::Loader(std::filesystem::path file, const ConfigContext& context)
    : file_(std::move(file)), context_(context) {}

Spot Loader::spot(std::string key) {
  return {.file = file_.string(),
          .key = std::move(key),
          .folder = file_.parent_path(),
          .context = context_,
          .errors = errors_};
}

void Loader::read_document(const Value& root) {
  const Value* subnets = nullptr;
  for (const auto& item : root.items) {
    if (item.key == "subnet") {
      subnets = &item;
    } else if (schema_.has_table(item.key)) {
      read_table(item, item.key, base_);
    } else {
      unknown_table(item, spot(printable(item.key)), false);
    }
  }
  // After all other tables, wherever they stand: a [[subnet]] starts from the whole of them.
  if (subnets != nullptr) read_subnets(*subnets);
}

void Loader::read_table(const Value& table, std::string_view name, Layer& into) {
  if (table.kind != Value::Kind::table) {
    const auto wanted =
        fmt::format("a table, written once as [{}{}]", into.prefix.empty() ? "" : "subnet.", name);
    return spot(into.prefix + std::string(name)).wrong(table, wanted);
  }
  for (const auto& item : table.items) {
    const auto at = spot(fmt::format("{}{}.{}", into.prefix, name, printable(item.key)));
    const auto old = renamed(name, item.key);
    if (old && std::ranges::find(table.items, old->now, &Value::key) != table.items.end()) {
      at.refuse(item, fmt::format("the old name of {}, which stands here too", old->now));
    } else {
      read_key(item, name, at, into);
    }
  }
}

void Loader::read_key(const Value& value, std::string_view table, const Spot& at, Layer& into) {
  if (const auto* key = schema_.find(table, value.key)) return set(*key, value, at, into);
  if (const auto old = renamed(table, value.key)) {
    warn_of(*old, value, at);
    return set(*schema_.find(table, old->now), as_now(*old, value), at, into);
  }
  into.broken.emplace(table);
  auto hint = hint_for_key(table, value.key);
  if (hint.empty()) hint = fmt::format("its keys are {}", fmt::join(names_of(schema_.keys_of(table)), ", "));
  const auto where =
      table == "subnet" || into.prefix.empty() ? heading(table) : fmt::format("[subnet.{}]", table);
  errors_.push_back({.file = at.file,
                     .line = value.key_line,
                     .expected = fmt::format("unknown key \"{}\" in {}", printable(value.key), where),
                     .hint = std::move(hint)});
}

void Loader::set(const Key& key, const Value& value, const Spot& at, Layer& into) {
  const auto before = errors_.size();
  key.read(value, at, into.settings);
  if (errors_.size() != before) into.broken.emplace(key.table);
  into.places[key.path()] = {.file = at.file, .line = value.line, .key = at.key, .found = value.spelled};
}

void Loader::warn_of(const Renamed& old, const Value& value, const Spot& at) {
  ConfigError warning{.file = at.file,
                      .line = value.key_line,
                      .key = at.key,
                      .expected = fmt::format("called {} now", old.now),
                      .hint = "the next release knows the new name only"};
  if (old.more != 0) warning.expected += fmt::format(", whose value is {} more", old.more);
  if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
}

void Loader::unknown_table(const Value& value, const Spot& at, bool in_subnet) {
  std::vector<std::string> tables;
  for (const auto& table : schema_.tables) {
    if (!in_subnet || (!table.of_process && table.name != "subnet")) tables.emplace_back(table.name);
  }
  const auto heading_of = [&](const std::string& table) {
    return in_subnet ? fmt::format("[subnet.{}]", table) : heading(table);
  };
  std::vector<std::string> headings;
  headings.reserve(tables.size());
  for (const auto& table : tables) headings.push_back(heading_of(table));
  const bool is_table = value.kind == Value::Kind::table;
  const auto name = printable(value.key);
  auto hint = is_table ? "" : hint_for_key("", value.key);
  const auto near = nearest(value.key, tables);
  if (hint.empty() && near) hint = fmt::format("did you mean {}?", heading_of(*near));
  if (hint.empty()) hint = fmt::format("tables are {}", fmt::join(headings, ", "));
  errors_.push_back({.file = at.file,
                     .line = value.key_line,
                     .expected = is_table
                                     ? fmt::format("unknown table [{}{}]", in_subnet ? "subnet." : "", name)
                                     : fmt::format("key \"{}\" outside of the tables", name),
                     .hint = std::move(hint)});
}

/// A key of another table, a key of OpenSM's, or a slip of the finger.
std::string Loader::hint_for_key(std::string_view table, std::string_view name) const {
  if (name.empty()) return {};
  const auto own = names_of(schema_.keys_of(table));
  for (const auto& key : schema_.keys) {
    if (key.name == name) return fmt::format("did you mean \"{}\"?", key.path());
  }
  for (const auto& key : schema_.keys) {
    if (key.opensm == name) return fmt::format("OpenSM's {} is \"{}\" here", name, key.path());
  }
  return did_you_mean(name, own);
}

void Loader::read_subnets(const Value& list) {
  const auto is_table = [](const Value& item) { return item.kind == Value::Kind::table; };
  if (list.kind != Value::Kind::list || !std::ranges::all_of(list.items, is_table)) {
    return spot("subnet").wrong(list, "one or more blocks, each beginning with [[subnet]]");
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) read_subnet(list.items[i], i);
}

void Loader::read_subnet(const Value& table, std::size_t index) {
  auto& layer = subnets_.emplace_back(base_);
  layer.prefix = fmt::format("subnet[{}].", index);
  layer.places["subnet"] = {
      .file = file_.string(), .line = table.line, .key = fmt::format("subnet[{}]", index)};
  for (const auto& item : table.items) {
    const auto at = spot(layer.prefix + printable(item.key));
    if (const auto* key = schema_.find("subnet", item.key)) {
      set(*key, item, at, layer);
    } else if (schema_.of_process(item.key)) {
      at.refuse(item,
                fmt::format("[{}] is for the whole process: it stands outside of [[subnet]]", item.key));
    } else if (item.key != "subnet" && schema_.has_table(item.key)) {
      read_table(item, item.key, layer);
    } else if (item.kind == Value::Kind::table) {
      unknown_table(item, at, true);
    } else {
      read_key(item, "subnet", at, layer);
    }
  }
}

void Loader::read_override(std::string_view text) {
  const auto equals = text.find('=');
  const auto path = text.substr(0, equals);
  const auto dot = std::min(path.find('.'), path.size());
  if (equals == std::string_view::npos || dot == path.size()) {
    errors_.push_back({.file = std::string(kOverride),
                       .found = printable(text),
                       .expected = "KEY=VALUE with a key such as lids.lmc",
                       .hint = equals == std::string_view::npos ? "" : hint_for_key("", path)});
    return;
  }
  const auto table = path.substr(0, dot);
  const auto old = renamed(table, path.substr(dot + 1));
  const auto* key = schema_.find(table, old ? old->now : path.substr(dot + 1));
  const Spot at{
      .file = std::string(kOverride), .key = printable(path), .context = context_, .errors = errors_};
  auto value = override_value(text.substr(equals + 1), key != nullptr ? key->form : Form::text);
  value.key = path.substr(dot + 1);
  if (table == "subnet")
    return at.refuse(value,
                     "a subnet's own keys stand in the file only; --port names subnets on the command line");
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

Config Loader::take() {
  Config config;
  config.log = std::move(base_.settings.log);
  config.api = std::move(base_.settings.api);
  config.store = std::move(base_.settings.store);
  config.warnings = std::move(warnings_);
  config.base = base_.settings.subnet;
  config.subnets.clear();
  for (auto& layer : subnets_) config.subnets.push_back(std::move(layer.settings.subnet));
  if (config.subnets.empty()) config.subnets.push_back(std::move(base_.settings.subnet));
  return config;
}

}  // namespace smd::config
