// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SMs of the tests of the SM state machine, and what comes from them.

#include <cstdint>
#include <utility>
#include <vector>

#include "smd/ha/sm_machine.h"

namespace smd::sm::machine::test {

inline constexpr std::uint64_t kKey = 0x5151;
/// We are priority 8, GUID 50. SMs 30 and 40 rank above us, SM 60 below; SM 77 has left all its polls
/// unanswered.
inline constexpr SmRank kSelf{8, Guid{50}};

inline OtherSm other(std::uint64_t guid, wire::SmState state, bool answered = true) {
  OtherSm sm;
  sm.info = {.guid = Guid{guid},
             .sm_key = kKey,
             .priority = static_cast<std::uint8_t>(guid <= 40 ? 9 : 3),
             .state = state};
  sm.answered = answered;
  return sm;
}

inline ControlReceived control(wire::SmControl what, std::uint64_t from, std::uint64_t key = kKey,
                               bool known = false) {
  auto info = other(from, wire::SmState::master).info;
  info.sm_key = key;
  return {what, info, known};
}
inline ControlReceived control_of_standby(wire::SmControl what, std::uint64_t from) {
  return {what, other(from, wire::SmState::standby).info, false};
}
inline OtherSm foreign(std::uint64_t guid, wire::SmState state) {
  auto sm = other(guid, state);
  sm.info.sm_key = 99;
  return sm;
}
inline SweepRead read(std::vector<OtherSm> others) { return {std::move(others), true, false}; }

}  // namespace smd::sm::machine::test
