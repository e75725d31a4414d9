// SPDX-License-Identifier: Apache-2.0
#pragma once
// The key that SMs which copy the state of each other have instead of certificates.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "config/load.h"

namespace smd::config {

/// The bytes of a file of hexadecimal digits that only its owner and the group smd can read; the error names
/// the file.
std::expected<std::vector<std::uint8_t>, std::string> read_replica_key(const std::filesystem::path& file,
                                                                       const ConfigContext& context);

}  // namespace smd::config
