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

/// What the rows read and write: what is of the whole process, and one subnet.
struct Settings {
  LogConfig log{};
  ApiConfig api{};
  StoreConfig store{};
  SubnetConfig subnet{};
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Key {
  std::string_view table;
  std::string_view name;
  std::string_view opensm;  ///< OpenSM's option of the same meaning; empty: none
  std::string_view doc;     ///< the first sentence says what it is
  Form form = Form::text;
  std::string allowed{};
  std::function<void(const Value&, const Spot&, Settings&)> read{};
  std::function<std::string(const Settings&)> show{};     ///< the value as TOML
  std::function<std::string(const Settings&)> explain{};  ///< what the value means; may be absent

  std::string path() const;  ///< "lids.lmc"
};

/// As it stands in the file: "[lids]", "[[subnet]]".
std::string heading(std::string_view table);

struct TableDoc {
  std::string_view name;
  std::string_view doc;
  bool of_process = false;  ///< stands outside of [[subnet]] only
};

/// A schema is a value: rows in the order of the shipped file. [[subnet]]'s own keys have the table "subnet".
struct Schema {
  std::vector<TableDoc> tables{};
  std::vector<Key> keys{};

  const Key* find(std::string_view table, std::string_view name) const;
  std::vector<const Key*> keys_of(std::string_view table) const;
  bool has_table(std::string_view table) const;
  bool of_process(std::string_view table) const;
};

/// A key that had another name. The old one is read for one release, with a warning.
struct Renamed {
  std::string_view table;
  std::string_view before;
  std::string_view now;
  std::int64_t more = 0;  ///< what a whole number of the old key is less than the same of the new one
};

/// Nothing where no key of `table` was ever called so.
std::optional<Renamed> renamed(std::string_view table, std::string_view before);

Schema make_schema();

}  // namespace smd::config
