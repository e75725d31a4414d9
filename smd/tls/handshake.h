// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "smd/tls/ssl.h"

namespace smd::tls {

/// Of the end that connects, with a server whose certificate must be one for `host`, a DNS name or an IP
/// address (RFC 6066, RFC 6125). `stream` is connected, and outlives the call. The error is that of OpenSSL
/// or of the socket; none: the server has proven who it is.
asio::awaitable<error_code> shake_hands_with(ssl::stream<asio::ip::tcp::socket>* stream, std::string host);

}  // namespace smd::tls
