// SPDX-License-Identifier: Apache-2.0
#pragma once
// etcd by the JSON gateway of its client port: HTTP over TLS, on the io_context of the subnet.

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mad/clock.h"
#include "smd/etcd/client.h"
#include "smd/tls/context.h"

namespace smd::etcd {

/// Where a member of etcd is.
struct Endpoint {
  std::string host{}, port{};  ///< without brackets
  std::string shown{};         ///< host and port as they stand in the URL
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
/// Of "https://HOST:PORT"; nothing where it is none.
std::optional<Endpoint> endpoint_of(std::string_view url);

/// Members are tried in turn, beginning with the one that was good last. Both ends prove who they are by
/// certificates; that of the member is one for its host. Calls that take more than 3 s are given up.
class HttpClients final : public Clients {
 public:
  /// The error names the file or the URL that cannot be used.
  static std::expected<std::unique_ptr<HttpClients>, std::string> open(asio::any_io_executor executor,
                                                                       mad::Clock& clock,
                                                                       const std::vector<std::string>& urls,
                                                                       const tls::Files& files);
  ~HttpClients() override;
  ClientPtr make() override;

 private:
  struct Impl;
  explicit HttpClients(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace smd::etcd
