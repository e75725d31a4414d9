// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnet administration as its clients see it: MADs of class SA come in, answers go out.

#include <functional>
#include <memory>
#include <vector>

#include "mad/task_group.h"
#include "mad/transport.h"
#include "smd/compute.h"
#include "smd/log/log.h"
#include "smd/sa/answer.h"

namespace smd::sa {

/// On the thread of the transport; the answers are made by `compute`, a batch at a time, so that neither
/// waits for the other. `gsi`, `compute` and what `source` reads outlive it. stop() ends before it dies.
class Server {
 public:
  /// Questions that may wait; those behind are answered with BUSY at once.
  static constexpr std::size_t kQueue = 4096;

  /// The latest snapshot, from any thread; null before the first sweep.
  using Source = std::function<std::shared_ptr<const sm::Snapshot>()>;
  Server(asio::any_io_executor executor, mad::Transport& gsi, sm::Compute& compute, Source source,
         Settings settings, log::Log log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  asio::awaitable<void> stop();
  void set(Settings settings) { settings_ = settings; }

 private:
  struct Reply {
    std::vector<std::uint8_t> bytes;
    mad::LidRoute to;
  };
  void received(std::span<mad::Received> batch);
  asio::awaitable<void> serve();
  std::vector<Reply> answers(const std::vector<mad::Received>& batch, const Settings& settings);
  void look();
  void send(const Reply& reply);

  mad::Transport& gsi_;
  sm::Compute& compute_;
  Source source_;
  Settings settings_;
  log::Log log_;
  std::vector<mad::Received> queue_;
  mad::WaitList wake_;
  // Of the batch in hand only:
  std::shared_ptr<const sm::Snapshot> seen_;
  std::unique_ptr<const Directory> directory_;  ///< of `seen_`
  mad::TaskGroup tasks_;
};

}  // namespace smd::sa
