// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fabric in which a host is connected twice.

#include <string_view>

namespace smd::test {

/// Two leaves, two spines; the SM's host "h0" at leafA, "h2" at leafB, and "d1" with a port at each.
inline constexpr std::string_view kDualFabric = R"(Switch	4 "S-00000000000000a0"		# "leafA"
[1]	"H-0000000000000010"[1]		# "h0"
[2]	"H-0000000000000020"[1]		# "d1"
[3]	"S-00000000000000c0"[1]		# "spine0"
[4]	"S-00000000000000d0"[1]		# "spine1"

Switch	4 "S-00000000000000b0"		# "leafB"
[1]	"H-0000000000000030"[1]		# "h2"
[2]	"H-0000000000000020"[2]		# "d1"
[3]	"S-00000000000000c0"[2]		# "spine0"
[4]	"S-00000000000000d0"[2]		# "spine1"

Switch	4 "S-00000000000000c0"		# "spine0"
[1]	"S-00000000000000a0"[3]		# "leafA"
[2]	"S-00000000000000b0"[3]		# "leafB"

Switch	4 "S-00000000000000d0"		# "spine1"
[1]	"S-00000000000000a0"[4]		# "leafA"
[2]	"S-00000000000000b0"[4]		# "leafB"

Ca	1 "H-0000000000000010"		# "h0"
[1](11)	"S-00000000000000a0"[1]		# "leafA"

Ca	2 "H-0000000000000020"		# "d1"
[1](21)	"S-00000000000000a0"[2]		# "leafA"
[2](22)	"S-00000000000000b0"[2]		# "leafB"

Ca	1 "H-0000000000000030"		# "h2"
[1](31)	"S-00000000000000b0"[1]		# "leafB"
)";

}  // namespace smd::test
