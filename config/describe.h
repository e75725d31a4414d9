// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration in words, and the schema as documents.

#include <cstddef>
#include <string>

#include "config/config.h"
#include "config/load.h"

namespace smd::config {

/// What `smd check --all` prints: every effective value and what it means; '*' marks those that differ from
/// the default. All blocks of arrays of tables are listed.
std::string describe(const Config& config, const Schema& schema = product_schema());

/// What `smd check` prints: the values that differ from their defaults, and what they mean.
struct Changed {
  std::size_t keys = 0;  ///< how many; an array of tables counts as one
  std::string text{};    ///< a line each, under the subnet's line where it is of one
};
/// Of an array of tables the first 10 blocks are listed.
Changed describe_changed(const Config& config, const Schema& schema = product_schema());

/// A value as a line shows it: the start of a long list.
std::string shortened(std::string value);

/// The text of docs/configuration.md; a test compares both.
std::string schema_markdown(const Schema& schema = product_schema());

/// The text of docs/man/smd.toml.5; a test compares both.
std::string schema_man(const Schema& schema = product_schema());

/// The shipped smd.toml: every key with its default, commented out; one block of each array as an example.
std::string shipped_file(const Schema& schema = product_schema());

}  // namespace smd::config
