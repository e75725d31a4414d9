// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration in words, and the schema as documents.

#include <string>

#include "config/config.h"

namespace smd::config {

/// What `smd check` prints: every effective value and what it means; '*' marks those that differ from the
/// default.
std::string describe(const Config& config);

/// A value as a line shows it: the start of a long list.
std::string shortened(std::string value);

/// docs/configuration.md
std::string schema_markdown();

/// docs/man/smd.toml.5
std::string schema_man();

/// The shipped smd.toml: every key with its default, commented out.
std::string shipped_file();

}  // namespace smd::config
