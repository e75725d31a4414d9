// SPDX-License-Identifier: Apache-2.0
#include "smd/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <cstring>

namespace smd::store {
namespace {

/// A commit of another process on the same file takes milliseconds; a checkpoint on a slow disk, seconds.
constexpr int kBusyMilliseconds = 5000;

SqlError::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:  // a table or column that should be there is not
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return SqlError::Kind::corrupt;
    case SQLITE_FULL:
      return SqlError::Kind::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return SqlError::Kind::busy;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return SqlError::Kind::read_only;
    default:
      return SqlError::Kind::other;
  }
}

/// SQLite's words, and the operating system's where it was an operation on a file that went wrong.
SqlError error_of(sqlite3* connection, int code) {
  const int primary = code & 0xff;
  std::string text = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if (connection != nullptr && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    std::array<char, 128> buffer{};
    const int number = sqlite3_system_errno(connection);
    if (number != 0) text += fmt::format(" ({})", strerror_r(number, buffer.data(), buffer.size()));
  }
  return {kind_of(code), std::move(text)};
}

Cell cell_of(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
    return sqlite3_column_int64(statement, column);
  const auto* text = sqlite3_column_text(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  if (text == nullptr) return std::string();
  std::string copy(size, '\0');
  std::memcpy(copy.data(), text, size);
  return copy;
}

}  // namespace

void Statement::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Connection::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

SqlError Statement::error() const {
  auto* connection = sqlite3_db_handle(statement_.get());
  return error_of(connection, sqlite3_extended_errcode(connection));
}

SqlResult<void> Statement::bind(const Cells& values) {
  int index = 0;
  for (const auto& value : values) {
    ++index;
    const auto* text = std::get_if<std::string>(&value);
    const int code =
        text != nullptr
            ? sqlite3_bind_text64(statement_.get(), index, text->data(), text->size(), nullptr, SQLITE_UTF8)
            : sqlite3_bind_int64(statement_.get(), index, std::get<std::int64_t>(value));
    if (code != SQLITE_OK) return std::unexpected(error());
  }
  return {};
}

SqlResult<void> Statement::run(const Cells& values) {
  const auto got = rows(values);
  if (!got) return std::unexpected(got.error());
  return {};
}

SqlResult<std::vector<Cells>> Statement::rows(const Cells& values) {
  // A text is bound without a copy: `values` lives until the statement is reset.
  if (auto bound = bind(values); !bound) return std::unexpected(bound.error());
  std::vector<Cells> all;
  int code = sqlite3_step(statement_.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(statement_.get())) {
    auto& row = all.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i)
      row.push_back(cell_of(statement_.get(), i));
  }
  std::expected<std::vector<Cells>, SqlError> result;
  if (code == SQLITE_DONE) {
    result = std::move(all);
  } else {
    result = std::unexpected(error());
  }
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  return result;
}

SqlResult<Connection> Connection::open(const std::string& path, Mode mode, const std::string& vfs) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  flags |= mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  std::string uri = "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    uri += special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  if (mode == Mode::immutable) uri += "?immutable=1";
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &raw, flags, vfs.empty() ? nullptr : vfs.c_str());
  Connection connection(raw);
  if (code != SQLITE_OK) return std::unexpected(error_of(raw, code));
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  return connection;
}

SqlResult<void> Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error_of(connection_.get(), code));
  return {};
}

void Connection::roll_back() { sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }

SqlResult<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error_of(connection_.get(), code));
  return Statement(raw);
}

SqlResult<std::vector<Cells>> Connection::rows(std::string_view sql, const Cells& values) {
  auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  return statement->rows(values);
}

SqlResult<std::int64_t> Connection::number(std::string_view sql) {
  const auto found = rows(sql);
  if (!found) return std::unexpected(found.error());
  if (found->size() != 1 || found->front().size() != 1) return 0;
  const auto* number = std::get_if<std::int64_t>(&found->front().front());
  return number != nullptr ? *number : 0;
}

}  // namespace smd::store
