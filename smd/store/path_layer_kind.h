// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table "path_layers": layers of pairs of switches.

#include <array>

#include "smd/decide/stored.h"
#include "smd/store/kinds.h"

namespace smd::store {

inline constexpr std::array kPathLayersKey{Column{"node_guid", true}};
/// A hexadecimal digit for each switch up to this one, ascending by GUID; '-': none. First those that pairs
/// had at first, then those in force; empty where there are none.
inline constexpr std::array kPathLayersValue{Column{"home", true}, Column{"now", true}};

/// Calls `sink` for each row that is to be put or to go, so that what holds `before` holds `now`.
void path_layers_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// False where the row makes no sense. Rows come ascending by GUID.
bool decode_path_layers(const Cells& row, sm::Stored& into);

}  // namespace smd::store
