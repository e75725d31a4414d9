// SPDX-License-Identifier: Apache-2.0
#pragma once
// The copy in etcd: to a standby it is the master, whose words are read from etcd.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mad/clock.h"
#include "smd/etcd/agent.h"
#include "smd/etcd/client.h"
#include "smd/etcd/layout.h"
#include "smd/etcd/left.h"

namespace smd::etcd {

/// All of it outlives the follower.
struct FollowerParts {
  mad::Clock& clock;
  Clients& clients;
  Layout layout;
  std::string subnet{};          ///< as the configuration names it
  std::function<Guid()> self{};  ///< port GUID of our SM; 0: not known yet
};

/// Reads every second, and at once when a watch says that something has changed. Reads are of one revision: a
/// snapshot that is replaced meanwhile is read to its end, or (compacted) the one after it from its
/// beginning.
class Follower final : public Agent {
 public:
  Follower(FollowerParts parts, ClientPtr client) : parts_(std::move(parts)), client_(std::move(client)) {}

  /// Until it is closed, or etcd does not answer.
  asio::awaitable<void> run(std::shared_ptr<Follower> self);
  /// Wakes run() at each change of the live keys. Until it is closed; a watch that ends is begun again after
  /// a second.
  asio::awaitable<void> watch(std::shared_ptr<Follower> self);

  asio::awaitable<bool> take(BytesPtr frame) override;
  void close() override;

 private:
  Answered<bool> step();
  Answered<bool> look();
  void say_role(const Live& live);
  Answered<bool> catch_up(Live live);
  Answered<bool> give(Span span, RangeAsk ask, std::uint64_t from, std::uint64_t before);
  Answered<bool> fence();
  Answered<bool> tell();
  asio::awaitable<bool> leave(BytesPtr frame);
  bool asks() const { return asked_.has_value(); }

  FollowerParts parts_;
  ClientPtr client_, watching_;
  bool look_ = true;
  mad::TimePoint look_due_{}, role_due_{}, tell_due_{}, renew_due_{};
  std::int64_t revision_ = 0;  ///< of the last look
  replica::Role said_{};
  std::optional<replica::Resume> asked_;  ///< by the standby; nothing: it takes nothing
  Position given_{};                      ///< up to here
  Guid given_source_{};
  unsigned again_ = 0;        ///< looks without success
  std::string last_digests_;  ///< given
  std::optional<replica::Refuse> refused_;
  Position acked_{}, told_{};  ///< by the standby; in etcd
  std::int64_t lease_ = 0;     ///< of what we tell
  std::shared_ptr<LeftWriter> leaving_;
  mad::WaitList wake_;
};

}  // namespace smd::etcd
