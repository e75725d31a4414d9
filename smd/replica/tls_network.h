// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connections to peers by TCP and TLS 1.3, on the io_context of the subnet.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mad/clock.h"
#include "smd/replica/byte_stream.h"
#include "smd/tls/context.h"

namespace smd::replica {

/// How both ends prove who they are: certificates of one CA, or (psk not empty) a key that both have.
struct Credentials {
  tls::Files files;
  std::vector<std::uint8_t> psk;
};

/// Connections that are not made in 10 s are given up.
class TlsNetwork final : public Network {
 public:
  /// Listens on `listen` (empty: nowhere). The error says which file or address cannot be used.
  static std::expected<std::unique_ptr<TlsNetwork>, std::string> open(asio::any_io_executor executor,
                                                                      mad::Clock& clock,
                                                                      const std::string& listen,
                                                                      const Credentials& credentials);
  ~TlsNetwork() override;

  asio::awaitable<std::expected<ByteStreamPtr, std::string>> connect(std::string peer) override;
  asio::awaitable<std::expected<ByteStreamPtr, std::string>> accept() override;
  /// Where it listens, 0: nowhere.
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit TlsNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::replica
