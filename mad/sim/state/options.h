// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a simulated fabric is made with: the devices' capacities, delays, and the seed of all chance.

#include <cstdint>

#include "mad/base/link.h"
#include "mad/clock.h"
#include "mad/sim/state/flow_control.h"

namespace smd::sim {

using mad::Duration;
using mad::TimePoint;

/// What each device of the fabric can do. The numbers are those that a Mellanox switch and HCA show to
/// smpquery where public output of it was found (PartCap 8 and 128, LinearFdbCap 49152, VL0-7, arbitration
/// tables of 8); the rest is a choice.
struct Capacities {
  std::uint16_t linear_fdb = 49'152;
  std::uint16_t multicast_fdb = 16'383;  ///< all that there are: 0xC000 to 0xFFFE
  std::uint16_t ca_pkeys = 128;
  std::uint16_t switch_pkeys = 8;     ///< of a switch's port 0
  std::uint16_t enforced_pkeys = 32;  ///< of each external port of a switch
  std::uint8_t ca_guids = 128;
  std::uint8_t vl_cap = 4;  ///< code of PortInfo.VLCap: VL0 to VL7
  std::uint8_t vl_arb = 8;  ///< entries of the high and of the low table
  Mtu mtu = Mtu::m4096;
  bool optimized_sl_to_vl = true;
};

/// Delays of an undisturbed fabric. All zero: an answer is there as soon as the request is sent.
struct Latency {
  Duration hop{0};      ///< a link and the switch behind it
  Duration service{0};  ///< a management agent answers one request; others wait meanwhile
};

/// What an adapter shows for its LID before an SM has given it one. Firmware differs.
enum class LidAfterReset : std::uint8_t { zero, permissive, kept };

/// How long a link takes from Down to Init when both ends may: each link its own time, by the seed.
struct Training {
  Duration shortest{0}, longest{0};
  /// The same time for every link.
  static constexpr Training always(Duration time) { return {.shortest = time, .longest = time}; }
};

/// SwitchInfo.MulticastFDBTop, and what 0 in it means to a switch that goes by it.
enum class MulticastTop : std::uint8_t { unsupported, zero_is_all, zero_is_none };

/// Where firmware differs in what it does. The defaults are what the sources say, or what is usual.
struct Firmware {
  /// A Set of PortState Down without a physical state retrains the link. False: the link stays, with its
  /// rate, and only the logical state returns to Init.
  bool down_retrains = false;
  /// OperationalVLs of a Set count at once. False: from the next time that the port is in Init, or while it
  /// is.
  bool vls_at_once = false;
  /// Trap 128 is raised only when PortStateChange goes from 0 to 1, and a Set of a port's state does not
  /// change the bit of its own switch (IBA, SwitchInfo). False: every change is told.
  bool edge_traps = true;
  /// Fields of a port that is down, but for its state and what is enabled, show another value each time.
  bool restless_down_ports = false;
  /// A Set of Active to a port that is Active is refused with status 0x1C.
  bool refuses_active_again = false;
  /// A packet that comes in at a port in Armed takes it to Active (IBA's link state machine).
  bool data_activates = false;
  /// LinkSpeedExtEnabled shows 30 once all extended speeds are switched off. False: 0.
  bool shows_speed_off = false;
  /// LinkDownDefaultState after a reset: polling or sleep.
  PhysState down_default = PhysState::polling;
  MulticastTop multicast_top = MulticastTop::unsupported;
};

struct Options {
  std::uint64_t seed = 1;
  Firmware firmware;
  Latency latency;
  Capacities capacities;
  LidAfterReset lid_after_reset = LidAfterReset::zero;
  /// World::run_for() begins again when links have trained, so that what a test waits for has happened.
  bool waits_for_training = false;
  Training training;
  /// Of clients in virtual time, whose requests the kernel then holds as a real one; 0: nothing is held.
  FlowControlPlaces kernel;
  /// Least time between two sendings of one trap, where PortInfo.SubnetTimeout says less.
  Duration trap_gap = std::chrono::milliseconds(100);
};

}  // namespace smd::sim
