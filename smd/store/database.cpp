// SPDX-License-Identifier: Apache-2.0
#include "smd/store/database.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "smd/store/lock.h"
#include "smd/store/private.h"

namespace smd::store {
namespace {

/// "smd0": tells our files from other SQLite files.
constexpr std::int64_t kApplicationId = 0x736d6430;

/// What makes a file of one version one of the next; new tables need no line here.
struct Step {
  int from;
  std::string_view sql;
};
constexpr std::array kSteps{
    Step{2, "ALTER TABLE mcast_members ADD COLUMN joined_by TEXT NOT NULL DEFAULT '0x0000000000000000';"},
    // LIDs of subscriptions that mean nothing are 0: the rows are found by what is compared.
    Step{3,
         "UPDATE OR REPLACE subscriptions SET lid_begin = 0 WHERE gid <> '::';"
         "UPDATE OR REPLACE subscriptions SET lid_end = 0 WHERE gid <> '::' OR lid_begin = 65535;"}};
/// The first version that a step begins from: earlier ones have none of these tables.
constexpr int kFirstStep = kSteps.front().from;

std::unexpected<SqlError> corrupt(std::string text) {
  return std::unexpected(SqlError{SqlError::Kind::corrupt, std::move(text)});
}

std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix) {
  auto path = file;
  path += suffix;
  return path;
}

std::vector<const Table*> all_tables() {
  std::vector<const Table*> tables;
  for (const auto& kind : kinds()) tables.push_back(&kind);
  for (const auto& kind : registry_kinds()) tables.push_back(&kind);
  for (const auto& kind : policy_kinds()) tables.push_back(&kind);
  for (const auto& kind : replica_kinds()) tables.push_back(&kind);
  return tables;
}

/// In a directory that cannot be written, SQLite reads a file only when it is told that no other process
/// writes.
Connection::Mode mode_of(const Place& place) {
  if (!place.read_only) return Connection::Mode::create;
  std::error_code ignored;
  const auto log = std::filesystem::file_size(beside(place.file(), "-wal"), ignored);
  return ignored || log == 0 ? Connection::Mode::immutable : Connection::Mode::read_only;
}

}  // namespace

Database::Database(Place place, Connection connection)
    : place_(std::move(place)), connection_(std::move(connection)) {}

std::optional<Database::Identity> Database::identity(const std::filesystem::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

bool Database::replaced() const { return identity(place_.file()) != identity_; }

SqlResult<void> Database::check() {
  const auto version = connection_.number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const auto application = connection_.number("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto tables = connection_.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  const bool fresh = *version == 0 && *application == 0 && *tables == 0;
  if (fresh && place_.read_only) return corrupt("the file is empty");
  if (!fresh && *application != kApplicationId) return corrupt("not a file of smd");
  if (*version > kSchemaVersion) {
    return corrupt(fmt::format("version {} of a newer smd; this one knows {}", *version, kSchemaVersion));
  }
  const auto sound = connection_.rows("PRAGMA quick_check(1)");
  if (!sound) return std::unexpected(sound.error());
  if (sound->size() == 1 && sound->front() == Cells{std::string("ok")}) return {};
  const auto* text = sound->empty() ? nullptr : std::get_if<std::string>(&sound->front().front());
  return corrupt(text != nullptr ? *text : "the check of the file says nothing");
}

/// Files of earlier versions are brought on here, one version after the other.
SqlResult<void> Database::bring_up_to_date() {
  // Without the lock, which another process may hold for long.
  if (const auto before = connection_.number("PRAGMA user_version"); before && *before == kSchemaVersion)
    return {};
  if (auto begun = connection_.execute("BEGIN IMMEDIATE"); !begun) return begun;
  const auto version = connection_.number("PRAGMA user_version");
  if (version && *version == kSchemaVersion) return connection_.execute("ROLLBACK");
  std::string sql;
  for (const auto& step : kSteps) {
    // A table that a later version has brought is made as it is now.
    if (version && *version >= kFirstStep && *version <= step.from) sql += step.sql;
  }
  for (const auto* table : all_tables()) sql += table->create();
  sql += fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", kApplicationId,
                     kSchemaVersion);
  auto done = version ? connection_.execute(sql) : std::unexpected(version.error());
  if (!done) connection_.roll_back();
  return done;
}

SqlResult<void> Database::prepare() {
  for (const auto* table : all_tables()) {
    auto put = connection_.prepare(table->put());
    if (!put) return std::unexpected(put.error());
    auto erase = connection_.prepare(table->erase());
    if (!erase) return std::unexpected(erase.error());
    auto clear = connection_.prepare(table->clear());
    if (!clear) return std::unexpected(clear.error());
    prepared_.push_back({std::move(*put), std::move(*erase), std::move(*clear)});
  }
  return {};
}

SqlResult<Database> Database::open_file(const Place& place) {
  if (!place.read_only) {
    // SQLite gives its log the mode of the file.
    make_private_file(place.file(), true);
    for (const auto* suffix : {"-wal", "-shm"}) make_private_file(beside(place.file(), suffix), false);
  }
  auto connection = Connection::open(place.file().string(), mode_of(place), place.vfs);
  if (!connection) return std::unexpected(connection.error());
  Database database(place, std::move(*connection));
  if (auto good = database.check(); !good) return std::unexpected(good.error());
  if (place.read_only) return database;
  // A commit is on the disk when it returns (FULL), and a reader or a crash never sees half of one (WAL).
  auto ready = database.connection_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  if (ready) ready = database.bring_up_to_date();
  if (ready) ready = database.prepare();
  if (!ready) return std::unexpected(ready.error());
  database.identity_ = identity(place.file());
  return database;
}

SqlResult<Database> Database::open(const Place& place) {
  if (place.read_only) return open_file(place);
  // Two processes, each with a subnet of its own, may find the same file corrupt.
  const auto one_at_a_time = FileLock::wait(place.directory / ".smd.db.lock");
  auto database = open_file(place);
  if (database || database.error().kind != SqlError::Kind::corrupt) return database;
  const auto reason = database.error().text;
  auto kept_as = set_file_aside(place);
  if (!kept_as) {
    return std::unexpected(
        SqlError{.text = fmt::format("{}, and it cannot be renamed: {}", reason, kept_as.error())});
  }
  database = open_file(place);
  if (database) database->set_aside_ = {reason, std::move(*kept_as)};
  return database;
}

template <class State>
SqlResult<State> Database::load_state(std::span<const KindOf<State>> kinds, const std::string& subnet) {
  State state;
  for (const auto& kind : kinds) {
    if (place_.read_only) {  // a file of an older smd does not have every table
      const auto there = connection_.rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
                                          {std::string(kind.table)});
      if (there && there->empty()) continue;
    }
    const auto rows = connection_.rows(kind.select(), {subnet});
    if (!rows) return std::unexpected(rows.error());
    for (const auto& row : *rows) {
      if (!kind.decode(row, state)) {
        return corrupt(fmt::format("a row of {} of subnet {} makes no sense", kind.table, subnet));
      }
    }
  }
  return state;
}

