// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnet administration as its clients see it: MADs of class SA come in, answers go out.

#include <functional>
#include <memory>

#include "mad/transport.h"
#include "smd/log/log.h"
#include "smd/sa/answer.h"

namespace smd::sa {

/// On the thread of the transport. `gsi` and what `source` reads outlive it. A snapshot is looked at once;
/// nobody waits for the manager.
class Server {
 public:
  /// The latest snapshot, from any thread; null before the first sweep.
  using Source = std::function<std::shared_ptr<const sm::Snapshot>()>;
  Server(mad::Transport& gsi, Source source, Settings settings, log::Log log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void set(Settings settings) { settings_ = settings; }

 private:
  void received(std::span<mad::Received> batch);
  void answer_one(const mad::Received& mad, const Directory* directory);
  void look();

  mad::Transport& gsi_;
  Source source_;
  Settings settings_;
  log::Log log_;
  std::shared_ptr<const sm::Snapshot> seen_;
  std::unique_ptr<const Directory> directory_;  ///< of `seen_`
};

}  // namespace smd::sa
