// SPDX-License-Identifier: Apache-2.0
#pragma once
// How every command loads the configuration.

#include <expected>
#include <optional>
#include <span>
#include <string>

#include "config/config.h"
#include "config/load.h"
#include "smd/daemon/failure.h"

namespace smd::daemon {

/// Loads `file` (empty: no file) with the overrides, and the tables that [routing] tables_file names. An
/// error has all errors in one text, a line each, and status 2.
/// `may_refuse_policy`: see config::ConfigContext.
std::expected<config::Config, Failure> load_configuration(const std::string& file,
                                                          std::span<const std::string> overrides,
                                                          bool may_refuse_policy = false);

/// Names that keys of a configuration may hold: engines, modules of the log.
config::ConfigContext configuration_context();

/// `given` if it is not empty, else /etc/smd/smd.toml if that exists, else an empty name.
std::string configuration_file(const std::string& given);

}  // namespace smd::daemon