SqlResult<sm::Stored> Database::load(const std::string& subnet) { return load_state(kinds(), subnet); }

SqlResult<sa::Registry> Database::load_registry(const std::string& subnet) {
  return load_state(registry_kinds(), subnet);
}

SqlResult<policy::Policies> Database::load_policies(const std::string& subnet) {
  return load_state(policy_kinds(), subnet);
}

SqlResult<ReplicaState> Database::load_replica(const std::string& subnet) {
  return load_state(replica_kinds(), subnet);
}

/// Takes the statements of `kinds` off the front of `statements_left`.
template <class State>
SqlResult<void> Database::write_state(std::span<const KindOf<State>> kinds,
                                      std::span<Prepared>* statements_left, const std::string& subnet,
                                      const State* before, const State* now) {
  const auto prepared = statements_left->first(kinds.size());
  *statements_left = statements_left->subspan(kinds.size());
  if (now == nullptr || now == before) return {};
  const State nothing;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto& statements = prepared[i];
    SqlResult<void> done;
    if (before == nullptr) done = statements.clear.run({subnet});
    if (!done) return done;
    kinds[i].difference(before != nullptr ? *before : nothing, *now, [&](Change change) {
      if (!done) return;
      Cells values{subnet};
      values.insert(values.end(), change.key.begin(), change.key.end());
      if (change.value) values.insert(values.end(), change.value->begin(), change.value->end());
      done = change.value ? statements.put.run(values) : statements.erase.run(values);
      if (place_.steps) ++*place_.steps;
    });
    if (!done) return done;
  }
  return {};
}

SqlResult<void> Database::write_batch(const Batch& batch) {
  std::span<Prepared> statements(prepared_);
  auto done = write_state(kinds(), &statements, batch.subnet, batch.before, batch.now);
  if (done) {
    done =
        write_state(registry_kinds(), &statements, batch.subnet, batch.registry_before, batch.registry_now);
  }
  if (done) {
    done = write_state(policy_kinds(), &statements, batch.subnet, batch.policies_before, batch.policies_now);
  }
  if (done) {
    done = write_state(replica_kinds(), &statements, batch.subnet, batch.replica_before, batch.replica_now);
  }
  return done;
}

SqlResult<void> Database::write(std::span<const Batch> batches) {
  auto done = connection_.execute("BEGIN IMMEDIATE");
  if (!done) return done;
  for (const auto& batch : batches) {
    done = write_batch(batch);
    if (!done) break;
  }
  if (done) done = connection_.execute("COMMIT");
  if (!done) connection_.roll_back();
  return done;
}

std::expected<std::filesystem::path, std::string> set_file_aside(const Place& place) {
  const auto file = place.file();
  std::error_code error;
  unsigned number = 1;
  auto kept_as = beside(file, ".set-aside-1");
  while (std::filesystem::exists(kept_as, error))
    kept_as = beside(file, fmt::format(".set-aside-{}", ++number));
  // The log first: a new file beside an old log would be read together with it.
  std::filesystem::rename(beside(file, "-wal"), beside(kept_as, "-wal"), error);
  if (error && error != std::errc::no_such_file_or_directory) return std::unexpected(error.message());
  std::filesystem::remove(beside(file, "-shm"), error);
  std::filesystem::rename(file, kept_as, error);
  if (error) return std::unexpected(error.message());
  return kept_as;
}

}  // namespace smd::store
