// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several answers say of SMs.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "mad/wire/sm_info.h"

namespace smd::api {

/// Seconds since 1970.
inline std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The SM state as answers have it.
constexpr std::string_view state_word(wire::SmState state) {
  return state == wire::SmState::not_active ? "not_active" : to_string(state);
}

}  // namespace smd::api
