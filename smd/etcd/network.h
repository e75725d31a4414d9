// SPDX-License-Identifier: Apache-2.0
#pragma once
// etcd in the place of peers: a master finds one standby there, and a standby one master.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mad/backoff.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "smd/etcd/client.h"
#include "smd/etcd/layout.h"
#include "smd/etcd/publisher.h"
#include "smd/log/log.h"
#include "smd/replica/byte_stream.h"

namespace smd::etcd {

/// The only peer that there is.
inline constexpr auto* kPeer = "etcd";

/// All of it outlives the network.
struct NetworkParts {
  asio::any_io_executor executor;
  mad::Clock& clock;
  log::Log log;
  std::unique_ptr<Clients> clients;
  std::string prefix{}, subnet{};  ///< of the keys
  std::function<Guid()> self{};    ///< port GUID of our SM; 0: not known yet
};

/// What keeps etcd from taking the copy is said once in the log, and when it is over.
class EtcdNetwork final : public replica::Network {
 public:
  explicit EtcdNetwork(NetworkParts parts);
  ~EtcdNetwork() override;

  /// The stream of the SM that has written last; `peer` is kPeer.
  asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> connect(std::string peer) override;
  /// A stream that takes what we commit as master. One at a time.
  asio::awaitable<std::expected<replica::ByteStreamPtr, std::string>> accept() override;
  std::vector<replica::StandbyCopy> copies() const override;
  std::string failure() const override { return error_ ? error_->text : std::string(); }
  bool carries_calls() const override { return false; }
  asio::awaitable<void> stop() override;

 private:
  asio::awaitable<void> publish(std::shared_ptr<Publisher> publisher);
  asio::awaitable<bool> reachable(ClientPtr client);
  void failed(const Error& error);
  void works(bool written);

  NetworkParts parts_;
  Layout layout_;
  std::optional<Error> error_;
  mad::Backoff pause_{std::chrono::seconds(1), std::chrono::seconds(10)};  ///< before the next publisher
  bool accepting_ = false;
  std::shared_ptr<Publisher> publisher_;  ///< while it runs
  mad::WaitList turn_;
  mad::TaskGroup tasks_;
};

}  // namespace smd::etcd
