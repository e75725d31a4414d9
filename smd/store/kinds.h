// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is stored, one row here a table there. Something new that has to outlive the process is a row of
// kinds(): how it differs from what is stored, and how a row of its table is read.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "smd/decide/stored.h"
#include "smd/store/sqlite.h"

namespace smd::store {

struct Column {
  std::string_view name;
  bool text = false;  ///< else a whole number
};

/// A row that is to be as this says.
struct Change {
  Cells key;                   ///< without the subnet
  std::optional<Cells> value;  ///< nothing: the row is to go
};
using ChangeSink = std::function<void(Change)>;

struct Kind {
  std::string_view table;
  std::span<const Column> key;    ///< after the subnet's name, which every table has first
  std::span<const Column> value;  ///< may be empty
  /// The rows by which `now` differs from `before`.
  void (*difference)(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
  /// Puts a row (key, then value) into `into`; false where it makes no sense.
  bool (*decode)(const Cells& row, sm::Stored& into);

  std::string create() const;  ///< "CREATE TABLE IF NOT EXISTS ..."
  std::string select() const;  ///< by subnet, in the order of the key
  std::string put() const;     ///< subnet, key, value
  std::string erase() const;   ///< by subnet and key
  std::string clear() const;   ///< by subnet
};

/// In the order in which rows are written.
std::span<const Kind> kinds();

}  // namespace smd::store
