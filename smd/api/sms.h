// SPDX-License-Identifier: Apache-2.0
#pragma once
// What several answers say of SMs.

#include <string>
#include <string_view>

#include "mad/wire/sm_info.h"
#include "smd/api/backend.h"

namespace smd::api {

/// The SM state as answers have it.
constexpr std::string_view state_word(wire::SmState state) {
  return state == wire::SmState::not_active ? "not_active" : to_string(state);
}

/// What our SM will do next, and what the one lacks that takes over when it fails; empty without an SM.
std::string outlook_of(const SubnetView& view);

}  // namespace smd::api
