// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd check`: validates a configuration and describes it.

#include <iosfwd>
#include <string>
#include <vector>

namespace smd::cli {

struct CheckOptions {
  std::string config;
  std::vector<std::string> set;
  bool all = false;  ///< every key, not only those that differ from their defaults
};

/// Writes what the configuration means to `out`, or each error on a line of its own to `err`. Returns the
/// exit status: 0, or 2 for a wrong configuration.
int check(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
