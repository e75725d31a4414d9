// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "config/describe_blocks.h"
#include "config/schema.h"

namespace smd::config {
namespace {

constexpr std::size_t kFewBlocks = 10;
constexpr std::size_t kAllBlocks = std::numeric_limits<std::size_t>::max();

/// Up to the first full stop or colon that ends a clause, without it.
std::string_view first_clause(std::string_view doc) {
  const auto end = std::min({doc.find(". "), doc.find(": "), doc.size() - 1});
  return doc.substr(0, end);
}

std::string describe_key(const Key& key, const Settings& settings) {
  static constexpr std::string_view kUnset = "\"\"";
  const auto value = key.show(settings);
  const bool changed = value != key.show(Settings{});
  const auto meaning = key.explain ? key.explain(settings) : std::string();
  const auto shown = fmt::format("{} {} = {}", changed ? '*' : ' ', key.name, shortened(value));
  auto line = fmt::format("{:<42}  {}", shown, value == kUnset ? "not given" : meaning);
  if (meaning.empty() && value != kUnset) line += first_clause(key.doc);
  if (changed) line += fmt::format(" (default {})", key.show(Settings{}));
  return line + "\n";
}

/// The keys of a table, or the arrays of tables that stand by themselves (`table` is empty).
std::string describe_keys(const Schema& schema, std::string_view table, const Settings& settings,
                          const Settings& base) {
  std::string out;
  for (const auto* key : schema.keys_of(table)) {
    const auto mark = key->show(settings) == key->show(Settings{}) ? "  " : "* ";
    out += key->is_array() ? mark + describe_blocks(*key, settings, base, kAllBlocks)
                           : describe_key(*key, settings);
  }
  return out;
}

/// The keys of `table` that differ, by their whole names: [lids] stands nowhere on the screen.
void add_changed(const Schema& schema, std::string_view table, const Settings& settings, const Settings& base,
                 Changed& into) {
  for (const auto* key : schema.keys_of(table)) {
    const auto value = key->show(settings);
    const auto usual = key->show(Settings{});
    const bool replaced = key->is_array() && replaces_blocks(*key, settings, base);
    if (value == usual && !replaced) continue;
    into.keys += value == usual ? 0U : 1U;
    if (key->is_array()) {
      into.text += "  " + describe_blocks(*key, settings, base, kFewBlocks);
      continue;
    }
    const auto shown = fmt::format("  {} = {}", key->path(), shortened(value));
    const auto meaning = key->explain ? key->explain(settings) : std::string();
    into.text += fmt::format("{:<42}  {}{}(default {})\n", shown, meaning, meaning.empty() ? "" : " ", usual);
  }
}

std::string place_of(const SubnetConfig& subnet) {
  if (subnet.port_guid) return fmt::format("on the port with GUID {}", *subnet.port_guid);
  return subnet.port.empty() ? "on the first usable port" : fmt::format("on port {}", subnet.port);
}

std::string heading_of(const SubnetConfig& subnet) {
  return fmt::format("subnet {}, {}\n", subnet.name.empty() ? "named by its port's GUID" : subnet.name,
                     place_of(subnet));
}

}  // namespace

std::string shortened(std::string value) {
  constexpr std::size_t kLongest = 60;
  if (value.size() <= kLongest) return value;
  return value.substr(0, kLongest) + "...";
}

std::string describe(const Config& config, const Schema& schema) {
  std::string out;
  const Settings process{.log = config.log, .api = config.api, .store = config.store};
  const Settings base{.subnet = config.base};
  const auto add_table = [&](const TableDoc& table, const Settings& settings) {
    out += fmt::format("[{}]\n", table.name) + describe_keys(schema, table.name, settings, base);
  };
  for (const auto& table : schema.tables) {
    if (!table.of_process) continue;
    out += out.empty() ? "" : "\n";
    add_table(table, process);
  }
  for (const auto& subnet : config.subnets) {
    out += "\n" + heading_of(subnet);
    for (const auto& table : schema.tables) {
      if (!table.of_process && table.name != "subnet") add_table(table, {.subnet = subnet});
    }
    out += describe_keys(schema, "", {.subnet = subnet}, base);
  }
  return out;
}

Changed describe_changed(const Config& config, const Schema& schema) {
  Changed found;
  const Settings process{.log = config.log, .api = config.api, .store = config.store};
  const Settings base{.subnet = config.base};
  for (const auto& table : schema.tables) {
    if (table.of_process) add_changed(schema, table.name, process, base, found);
  }
  for (const auto& subnet : config.subnets) {
    found.text += heading_of(subnet);
    for (const auto& table : schema.tables) {
      if (!table.of_process && table.name != "subnet")
        add_changed(schema, table.name, {.subnet = subnet}, base, found);
    }
    add_changed(schema, "", {.subnet = subnet}, base, found);
  }
  return found;
}

}  // namespace smd::config
