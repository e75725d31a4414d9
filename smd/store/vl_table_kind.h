// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table "vl_tables": SL to VL and VL arbitration tables of ports, as another SM has written them.

#include <array>

#include "smd/decide/stored.h"
#include "smd/store/kinds.h"

namespace smd::store {

inline constexpr std::array kVlTablesKey{Column{"node_guid", true}, Column{"first_port"}};
/// Ports from first_port to last_port have the same tables: blocks as "0-36:0123456701234567,37:...", the
/// bytes of the attribute in hexadecimal digits without the zeroes at its end.
inline constexpr std::array kVlTablesValue{Column{"last_port"}, Column{"sl_to_vl", true},
                                           Column{"arbitration", true}};

/// Calls `sink` for each row that is to be put or to go, so that what holds `before` holds `now`.
void vl_tables_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink);
/// False where the row makes no sense.
bool decode_vl_tables(const Cells& row, sm::Stored& into);

}  // namespace smd::store
