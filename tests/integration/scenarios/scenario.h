// SPDX-License-Identifier: Apache-2.0
#pragma once
// One random scenario: a fabric, a manager, and faults at times; what becomes of it, and what should.

#include <cstdint>
#include <string>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/sim/drivers/world.h"

namespace smd::test {

/// One fault, as a command of the simulated fabric (docs/simulator.md).
struct TimedFault {
  sim::Duration at{0};
  std::size_t order = 0;
  std::string command;
  /// Nodes whose identity (GUID, LID) it touches: what happens to them is not held against the SM.
  std::vector<std::string> touches;
};

/// What a fault that is still there at the end asks of the daemon: a degraded state whose reason names it.
struct Lasting {
  std::string node;
  bool certain = false;   ///< false: may be noticed, or may never matter
  std::string twin = {};  ///< another node with the same GUID: nothing is wrong where only one is seen
};

struct Scenario {
  std::uint64_t seed = 0;
  std::string spec;
  base::Fabric fabric;
  sim::Options options;
  std::vector<TimedFault> faults;  ///< ascending times
  std::vector<Lasting> lasting;
};

/// The same seed always gives the same scenario.
Scenario make_scenario(std::uint64_t seed);

/// Everything that was not as it should be; nothing: good. `log`: what the manager has logged.
struct Verdict {
  std::vector<std::string> wrong;
  std::vector<std::string> lost_paths;  ///< pairs of hosts that lost a path which had not died
  std::vector<std::string> log;
  std::uint64_t sets = 0, entries = 0;
};
Verdict play(const Scenario& scenario);

/// The scenario as a script of the simulator, for a report.
std::string to_text(const Scenario& scenario);

}  // namespace smd::test
