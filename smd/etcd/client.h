// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the copy needs of etcd: questions and transactions, leases, and a watch. HTTP in the daemon, memory in
// tests.

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "mad/asio.h"

namespace smd::etcd {

/// Operations of one transaction: etcd's own limit (--max-txn-ops) unless told otherwise.
inline constexpr std::size_t kMostOperations = 128;

enum class ErrorKind : std::uint8_t {
  unreachable,  ///< no connection, no answer in time, or a malformed answer
  full,         ///< the quota of its database is used up (alarm NOSPACE)
  compacted,    ///< the revision that was asked for is gone
  refused       ///< anything else that etcd says
};

struct Error {
  ErrorKind kind = ErrorKind::unreachable;
  std::string text{};  ///< one line
  friend bool operator==(const Error&, const Error&) = default;
};

/// A key with its value; both are any bytes.
struct Row {
  std::string key{}, value{};
  friend bool operator==(const Row&, const Row&) = default;
};

/// Keys from `key` to before `end`.
struct RangeAsk {
  std::string key{}, end{};
  std::int64_t revision = 0;  ///< as of this revision; 0: now
  std::int64_t limit = 0;     ///< so many rows at most; 0: all
  bool keys_only = false;
};

struct RangeAnswer {
  std::int64_t revision = 0;  ///< of the database, now
  std::vector<Row> rows{};    ///< in the order of their keys
  bool more = false;          ///< the limit has cut them
  friend bool operator==(const RangeAnswer&, const RangeAnswer&) = default;
};

/// A condition: the key has this value, or (absent) is not there.
struct Guard {
  std::string key{}, value{};
  bool absent = false;
};

struct Put {
  std::string key{}, value{};
  std::int64_t lease = 0;  ///< with which the key goes; 0: it stays
};

/// Keys from `key` to before `end` go.
struct Erase {
  std::string key{}, end{};
};

/// All of it is done, or (a guard does not hold) nothing.
struct Transaction {
  std::vector<Guard> guards{};
  std::vector<Put> puts{};
  std::vector<Erase> erases{};
  /// Operations that count for kMostOperations; guards do not.
  std::size_t operations() const { return puts.size() + erases.size(); }
};

struct TransactionAnswer {
  bool done = false;
  std::int64_t revision = 0;
  friend bool operator==(const TransactionAnswer&, const TransactionAnswer&) = default;
};

template <class T>
using Answered = asio::awaitable<std::expected<T, Error>>;

/// One connection, on one io_context's thread; one call at a time. What is cancelled, closed or late ends
/// with an error; after an error the client is of no use.
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  /// Reads keys. Error `compacted`: the revision that was asked for is gone.
  virtual Answered<RangeAnswer> range(RangeAsk ask) = 0;
  /// Sends a transaction of at most kMostOperations operations. After an error it is not known whether it was
  /// done.
  virtual Answered<TransactionAnswer> transact(Transaction transaction) = 0;
  /// The id of a new lease; it ends `time` after its last renewal.
  virtual Answered<std::int64_t> grant(std::chrono::seconds time) = 0;
  /// False: the lease has ended.
  virtual Answered<bool> renew(std::int64_t lease) = 0;
  /// Ends the lease; its keys go.
  virtual Answered<bool> revoke(std::int64_t lease) = 0;
  /// From now on the client only watches: changes of the keys from `key` to before `end`, from `revision` on.
  /// Returns when etcd has begun to answer; always true.
  virtual Answered<bool> watch(std::string key, std::string end, std::int64_t revision) = 0;
  /// After watch(): waits for what etcd says next. The revision up to which something has changed; 0: nothing
  /// has. The error `compacted`: changes were missed.
  virtual Answered<std::int64_t> changed() = 0;
  /// Ends what is under way.
  virtual void close() = 0;
};
using ClientPtr = std::shared_ptr<Client>;

class Clients {
 public:
  Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  virtual ~Clients() = default;
  /// A client that is not connected: it opens a connection of its own with its first call.
  virtual ClientPtr make() = 0;
};

}  // namespace smd::etcd
