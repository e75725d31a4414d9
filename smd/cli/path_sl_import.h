// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another SM's subnet administration says of the SLs of all paths.

#include <chrono>
#include <expected>
#include <string>

#include "mad/asio.h"
#include "mad/base/sl_files.h"
#include "mad/gsi/sa_client.h"

namespace smd::cli {

struct ImportedPathSls {
  base::PathSlFile file;    ///< by node GUID; of a node with several ports by port GUID
  std::size_t sources = 0;  ///< ports of CAs and routers that have a LID
  std::uint64_t paths = 0;  ///< that the SA has answered
  std::size_t without = 0;  ///< sources of which the SA has no paths
};

/// Asks for all ports, then for the paths from each, one question at a time: an SA works at each as long as
/// it has ports. Each question is tried three times, `wait` each. The error, in one line: what was asked, and
/// what was answered. The client outlives the coroutine.
asio::awaitable<std::expected<ImportedPathSls, std::string>> ask_path_sls(mad::SaClient* client,
                                                                          mad::LidRoute sa,
                                                                          std::chrono::milliseconds wait);

}  // namespace smd::cli
