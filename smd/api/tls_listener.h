// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clients on the network, over TLS 1.2 or later.

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "mad/clock.h"
#include "smd/api/channel.h"
#include "smd/log/log.h"
#include "smd/tls/context.h"

namespace smd::api {

/// What the server proves itself by. Connections keep what they were made with.
class TlsIdentity {
 public:
  /// Reads the files (again). Where that fails, what was read before stays; the error says why.
  std::expected<void, std::string> load(const tls::Files& files);
  /// Null before the first load().
  const std::shared_ptr<tls::ssl::context>& context() const { return context_; }

 private:
  std::shared_ptr<tls::ssl::context> context_;
};

struct TlsLimits {
  std::size_t connections_of_address = 64;  ///< at a time; an address of IPv6 is its first 64 bits
  unsigned handshakes = 200;                ///< new ones in a second
};

class TlsListener final : public Listener {
 public:
  /// Listens at "ADDRESS:PORT". `identity` is loaded. The error says what is wrong with the address.
  static std::expected<std::unique_ptr<TlsListener>, std::string> open(
      asio::io_context& io, mad::Clock& clock, const std::string& listen,
      std::shared_ptr<const TlsIdentity> identity, log::Log log, TlsLimits limits = {});
  ~TlsListener() override;

  asio::awaitable<std::unique_ptr<Channel>> next() override;
  void close() override;
  /// Where it listens.
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit TlsListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::api
