// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a master has committed, as frames that any number of senders give away at their own pace.

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "smd/replica/frames.h"

namespace smd::replica {

using BytesPtr = std::shared_ptr<const Bytes>;

/// The whole state at one position.
struct Snapshot {
  Position of{};
  std::vector<BytesPtr> chunks;  ///< frames; at least one
};

/// Frames of a snapshot of `kept`, each of about 64 KB. Pure.
std::shared_ptr<const Snapshot> make_snapshot(const Kept& kept, Position at, Guid source);

/// Of one mastership after the other. On one thread.
class Journal {
 public:
  /// A mastership begins: no transaction of an earlier one is given away any more.
  void begin(Position at, Guid source);
  void end() { active_ = false; }  ///< nothing is given away until the next begin()
  bool active() const { return active_; }
  Position latest() const { return latest_; }
  Guid source() const { return source_; }

  /// Adds the transaction that follows latest(). The oldest ones are dropped where all together are above
  /// kKept bytes.
  void add(Changes changes);
  /// The frame of the transaction after `number`; null where it is no longer kept, or not there yet.
  BytesPtr after(std::uint64_t number) const;

  /// Replaces the snapshot.
  void set_snapshot(std::shared_ptr<const Snapshot> snapshot) { snapshot_ = std::move(snapshot); }
  /// One after which every transaction is kept; null where there is none.
  std::shared_ptr<const Snapshot> snapshot() const;

 private:
  /// Bytes of transactions that are kept for senders that are behind: a snapshot costs more than these only
  /// where it is larger.
  static constexpr std::size_t kKept = std::size_t{32} << 20U;
  bool active_ = false;
  Position latest_{};
  Guid source_{};
  std::deque<BytesPtr> transactions_;  ///< the last one is that of latest_
  std::size_t bytes_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
};

/// What one standby is sent. Pure; refers to a journal that outlives it.
class Sender {
 public:
  explicit Sender(const Journal& journal) : journal_(journal) {}

  /// The standby asks for the stream from `from` on. Where its position is of another SM it gets a snapshot.
  void resume(const Resume& from);
  /// The standby has refused: it is sent nothing until it asks again.
  void refused() { asked_.reset(); }
  /// All up to here is on the standby's disk. False: it is a position of another SM's state, and counts
  /// nothing (two may have begun the same epoch, each in its part of a fabric).
  bool acknowledged(Position at);
  Position acked() const { return acked_; }
  /// All that was committed is on the standby's disk.
  bool is_current() const { return journal_.active() && acked_ == journal_.latest(); }

  struct Next {
    BytesPtr frame;               ///< null: nothing to send now
    bool needs_snapshot = false;  ///< the journal is to be given one first
  };
  /// The next frame of the stream, which counts as sent: a transaction, or a chunk of a snapshot where the
  /// standby is too far behind.
  Next next();

 private:
  Position sent() const;

  const Journal& journal_;
  std::optional<Resume> asked_;
  bool has_other_ = false;                    ///< when it asked it had what is not of this stream
  Position at_{};                             ///< sent so far
  std::shared_ptr<const Snapshot> snapshot_;  ///< while it is sent
  std::size_t chunk_ = 0;
  Position acked_{};
};

}  // namespace smd::replica
