// SPDX-License-Identifier: Apache-2.0
#include "smd/tls/handshake.h"

#include <boost/asio/ssl/host_name_verification.hpp>

namespace smd::tls {

asio::awaitable<error_code> shake_hands_with(ssl::stream<asio::ip::tcp::socket>* stream, std::string host) {
  SSL_set_tlsext_host_name(stream->native_handle(), host.c_str());
  error_code error;
  stream->set_verify_callback(ssl::host_name_verification(host), error);
  if (error) co_return error;
  const auto [refused] =
      co_await stream->async_handshake(ssl::stream_base::client, asio::as_tuple(asio::use_awaitable));
  co_return refused;
}

}  // namespace smd::tls
