// SPDX-License-Identifier: Apache-2.0
#include "mad/base/torus_conf.h"

#include <gtest/gtest.h>

#include <string>

namespace smd::base {
namespace {

TorusConf conf_of(const std::string& text) {
  const auto read = read_torus_conf(text, "t.conf");
  EXPECT_TRUE(read) << (read ? "" : to_string(read.error()));
  return read.value_or(TorusConf{});
}

std::string errors_of(const std::string& text) {
  const auto read = read_torus_conf(text, "t.conf");
  return read ? "none" : to_string(read.error());
}

TEST(TorusConf, ReadsTheExampleOfTheManual) {
  const auto conf = conf_of(
      "\n# Look for a 2D (since x radix is one) 4x5 torus.\ntorus 1 4 5\n"
      "yp_link 0x200000 0x200005  # sw @ y=0,z=0 -> sw @ y=1,z=0\n"
      "ym_link 0x200000 0x20000f\n  zp_link 0x200000 0x200001\nnext_seed\n"
      "yp_link 0x20000b 0x200010\nym_link 0x20000b 0x200006\nzp_link 0x20000b 0x20000c\n"
      "y_dateline -2  # Move the dateline\nz_dateline -1\n"
      "portgroup_max_ports 20\nmax_changes 5\nport_order 7 10 8 7 # more\n");

  EXPECT_EQ(conf.size, (std::array{1U, 4U, 5U}));
  EXPECT_EQ(conf.mesh, (std::array{false, false, false}));
  ASSERT_EQ(conf.seeds.size(), 2U);
  EXPECT_EQ(conf.seeds[0].from, Guid{0x200000});
  EXPECT_EQ(conf.seeds[0].plus[1], Guid{0x200005});
  EXPECT_EQ(conf.seeds[0].minus[1], Guid{0x20000f});
  EXPECT_EQ(conf.seeds[0].minus[2], std::nullopt);
  EXPECT_EQ(conf.seeds[1].dateline, (std::array{0, -2, -1}));
  EXPECT_EQ(conf.port_order, (std::vector{PortNum{7}, PortNum{10}, PortNum{8}}));
}

TEST(TorusConf, EachDimensionMayBeAPathOrARing) {
  const std::string links = "\nxp_link 1 2\nyp_link 1 3\nym_link 1 4\nzp_link 1 5\n";
  const auto one = conf_of("mesh 3T 4 5" + links), other = conf_of("torus 3 4M 5m" + links);
  EXPECT_EQ(one.mesh, (std::array{false, true, true}));
  EXPECT_EQ(one, other);
  EXPECT_TRUE(conf_of("torus 3 2 5" + links).mesh[1]) << "two switches are no ring";
}

TEST(TorusConf, IsReadAsItWasWritten) {
  for (const std::string text :
       {"mesh 3T 4 5\nxp_link 1 2\nyp_link 1 3\nym_link 1 4\nzp_link 1 5\nport_order 3 1\n",
        "torus 1 2 5\nym_link 7 2\nzm_link 7 5\nz_dateline -2\nnext_seed\ny_dateline 1\nyp_link 8 9\nzp_link "
        "8 10\n"}) {
    const auto conf = conf_of(text);
    EXPECT_EQ(conf_of(torus_conf_text(conf)), conf) << torus_conf_text(conf);
  }
}

TEST(TorusConf, ErrorsNameTheLine) {
  EXPECT_EQ(errors_of(""), "t.conf: 'torus X Y Z' or 'mesh X Y Z' is missing");
  EXPECT_EQ(errors_of("torus 3 3 3\n"),
            "t.conf: no seed: links as 'xp_link SWITCH-GUID NEIGHBOUR-GUID' are missing");
  EXPECT_EQ(errors_of("xp_link 1 2\n"), "t.conf:1: 'torus X Y Z' or 'mesh X Y Z' has to come first");
  EXPECT_EQ(errors_of("torus 3 3 3\ntorus 3 3 3\nxq_link 1 2\nxp_link 1\nxp_link 1 1\nx_dateline 3\n"
                      "portgroup_max_ports many\nport_order 255\n"),
            "t.conf:2: the size of the torus stands in an earlier line\n"
            "t.conf:3: 'xq_link' is no keyword of torus-2QoS.conf\n"
            "t.conf:4: '': the GUID of a switch is needed, 0x and up to 16 digits\n"
            "t.conf:5: a link needs two switches\n"
            "t.conf:6: '3': a number from -2 to 2 is needed\n"
            "t.conf:7: portgroup_max_ports: 'many' is no number\n"
            "t.conf:8: port_order: '255' is no port, 0 to 254");
  EXPECT_EQ(errors_of("torus 4 3 1\nxp_link 1 2\nyp_link 1 3\n"),
            "t.conf:2: this seed has no xm_link: a ring of four switches needs both");
  EXPECT_EQ(
      errors_of("torus 3 3 1\nxp_link 1 2\nnext_seed\nxp_link 1 2\nyp_link 3 4\n"),
      "t.conf:5: the links of a seed begin at one switch: 0x0000000000000001 above, 0x0000000000000003 here");
  EXPECT_EQ(errors_of("torus 0 3 1\n"),
            "t.conf:1: three sizes are needed, numbers from 1 that m or t may follow");
  EXPECT_EQ(errors_of("torus 300 300 300\n"), "t.conf:1: more than 49151 switches");
}

}  // namespace
}  // namespace smd::base
