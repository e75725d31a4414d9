// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::daemon {

/// Why a command ends, and with which exit status.
struct Failure {
  int status = 1;
  std::string text;  ///< one line or several, without a newline at the end
};

}  // namespace smd::daemon
