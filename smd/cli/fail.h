// SPDX-License-Identifier: Apache-2.0
#pragma once
// How `smd sim` and `smd attach` fail.

#include <iosfwd>
#include <string_view>

namespace smd::cli {

/// Prints `why` to `err`; returns `status`, the exit status.
int fail_with(std::ostream& err, int status, std::string_view why);

}  // namespace smd::cli
