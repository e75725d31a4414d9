// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/fail.h"

#include <ostream>

namespace smd::cli {

int fail_with(std::ostream& err, int status, std::string_view why) {
  err << "smd: " << why << '\n';
  return status;
}

}  // namespace smd::cli
