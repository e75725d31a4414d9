// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person sees of a bring-up: one screen.

#include <cstdint>
#include <iosfwd>
#include <string>

#include "routing/quality/quality.h"
#include "smd/snapshot/snapshot.h"

namespace smd::daemon {

struct ScreenInput {
  const sm::Snapshot& snapshot;
  const routing::Quality& quality;
  std::string fabric;       ///< the argument of --sim
  double nodes_cpu_ms = 0;  ///< processor time of the simulated nodes
  double own_cpu_ms = 0;    ///< of everything else in the process
  std::uint64_t peak_kb = 0;
};

/// What `smd run --sim` prints once the fabric is up: figures of the bring-up and of the routes.
void print_screen(std::ostream& out, const ScreenInput& in);

/// SMPs that OpenSM 3.3.23 sends for a cold bring-up of such a fabric with minhop and its defaults: its
/// pattern by attribute, as counted at ibsim (docs/differences.md), without retries.
std::uint64_t opensm_smps(const sm::Subnet& subnet, const sm::Decided& decided);

}  // namespace smd::daemon
