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
#include "smd/policy/policies.h"
#include "smd/registry/registry.h"
#include "smd/store/replica_state.h"
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

/// One table of the file.
struct Table {
  std::string_view table;
  std::span<const Column> key;    ///< after the subnet's name, which every table has first
  std::span<const Column> value;  ///< may be empty

  std::string create() const;  ///< "CREATE TABLE IF NOT EXISTS ..."
  std::string select() const;  ///< by subnet, in the order of the key
  std::string put() const;     ///< subnet, key, value
  std::string erase() const;   ///< by subnet and key
  std::string clear() const;   ///< by subnet
};

/// A table that holds a part of State.
template <class State>
struct KindOf : Table {
  /// The rows by which `now` differs from `before`.
  void (*difference)(const State& before, const State& now, const ChangeSink& sink);
  /// Puts a row (key, then value) into `into`; false where it makes no sense.
  bool (*decode)(const Cells& row, State& into);
  /// Takes the row with this key out of `into`, where it is there; false where the key makes no sense. Null:
  /// only states as a whole are read.
  bool (*erase)(const Cells& key, State& into) = nullptr;
};
using Kind = KindOf<sm::Stored>;
using RegistryKind = KindOf<sa::Registry>;
using PolicyKind = KindOf<policy::Policies>;
using ReplicaKind = KindOf<ReplicaState>;

/// In the order in which rows are read and written.
std::span<const Kind> kinds();
/// The same for what clients have registered.
std::span<const RegistryKind> registry_kinds();
/// The same for partitions and tokens of the API.
std::span<const PolicyKind> policy_kinds();
/// The same for where a copy of another SM's state stands. Not part of what is copied.
std::span<const ReplicaKind> replica_kinds();

}  // namespace smd::store
