// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clients on the Unix socket.

#include <filesystem>

#include "mad/clock.h"
#include "smd/api/channel.h"
#include "smd/api/listen.h"

namespace smd::api {

class LocalListener final : public Listener {
 public:
  /// `acceptor` listens at `path`, which close() removes. The clock outlives it.
  LocalListener(Protocol::acceptor acceptor, std::filesystem::path path, mad::Clock& clock);

  asio::awaitable<std::unique_ptr<Channel>> next() override;
  void close() override;

 private:
  Protocol::acceptor acceptor_;
  std::filesystem::path path_;
  mad::Clock& clock_;
};

}  // namespace smd::api
