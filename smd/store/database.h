// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file smd.db of a state directory: made, checked, brought to the present version, read, written.

#include <atomic>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smd/store/kinds.h"
#include "smd/store/sqlite.h"

namespace smd::store {

/// Goes up when a kind is added or a table changes.
inline constexpr int kSchemaVersion = 20;

struct Place {
  std::filesystem::path directory;
  std::string vfs{};       ///< SQLite's file layer, for tests; empty: the operating system's
  bool read_only = false;  ///< nothing is made, changed or set aside
  std::shared_ptr<std::atomic<std::uint64_t>>
      steps{};  ///< counts rows as they are written; null: not counted
  std::filesystem::path file() const { return directory / "smd.db"; }  ///< of the database itself
};

/// A file that could not be used and was renamed.
struct SetAside {
  std::string reason;
  std::filesystem::path kept_as;
};

/// One subnet's part of a transaction.
struct Batch {
  std::string subnet;
  const sm::Stored* before = nullptr;  ///< what the file holds; null: not known, all rows are replaced
  const sm::Stored* now = nullptr;
  const sa::Registry* registry_before = nullptr;
  const sa::Registry* registry_now = nullptr;  ///< null: is left alone
  const policy::Policies* policies_before = nullptr;
  const policy::Policies* policies_now = nullptr;  ///< null: is left alone
  const ReplicaState* replica_before = nullptr;
  const ReplicaState* replica_now = nullptr;  ///< null: is left alone
};

/// Used by one thread at a time.
class Database {
 public:
  /// Sets a file aside that is corrupt, foreign or newer than this program, and begins a new one.
  static SqlResult<Database> open(const Place& place);

  /// Fails with `corrupt` where a row makes no sense.
  SqlResult<sm::Stored> load(const std::string& subnet);
  /// What its clients had registered; fails as load().
  SqlResult<sa::Registry> load_registry(const std::string& subnet);
  /// What the API has made; fails as load().
  SqlResult<policy::Policies> load_policies(const std::string& subnet);
  /// Where the copy of another SM's state stands; fails as load().
  SqlResult<ReplicaState> load_replica(const std::string& subnet);
  /// All or nothing, on the disk when it returns.
  SqlResult<void> write(std::span<const Batch> batches);

  /// Whether the open file was removed or replaced in its folder.
  bool replaced() const;
  /// What open() set aside.
  const std::optional<SetAside>& set_aside() const { return set_aside_; }

 private:
  struct Prepared {
    Statement put, erase, clear;
  };
  struct Identity {
    std::uint64_t device = 0, inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  Database(Place place, Connection connection);
  static SqlResult<Database> open_file(const Place& place);
  static std::optional<Identity> identity(const std::filesystem::path& file);
  SqlResult<void> check();
  SqlResult<void> bring_up_to_date();
  SqlResult<void> prepare();
  template <class State>
  SqlResult<State> load_state(std::span<const KindOf<State>> kinds, const std::string& subnet);
  template <class State>
  SqlResult<void> write_state(std::span<const KindOf<State>> kinds, std::span<Prepared>* statements_left,
                              const std::string& subnet, const State* before, const State* now);
  SqlResult<void> write_batch(const Batch& batch);

  Place place_;
  Connection connection_;
  std::vector<Prepared> prepared_;  ///< of all kinds, in the order of all_tables()
  std::optional<Identity> identity_;
  std::optional<SetAside> set_aside_;
};

/// Renames smd.db, and SQLite's own files next to it, to a name that is free.
std::expected<std::filesystem::path, std::string> set_file_aside(const Place& place);

}  // namespace smd::store
