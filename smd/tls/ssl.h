// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one door to Asio's TLS, which takes a file seconds to compile.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "mad/asio.h"

namespace smd::tls {
namespace ssl = boost::asio::ssl;
}  // namespace smd::tls
