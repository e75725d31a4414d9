// SPDX-License-Identifier: Apache-2.0
#include "config/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "config/refused_policy.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

/// "partitions.file", "subnet[0].partition[1].full"
bool is_of_policy(std::string_view key) {
  if (key.starts_with("subnet[")) key.remove_prefix(std::min(key.find('.'), key.size() - 1) + 1);
  const auto table = key.substr(0, key.find_first_of(".["));
  return table == "partitions" || table == "partition" || table == "group";
}

/// "qos.policy_file", "qos.vlarb_low", "subnet[0].qos.rule[1].level"
bool is_of_qos_policy(std::string_view key) {
  if (key.starts_with("subnet[")) key.remove_prefix(std::min(key.find('.'), key.size() - 1) + 1);
  return key.starts_with("qos.");
}

std::string lines_of(const std::vector<ConfigError>& errors) {
  std::string lines;
  for (const auto& error : errors) lines += (lines.empty() ? "" : "\n") + to_string(error);
  return lines;
}

}  // namespace

Value as_now(const Renamed& old, Value value) {
  if (value.kind == Value::Kind::whole) value.whole += old.more;
  return value;
}

Loader::Loader(std::filesystem::path file, const ConfigContext& context, const Schema& schema)
    : schema_(schema), file_(std::move(file)), context_(context) {
  if (!file_.empty()) base_.settings.subnet.source.name = file_.string();
}

Spot Loader::spot(std::string key) {
  auto& errors = is_of_policy(key) ? policy_errors_ : is_of_qos_policy(key) ? qos_errors_ : errors_;
  return {.file = file_.string(),
          .key = std::move(key),
          .folder = file_.parent_path(),
          .context = context_,
          .errors = errors,
          .all_was_read = all_was_read_};
}

void Loader::read_document(const Value& root, bool all_was_read) {
  all_was_read_ = all_was_read;
  root_ = &root;
  const Value* subnets = nullptr;
  for (const auto& item : root.items) {
    if (item.key == "subnet") {
      subnets = &item;
    } else if (schema_.has_table(item.key)) {
      read_table(item, item.key, base_);
    } else if (const auto* array = schema_.find("", item.key)) {
      set(*array, item, spot(item.key), base_);
    } else {
      unknown_table(item, spot(printable(item.key)), false);
    }
  }
  // Last, in whatever order the file has them: a [[subnet]] starts from all other tables.
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
  unknown_key(value, table, at, !into.prefix.empty());
}

void Loader::set(const Key& key, const Value& value, const Spot& at, Layer& into) {
  const auto before = at.errors.size();
  key.read(value, at, into.settings);
  if (at.errors.size() != before) into.broken.emplace(key.table.empty() ? key.name : key.table);
  into.places[key.path()] = {.file = at.file, .line = value.line, .key = at.key, .found = value.spelled};
}

void Loader::warn_of(const Renamed& old, const Value& value, const Spot& at) {
  ConfigError warning{.file = at.file,
                      .line = value.key_line,
                      .key = at.key,
                      .expected = fmt::format("called {} now", old.now),
                      .hint = "the next release knows the new name only",
                      .old_name = true};
  if (old.more != 0) warning.expected += fmt::format(", whose value is {} more", old.more);
  if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
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
  for (const auto& item : table.items)
    read_subnet_item(item, spot(layer.prefix + printable(item.key)), layer);
}

void Loader::read_subnet_item(const Value& item, const Spot& at, Layer& layer) {
  const auto* key = schema_.find("subnet", item.key);
  if (key == nullptr) key = schema_.find("", item.key);
  if (key != nullptr) return set(*key, item, at, layer);
  if (schema_.of_process(item.key)) {
    return at.refuse(item,
                     fmt::format("[{}] is for the whole process: it stands outside of [[subnet]]", item.key));
  }
  if (item.key != "subnet" && schema_.has_table(item.key)) return read_table(item, item.key, layer);
  if (item.is_table()) return unknown_table(item, at, true);
  if (item.is_array_of_tables()) return unknown_array(item, "", at, true);
  read_key(item, "subnet", at, layer);
}

/// While QoS is off, whether by default or by name, a policy file need not be right. A value that is no name
/// of a file is an error all the same, and so are all others while it is not known whether QoS is off.
void Loader::warn_of_unused_policy_file() {
  const auto is_off = [](const Layer& layer) { return !layer.settings.subnet.qos.enabled; };
  const auto is_enabled_wrong = [](const ConfigError& error) { return error.key.ends_with("qos.enabled"); };
  if (!(subnets_.empty() ? is_off(base_) : std::ranges::all_of(subnets_, is_off))) return;
  const auto of_file = [&](const ConfigError& error) {
    return (error.key.ends_with("qos.policy_file") && error.found.empty()) || error.file != file_.string();
  };
  if (std::ranges::none_of(qos_errors_, of_file) || std::ranges::any_of(qos_errors_, is_enabled_wrong))
    return;
  std::ranges::copy_if(qos_errors_, std::back_inserter(warnings_), of_file);
  std::erase_if(qos_errors_, of_file);
  const auto forget = [&](Layer& layer) {
    layer.settings.subnet.qos.policy_file.clear();
    layer.settings.subnet.qos.conf = {};
    if (qos_errors_.empty()) layer.broken.erase("qos");
  };
  forget(base_);
  std::ranges::for_each(subnets_, forget);
}

std::vector<ConfigError> Loader::take_errors(bool without_policy) {
  auto errors = std::move(errors_);
  if (without_policy) return errors;
  errors.insert(errors.end(), policy_errors_.begin(), policy_errors_.end());
  errors.insert(errors.end(), qos_errors_.begin(), qos_errors_.end());
  return errors;
}

/// A QoS policy may refer to groups and partitions, these never to it.
void Loader::refuse_policies() {
  const auto partitions = lines_of(policy_errors_), qos = lines_of(qos_errors_);
  const auto refuse = [&](SubnetConfig& subnet) {
    forget_qos_policy(subnet.qos, qos);
    if (policy_errors_.empty()) return;
    forget_partitions(subnet, qos.empty() ? partitions : partitions + "\n" + qos);
  };
  refuse(base_.settings.subnet);
  for (auto& layer : subnets_) refuse(layer.settings.subnet);
}

Config Loader::take() {
  if (!policy_errors_.empty() || !qos_errors_.empty()) refuse_policies();
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
