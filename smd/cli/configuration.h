// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration as every command loads it.

#include <expected>
#include <optional>
#include <span>
#include <string>

#include "config/config.h"
#include "smd/cli/route_input.h"

namespace smd::cli {

/// `file` empty: no file. All errors in one text, a line each; status 2.
std::expected<config::Config, Failure> load_configuration(const std::string& file,
                                                          std::span<const std::string> overrides);

/// `given` where it is not empty, else /etc/smd/smd.toml where there is one, else nothing.
std::string configuration_file(const std::string& given);

}  // namespace smd::cli
