// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fabric from text or a spec, decided and settled: what dumps and reports are made from.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/config.h"
#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"
#include "routing/parallel.h"
#include "smd/decide/decide.h"
#include "smd/dump/out.h"
#include "smd/dump/view.h"
#include "smd/offline/offline.h"

namespace smd::test {

struct Settled {
  config::SubnetConfig config;
  sm::Subnet subnet;
  sm::Decided decided;
};

inline Settled settle(const base::Fabric& fabric, config::SubnetConfig config = {}) {
  const auto before = sm::offline_subnet(fabric);
  const routing::Serial serial;
  auto decision = sm::decide({.subnet = before,
                              .config = config,
                              .stored = {},
                              .parallel = serial,
                              .file_order = sm::file_order(fabric)});
  EXPECT_TRUE(decision);
  auto after = sm::settled(before, decision->decided);
  return {std::move(config), std::move(after), std::move(decision->decided)};
}

inline Settled settle_spec(std::string_view spec) {
  const auto fabric = base::make_fabric(spec);
  EXPECT_TRUE(fabric) << fabric.error();
  return settle(*fabric);
}

inline Settled settle_text(std::string_view text) {
  const auto fabric = base::read_fabric(text, "test.net");
  EXPECT_TRUE(fabric) << base::to_string(fabric.error());
  return settle(*fabric);
}

/// What `write(out)` writes, as one text.
std::string written(auto&& write) {
  std::string text;
  sm::Out out([&](std::string_view piece) {
    text += piece;
    return true;
  });
  write(out);
  EXPECT_TRUE(out.finish());
  return text;
}

/// Two leaves with LIDs, parallel links, a spine, a loop, a router, a CA with two ports, names with blanks.
inline constexpr std::string_view kOddFabric = R"(
vendid=0x2c9
devid=0xb924
sysimgguid=0xb8599f0300aaaa00
switchguid=0xb8599f0300aaaa00(b8599f0300aaaa00)
Switch	12 "S-b8599f0300aaaa00"		# "sw A" enhanced port 0 lid 3 lmc 0
[1]	"S-b8599f0300bbbb00"[1]		# "sw B" lid 2 4xEDR
[2]	"S-b8599f0300bbbb00"[2]		# "sw B" lid 2 4xEDR
[3]	"H-0000000000000010"[1](11) 		# "host {one} HCA-1" lid 5 4xEDR
[4]	"H-0000000000000010"[2](12) 		# "host {one} HCA-1" lid 6 4xEDR
[5]	"S-b8599f0300aaaa00"[6]		# "sw A" lid 3 4xEDR
[6]	"S-b8599f0300aaaa00"[5]		# "sw A" lid 3 4xEDR
[7]	"S-b8599f0300cccc00"[7]		# "sw C" lid 4 4xEDR

vendid=0x2c9
devid=0xb924
sysimgguid=0xb8599f0300bbbb00
switchguid=0xb8599f0300bbbb00(b8599f0300bbbb00)
Switch	36 "S-b8599f0300bbbb00"		# "sw B" base port 0 lid 2 lmc 0
[1]	"S-b8599f0300aaaa00"[1]		# "sw A" lid 3 4xEDR
[2]	"S-b8599f0300aaaa00"[2]		# "sw A" lid 3 4xEDR
[5]	"S-b8599f0300cccc00"[5]		# "sw C" lid 4 1xSDR
[36]	"H-0000000000000020"[1](21) 		# "host two" lid 1 4xFDR

vendid=0x2c9
devid=0xb924
sysimgguid=0xb8599f0300cccc00
switchguid=0xb8599f0300cccc00(b8599f0300cccc00)
Switch	36 "S-b8599f0300cccc00"		# "sw C" base port 0 lid 4 lmc 0
[5]	"S-b8599f0300bbbb00"[5]		# "sw B" lid 2 1xSDR
[7]	"S-b8599f0300aaaa00"[7]		# "sw A" lid 3 4xEDR
[9]	"R-0000000000000090"[1](91) 		# "router" lid 7 4xQDR
[10]	"H-0000000000000030"[1](31) 		# "host three" lid 77 12xDDR

vendid=0x2c9
devid=0x1013
sysimgguid=0x10
caguid=0x10
Ca	2 "H-0000000000000010"		# "host {one} HCA-1"
[1](11) 	"S-b8599f0300aaaa00"[3]		# lid 5 lmc 0 "sw A" lid 3 4xEDR
[2](12) 	"S-b8599f0300aaaa00"[4]		# lid 6 lmc 0 "sw A" lid 3 4xEDR

vendid=0x2c9
devid=0x1013
sysimgguid=0x20
caguid=0x20
Ca	1 "H-0000000000000020"		# "host two"
[1](21) 	"S-b8599f0300bbbb00"[36]		# lid 1 lmc 0 "sw B" lid 2 4xFDR

vendid=0x2c9
devid=0x1013
sysimgguid=0x30
caguid=0x30
Ca	1 "H-0000000000000030"		# "host three"
[1](31) 	"S-b8599f0300cccc00"[10]		# lid 77 lmc 0 "sw C" lid 4 12xDDR

vendid=0x2c9
devid=0x1013
sysimgguid=0x90
rtguid=0x90
Rt	1 "R-0000000000000090"		# "router"
[1](91) 	"S-b8599f0300cccc00"[9]		# lid 7 lmc 0 "sw C" lid 4 4xQDR
)";

}  // namespace smd::test
