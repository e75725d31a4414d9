// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the copy of a subnet stands in etcd, and how frames are cut into values. docs/replica-protocol.md has
// the keys. Pure.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/etcd/client.h"
#include "smd/replica/frames.h"

namespace smd::etcd {

using replica::Bytes;
using replica::Position;

/// Of the layout; a program of a lower version than min_reader of the head takes nothing.
inline constexpr std::uint16_t kLayout = 1;
/// Bytes of one value: far below what etcd takes in one request (1.5 MiB).
inline constexpr std::size_t kPiece = std::size_t{128} * 1024;
/// Bytes of the values of one transaction.
inline constexpr std::size_t kBatch = std::size_t{256} * 1024;

/// Whose word counts: the holder of the highest epoch. Its text, as the value of a key, is compared in
/// guards.
struct Term {
  std::uint64_t epoch = 0;  ///< 0: none
  Guid port{};              ///< of the SM
  friend auto operator<=>(const Term&, const Term&) = default;
};
/// As it stands in etcd: two numbers of 16 hexadecimal digits with a blank between them.
std::string to_text(const Term& term);
std::optional<Term> term_of(std::string_view text);  ///< nothing: it is none, or its epoch is too large

/// What stands in etcd of a term.
struct Head {
  std::uint16_t min_reader = kLayout;
  Position latest{};    ///< the last transaction
  Guid source{};        ///< the SM whose position that is
  Position snapshot{};  ///< with it the log is complete
  std::uint32_t chunks = 0;
  friend bool operator==(const Head&, const Head&) = default;
};
/// As it stands in etcd: decimal numbers with blanks between them, the last one is kLayout.
std::string to_text(const Head& head);
/// Nothing where the text is none. Its min_reader may be above kLayout: see there.
std::optional<Head> head_of(std::string_view text);

/// As it stands in etcd: epoch and number, decimal.
std::string to_text(const Position& at);
/// Nothing where the text is none.
std::optional<Position> position_of(std::string_view text);

/// Keys from `key` to before `end`.
struct Span {
  std::string key, end;
};

/// The keys of one subnet.
class Layout {
 public:
  Layout(const std::string& prefix, const std::string& subnet);

  // What a standby looks at all the time.
  /// All keys of live/.
  Span live() const;
  std::string epoch() const { return root_ + "live/epoch"; }      ///< Term; the guard of all writes
  std::string alive() const { return root_ + "live/alive"; }      ///< Term; goes with the lease of the master
  std::string head() const { return root_ + "live/head"; }        ///< Head
  std::string digests() const { return root_ + "live/digests"; }  ///< a frame

  /// The frames of a snapshot, from this chunk on.
  Span snapshot(const Position& of, std::uint32_t from = 0) const;
  /// The frames of transactions from one to before another, of one epoch.
  Span log(std::uint64_t epoch, std::uint64_t from, std::uint64_t before) const;
  /// What a snapshot makes superfluous: other snapshots, and the log up to it.
  std::vector<Span> before(const Position& snapshot) const;

  /// The keys of all standbys, and their marks.
  Span standbys() const;
  std::string standby(Guid port) const;  ///< Position; goes with its lease
  /// The port of a key of standby(); nothing for other keys.
  std::optional<Guid> standby_of(std::string_view key) const;

  /// Frames of a snapshot of what clients had registered with the SM of this port, master of a part of the
  /// fabric that has another master now; and among the keys of standbys that they are there, all of them.
  Span left(Guid port) const;
  std::string left_mark(Guid port) const;  ///< number of the frames
  /// The port of a key of left_mark(); nothing for other keys.
  std::optional<Guid> left_mark_of(std::string_view key) const;

  /// A frame as rows, each of kPiece bytes at most.
  std::vector<Row> chunk_rows(const Position& of, std::uint32_t index, std::string_view frame) const;
  /// The same of a frame in log(), and of one in left().
  std::vector<Row> log_rows(const Position& at, std::string_view frame) const;
  std::vector<Row> left_rows(Guid port, std::uint32_t index, std::string_view frame) const;

 private:
  std::string root_;
};

std::optional<std::uint64_t> number_of(std::string_view text);  ///< decimal

/// What stands in etcd of the one who writes, at one revision.
struct Live {
  std::int64_t revision = 0;
  std::string holder_text{};  ///< value of the key of the epoch; empty: there is none
  std::optional<Term> holder{}, alive{};
  std::optional<Head> head{};
  std::string digests{};
  /// The holder of the epoch has written its head.
  bool written() const { return holder && head && head->latest.epoch == holder->epoch; }
};
/// Of the answer to a range of layout.live(). What makes no sense counts as not there.
Live live_of(const RangeAnswer& answer, const Layout& layout);

/// Puts frames together again, from rows in the order of their keys.
class Joiner {
 public:
  /// The first frame is to have the number `next`; then each the one after it.
  explicit Joiner(std::uint64_t next) : next_(next) {}
  /// A whole frame, or nothing yet. The error: a row is missing, or is none of a frame.
  std::expected<std::optional<std::string>, std::string> add(const Row& row);
  std::uint64_t next() const { return next_; }
  bool between() const { return piece_ == 0; }  ///< no frame is there in part

 private:
  std::uint64_t next_;
  std::uint32_t piece_ = 0;
  std::string frame_;
};

/// Of what a master or a standby says, as far as the copy in etcd looks at it.
struct Opened {
  enum class Kind : std::uint8_t { chunk, transaction, digests, other };
  Kind kind = Kind::other;
  Position at{};
  Guid source{};                       ///< of a chunk
  std::uint32_t index = 0, count = 0;  ///< of a chunk
};
/// Of one whole frame, without decoding its rows. `other` also where nothing follows its length.
Opened open_frame(const Bytes& frame);

}  // namespace smd::etcd
