// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd check --running`: what a reload of the configuration would change in the fabric.

#include <chrono>
#include <iosfwd>
#include <string>

namespace smd::cli {

/// Asks the daemon at `socket` (empty: the usual one), which reads its own files; nothing is put in force.
/// 0: nothing in use changes; 1: no answer; 2: a wrong configuration; 3: traffic would be disturbed, an end
/// port loses a P_Key, or paths lose their SL.
int check_running(const std::string& socket, std::chrono::seconds timeout, bool json, std::ostream& out,
                  std::ostream& err);

}  // namespace smd::cli
