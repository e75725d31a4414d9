// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certificates, keys and secrets that the configuration names.

#include <chrono>
#include <string>
#include <vector>

#include "config/config.h"

namespace smd::daemon {

/// What is wrong with them, a line each: files that cannot be used, those of webhooks too, and certificates
/// and lists of revoked ones that end soon. Reads files.
std::vector<std::string> certificate_faults(const config::Config& config, std::chrono::sys_seconds now);

}  // namespace smd::daemon
