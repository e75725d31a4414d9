// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Unix socket that the API is at.

#include <boost/asio/local/stream_protocol.hpp>
#include <expected>
#include <filesystem>
#include <string>

#include "mad/asio.h"

namespace smd::api {

using Protocol = asio::local::stream_protocol;

/// Where a daemon without a configured socket serves: the folder that systemd gave it, /run/smd, or
/// $XDG_RUNTIME_DIR; empty where none of them can be written.
std::filesystem::path default_socket();
/// Where a client without a configured socket connects: /run/smd/smd.sock where it is there, else
/// $XDG_RUNTIME_DIR's.
std::filesystem::path default_socket_to_ask();

/// The error is one line: a path may be too long for a socket.
std::expected<Protocol::endpoint, std::string> endpoint_of(const std::filesystem::path& path);

/// Listens at `path` with mode 0660 and the group smd, where there is one. A stale socket
/// more is replaced, one that is served is refused; the error is one line.
std::expected<Protocol::acceptor, std::string> listen_at(asio::io_context& io,
                                                         const std::filesystem::path& path);

}  // namespace smd::api
