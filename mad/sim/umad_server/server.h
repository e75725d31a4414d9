// SPDX-License-Identifier: Apache-2.0
#pragma once
// A simulated fabric for programs outside: the other end of the preload library (mad/sim/attach).

#include <chrono>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/sim/fabric/fabric.h"

namespace smd::sim {

/// The time of nodes in real time; their thread has no Clock.
inline TimePoint real_now() { return std::chrono::steady_clock::now(); }

/// Made anywhere, then on the fabric's thread alone. The socket ends with it.
class Server {
 public:
  /// Listens at `path` (listen_at). The error is one line.
  static std::expected<std::unique_ptr<Server>, std::string> at(const std::filesystem::path& path);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::filesystem::path& path() const;  ///< of its socket
  /// The fabric that programs are attached to; called before the first wait(). `fabric` outlives it.
  void serve(Fabric& fabric);
  /// Until a program says something, wake() is called, or it is time.
  void wait(std::optional<TimePoint> until);
  /// Ends a wait(). From any thread.
  void wake();
  /// Takes what programs have said; call after wait().
  void receive();
  /// What has come for programs goes out. Takes its own clients out of `ready`.
  void hand_out(std::vector<ClientId>& ready);
  /// Ends all connections; no program is accepted any more.
  void end();

  std::size_t sessions() const;  ///< programs connected now
  /// Messages that were thrown away: the program did not read, or wrote nonsense.
  std::uint64_t dropped() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sim
