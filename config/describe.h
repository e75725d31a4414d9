// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration in words, and the schema as documents.

#include <cstddef>
#include <string>

#include "config/config.h"

namespace smd::config {

/// What `smd check --all` prints: every effective value and what it means; '*' marks those that differ from
/// the default.
std::string describe(const Config& config);

/// What `smd check` prints: the values that differ from their defaults, and what they mean.
struct Changed {
  std::size_t keys = 0;  ///< how many
  std::string text{};    ///< a line each, under the subnet's line where it is of one
};
Changed describe_changed(const Config& config);

/// A value as a line shows it: the start of a long list.
std::string shortened(std::string value);

/// docs/configuration.md
std::string schema_markdown();

/// docs/man/smd.toml.5
std::string schema_man();

/// The shipped smd.toml: every key with its default, commented out.
std::string shipped_file();

}  // namespace smd::config
