// SPDX-License-Identifier: Apache-2.0
#pragma once
// The copy in etcd: to the master it is a standby, whose disk is etcd.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/clock.h"
#include "smd/etcd/agent.h"
#include "smd/etcd/client.h"
#include "smd/etcd/layout.h"

namespace smd::etcd {

/// A master that has not written for so long does not count as one that writes.
inline constexpr std::chrono::seconds kLease{5};

/// All of it outlives the publisher.
struct PublisherParts {
  mad::Clock& clock;
  Clients& clients;
  Layout layout;
  std::string subnet{};                        ///< as the configuration names it
  std::function<void(const Error&)> failed{};  ///< the copy cannot be written; it ends then
  std::function<void()> works{};               ///< something was written
};

/// Writes what a master commits: a snapshot, then each transaction, under the epoch of the master. Where
/// another SM has written under a higher one it refuses, as a standby does.
class Publisher final : public Agent {
 public:
  Publisher(PublisherParts parts, ClientPtr client) : parts_(std::move(parts)), client_(std::move(client)) {}

  /// Until it is closed, or something goes wrong.
  asio::awaitable<void> run(std::shared_ptr<Publisher> self);
  /// What standbys say that they have, as long as run().
  asio::awaitable<void> watch_standbys(std::shared_ptr<Publisher> self);

  asio::awaitable<bool> take(BytesPtr frame) override;
  void close() override;
  /// Standbys that read what is written.
  const std::vector<replica::StandbyCopy>& copies() const { return copies_; }

 private:
  struct Item {
    Row row;
    enum class Ends : std::uint8_t { nothing, transaction, snapshot } ends = Ends::nothing;
    Position at{};
    std::uint32_t chunks = 0;
  };
  struct Staging {
    Position of{};
    std::uint32_t next = 0;
  };
  struct Batch {
    Transaction transaction{};
    Head head{};
    std::size_t items = 0, bytes = 0, log_bytes = 0;
    bool has_digests = false, has_snapshot = false;
  };

  Answered<bool> step();
  Answered<bool> wait();
  Answered<bool> claim();
  Answered<bool> resign();
  Answered<bool> renew();
  Answered<bool> flush();
  Batch next_batch() const;
  void written(const Batch& batch);
  void contest(const Live& live, const Term& mine);
  void hear(const replica::Frame& frame);
  void accept(const Opened& opened, BytesPtr frame);
  void accept_chunk(const Opened& opened, const Bytes& frame);
  void add_rows(std::vector<Row> rows, const Item& last);
  bool digests_due() const;
  bool claimed() const { return term_.epoch != 0; }
  bool wants_claim() const { return role_.master && term_.epoch != role_.latest.epoch; }
  void ask_from(const Position& have);
  void acknowledge();
  Answered<bool> read_standbys();
  Answered<bool> take_left();

  PublisherParts parts_;
  ClientPtr client_, asking_, watching_;
  replica::Role role_{};  ///< of the master, as it says
  Term term_{};           ///< under which we write; epoch 0: none
  std::int64_t lease_ = 0;
  mad::TimePoint renew_due_{}, claim_due_{};
  /// Another SM's term, since when, and what the master was told of it.
  Term contested_{};
  mad::TimePoint contested_since_{}, told_at_{};
  std::optional<bool> told_;
  Head head_{};        ///< in etcd
  Position tail_{};    ///< the last transaction in the queue, or in etcd
  Staging staging_{};  ///< of a snapshot that is coming
  std::deque<Item> queue_;
  std::size_t queued_ = 0;     ///< bytes
  std::size_t log_bytes_ = 0;  ///< since the snapshot
  BytesPtr digests_;           ///< to be written; null: none
  Position digests_at_{};
  std::vector<replica::StandbyCopy> copies_;
  bool watched_ = false;   ///< watching_ has begun
  bool left_due_ = false;  ///< another SM has left what clients had registered with it
  mad::WaitList wake_, queue_room_;
};

}  // namespace smd::etcd
