// SPDX-License-Identifier: Apache-2.0
#pragma once
// A schema with arrays of tables that no product has: [[item]], and [[sm.level]] beside the keys of [sm].

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/blocks.h"
#include "config/rows.h"
#include "config/scalars.h"
#include "config/schema.h"
#include "config/toml_reader.h"

namespace smd::config {

struct Item {
  std::string name{};
  std::uint32_t low = 1;
  std::uint32_t high = 10;
  bool enabled = true;
  Duration wait = std::chrono::seconds(1);
  std::vector<Guid> ports{};
  friend bool operator==(const Item&, const Item&) = default;
};

struct Level {
  std::uint8_t sl = 0;
  std::uint32_t share = 20;
  friend bool operator==(const Level&, const Level&) = default;
};

inline Codec<std::vector<Item>> item_codec() {
  const auto in_order = [](const Item& item, const Value& table, const Spot& at) {
    if (item.low > item.high)
      at.refuse(table, fmt::format("low ({}) is above high ({})", item.low, item.high));
  };
  return blocks<Item>(
      {block_key({.name = "name",
                  .doc = "What it is called.",
                  .example = "\"a\"",
                  .required = true,
                  .unique = true},
                 &Item::name,
                 text("letters",
                      [](const std::string& name) {
                        return !name.empty() && name.find_first_not_of("abcdefghij") == std::string::npos;
                      })),
       block_key({.name = "low", .doc = "The lowest.", .opensm = "item_low"}, &Item::low,
                 whole<std::uint32_t>(1, 10)),
       block_key({.name = "high", .doc = "The highest."}, &Item::high, whole<std::uint32_t>(1, 10)),
       block_key({.name = "enabled", .doc = "Whether it counts."}, &Item::enabled,
                 flag("counts", "does not count")),
       block_key({.name = "wait", .doc = "How long it waits.", .example = "\"2s\""}, &Item::wait,
                 duration(std::chrono::milliseconds(1), std::chrono::hours(1))),
       block_key({.name = "ports", .doc = "Where it is."}, &Item::ports, guids())},
      {.check = in_order, .short_form = {}});
}

inline Codec<std::vector<Level>> level_codec() {
  return blocks<Level>(
      {block_key({.name = "sl", .doc = "The service level.", .required = true, .unique = true}, &Level::sl,
                 whole<std::uint8_t>(0, 15)),
       block_key({.name = "share", .doc = "Of the link."}, &Level::share, percent())});
}

/// The value of a text, as a file has it.
inline Value value_of(const std::string& toml) {
  return read_toml("value = " + toml, "text").root.items.at(0);
}

/// Keeps a list as the text that shows it: Settings has no member for the structs above. So each test of
/// the schema also reads what was shown.
template <class T>
Codec<std::string> kept_as_text(const Codec<T>& list) {
  static const ConfigContext none;
  Codec<std::string> codec;
  codec.form = list.form;
  codec.allowed = list.allowed;
  codec.block_keys = list.block_keys;
  codec.read = [list](const Value& value, const Spot& spot) -> std::optional<std::string> {
    const auto found = list.read(value, spot);
    return found ? std::optional(list.show(*found)) : std::nullopt;
  };
  codec.show = [](const std::string& text) { return text.empty() ? "[]" : text; };
  codec.show_blocks = [list](const std::string& text) {
    std::vector<ConfigError> errors;
    const Spot spot{.file = "text", .key = "value", .context = none, .errors = errors};
    const auto found = list.read(value_of(text.empty() ? "[]" : text), spot);
    return list.show_blocks(found.value());
  };
  return codec;
}

inline const Schema& item_schema() {
  static const Schema made = [] {
    Schema schema;
    schema.tables = {{.name = "log", .doc = "Log.", .of_process = true},
                     {.name = "sm", .doc = "SM."},
                     {.name = "sa", .doc = "SA."},
                     {.name = "subnet", .doc = "Subnets."}};
    for (const auto rows : {log_keys, sm_keys, sa_keys, subnet_keys}) {
      for (auto& key : rows()) schema.keys.push_back(std::move(key));
    }
    schema.keys.push_back(row(
        {.table = "", .name = "item", .opensm = "", .doc = "Items of a test."},
        [](auto& settings) -> auto& { return settings.subnet.names.map; }, kept_as_text(item_codec())));
    schema.keys.push_back(row(
        {.table = "sm", .name = "level", .opensm = "", .doc = "Levels of a test."},
        [](auto& settings) -> auto& { return settings.subnet.routing.tables_file; },
        kept_as_text(level_codec())));
    return schema;
  }();
  return made;
}

}  // namespace smd::config
