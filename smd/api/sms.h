// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several answers say of SMs.

#include <string_view>

#include "mad/wire/sm_info.h"

namespace smd::api {

/// The SM state as answers have it.
constexpr std::string_view state_word(wire::SmState state) {
  return state == wire::SmState::not_active ? "not_active" : to_string(state);
}

}  // namespace smd::api
