// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd check`: is a configuration right, and what does it mean.

#include <iosfwd>
#include <string>
#include <vector>

namespace smd::cli {

struct CheckOptions {
  std::string config;
  std::vector<std::string> set;
  bool all = false;  ///< every key, not only those that differ from their defaults
};

/// Exit status: 0, or 2 with every mistake on a line of its own.
int check(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
