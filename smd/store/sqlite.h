// SPDX-License-Identifier: Apache-2.0
#pragma once
// SQLite's C API as far as the store needs it: the only place that includes it is sqlite.cpp.

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace smd::store {

/// A value of a column.
using Cell = std::variant<std::int64_t, std::string>;
using Cells = std::vector<Cell>;

struct SqlError {
  enum class Kind : std::uint8_t {
    corrupt,  ///< what is in the file cannot be right
    full,
    read_only,
    busy,  ///< another process has it locked
    other,
  };
  Kind kind = Kind::other;
  std::string text;  ///< "database or disk is full"
};
template <class T>
using SqlResult = std::expected<T, SqlError>;

/// A prepared statement. Lives shorter than its connection.
class Statement {
 public:
  /// Runs it with these values, to its end; rows are dropped.
  SqlResult<void> run(const Cells& values);
  /// The same; all rows, in memory at once.
  SqlResult<std::vector<Cells>> rows(const Cells& values);

 private:
  friend class Connection;
  struct Close {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  SqlResult<void> bind(const Cells& values);
  SqlError error() const;

  std::unique_ptr<sqlite3_stmt, Close> statement_;
};

/// One open database file. Used by one thread at a time.
class Connection {
 public:
  enum class Mode : std::uint8_t { create, read_only, immutable };

  /// `vfs`: a registered file layer; empty: the operating system's.
  static SqlResult<Connection> open(const std::string& path, Mode mode, const std::string& vfs = {});

  /// Statements without values and without rows that matter, separated by ';'.
  SqlResult<void> execute(const std::string& sql);
  /// Ends a transaction that failed. SQLite may have done so by itself; then there is nothing to do.
  void roll_back();
  /// Of one SQL statement; `corrupt` and the like as SqlError has it.
  SqlResult<Statement> prepare(std::string_view sql);
  /// Prepares and runs one statement; all rows, in memory at once.
  SqlResult<std::vector<Cells>> rows(std::string_view sql, const Cells& values = {});
  /// The one number that a PRAGMA answers.
  SqlResult<std::int64_t> number(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Connection(sqlite3* connection) : connection_(connection) {}
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace smd::store
