// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every key of smd.toml, one row each: reading, checking, `smd check`, the shipped file and the documentation
// all come from these rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/codecs.h"
#include "config/config.h"
#include "config/spot.h"
#include "config/value.h"

namespace smd::config {

/// The target of all rows: the settings of the process and those of one subnet.
struct Settings {
  LogConfig log{};
  ApiConfig api{};
  StoreConfig store{};
  SubnetConfig subnet{};
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// A key of a table, or an array of tables.
struct Key {
  std::string_view table;  ///< empty: an array of tables that stands by itself, such as [[partition]]
  std::string_view name;
  std::string_view opensm;  ///< OpenSM's option of the same meaning; empty: none
  std::string_view doc;     ///< the first sentence says what it is
  Form form = Form::text;
  std::string allowed{};
  /// Writes the value into the settings; what is wrong with it is added to the errors of the Spot.
  std::function<void(const Value&, const Spot&, Settings&)> read{};
  std::function<std::string(const Settings&)> show{};     ///< the value as TOML
  std::function<std::string(const Settings&)> explain{};  ///< what the value means; may be absent

  std::vector<BlockKeyDoc> block_keys{};  ///< of an array of tables; else empty
  /// The blocks of an array of tables, in their order; empty for a key of a table.
  std::function<std::vector<ShownBlock>(const Settings&)> show_blocks{};

  std::string path() const;                              ///< "lids.lmc", "partition"
  bool is_array() const { return !block_keys.empty(); }  ///< an array of tables, which has keys of its own
};

/// The heading in the file: "[lids]", "[[subnet]]".
std::string heading(std::string_view table);
/// The heading of the blocks of an array of tables: "[[sa.prefix_routes]]".
std::string heading(const Key& array);

struct TableDoc {
  std::string_view name;
  std::string_view doc;
  bool of_process = false;  ///< stands outside of [[subnet]] only
};

/// What stands under one heading: a table, or else an array of tables.
struct Section {
  const TableDoc* table = nullptr;
  const Key* array = nullptr;
};

/// A schema is a value: rows in the order of the shipped file. [[subnet]]'s own keys have the table "subnet".
struct Schema {
  std::vector<TableDoc> tables{};
  std::vector<Key> keys{};

  /// Null where no such key is. An empty table: arrays of tables that stand by themselves.
  const Key* find(std::string_view table, std::string_view name) const;
  /// The array of tables that a dotted path names or leads into ("qos.level", "qos.level.name"); else null.
  const Key* find_array(std::string_view path) const;
  /// All keys of a table, arrays of tables too, in the order of the schema.
  std::vector<const Key*> keys_of(std::string_view table) const;
  /// Those of `keys_of` that are written as `name = value`.
  std::vector<const Key*> plain_keys_of(std::string_view table) const;
  /// Those of `keys_of` that are arrays of tables.
  std::vector<const Key*> arrays_of(std::string_view table) const;
  /// As documents have them: arrays of tables follow their table, those without one precede [[subnet]].
  std::vector<Section> sections() const;
  /// True for the tables of the schema, "subnet" too; false for arrays of tables.
  bool has_table(std::string_view table) const;
  /// True for tables of the whole process, which stand outside of [[subnet]] only.
  bool of_process(std::string_view table) const;
};

/// A key that had another name. The old name is read for one release, with a warning.
struct Renamed {
  std::string_view table;
  std::string_view before;
  std::string_view now;
  std::int64_t more = 0;  ///< added to a whole number of the old key
};

/// The renamed key whose old name is `before`; nothing where `table` had no such key.
std::optional<Renamed> renamed(std::string_view table, std::string_view before);

/// All tables and rows of the product.
Schema make_schema();

/// `make_schema()`, made once. Any thread.
const Schema& product_schema();

}  // namespace smd::config
