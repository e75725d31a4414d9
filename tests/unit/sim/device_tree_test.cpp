// SPDX-License-Identifier: Apache-2.0
// The files that an attached program sees.
#include "mad/sim/umad_server/device_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

std::map<std::string, std::string> files_of(const sim::State& state, std::string_view places) {
  const auto text = sim::device_files(state, sim::attached_nodes(state, places).value());
  std::map<std::string, std::string> files;
  for (std::size_t at = 0; at < text.size();) {
    const std::string path = text.c_str() + at;
    const std::string content = text.c_str() + at + path.size() + 1;
    at += path.size() + content.size() + 2;
    files[path] = content;
  }
  return files;
}

TEST(DeviceTree, APortShowsWhatItIsNow) {
  sim::Fabric fabric(two_leaves());
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  auto files = files_of(fabric.state(), "h0\n");

  EXPECT_EQ(files["/sys/class/infiniband/mlx5_0/node_type"], "1: CA\n");
  EXPECT_EQ(files["/sys/class/infiniband/mlx5_0/node_guid"], "0000:0000:0000:4000\n");
  EXPECT_EQ(files[port + "state"], "2: INIT\n");
  EXPECT_EQ(files[port + "phys_state"], "5: LinkUp\n");
  EXPECT_EQ(files[port + "rate"], "100 Gb/sec (4X EDR)\n");
  EXPECT_EQ(files[port + "lid"], "0x0\n");
  EXPECT_EQ(files[port + "pkeys/0"], "0xffff\n");
  EXPECT_EQ(files[port + "pkeys/127"], "0x0000\n");
  EXPECT_EQ(files["/sys/class/infiniband_mad/abi_version"], "5\n");
  EXPECT_EQ(files["/sys/class/infiniband_mad/umad0/ibdev"], "mlx5_0\n");

  fabric.faults().set_lid({"h0"}, Lid{0x17}, 2);
  fabric.faults().set_p_key({"h0"}, 3, PKey{0x8001});
  fabric.faults().link_down({"h0", PortNum{1}});
  files = files_of(fabric.state(), "h0\n");

  EXPECT_EQ(files[port + "lid"], "0x17\n");
  EXPECT_EQ(files[port + "lid_mask_count"], "2\n");
  EXPECT_EQ(files[port + "pkeys/3"], "0x8001\n");
  EXPECT_EQ(files[port + "state"], "1: DOWN\n");
}

TEST(DeviceTree, SeveralNodesAreSeveralAdaptersAndPortsAreChosenByNumber) {
  const sim::Fabric fabric(two_leaves());
  const auto files = files_of(fabric.state(), "h1\nh2:2\nleaf0\nh2:1\n");

  EXPECT_TRUE(files.contains("/sys/class/infiniband/mlx5_0/ports/1/lid"));
  EXPECT_TRUE(files.contains("/sys/class/infiniband/mlx5_1/ports/1/lid"));
  EXPECT_TRUE(files.contains("/sys/class/infiniband/mlx5_1/ports/2/lid"));
  EXPECT_TRUE(files.contains("/sys/class/infiniband/mlx5_2/ports/0/lid"));
  EXPECT_EQ(files.at("/sys/class/infiniband/mlx5_2/node_type"), "2: SWITCH\n");
  EXPECT_EQ(files.at("/sys/class/infiniband_mad/umad2/port"), "2\n");
  EXPECT_TRUE(files.contains("/dev/infiniband/umad3"));
  EXPECT_FALSE(files.contains("/dev/infiniband/umad4"));
}

TEST(DeviceTree, AWrongPlaceIsNamed) {
  const sim::Fabric fabric(two_leaves());
  EXPECT_EQ(sim::attached_nodes(fabric.state(), "h9\n").error(), "h9: no such node in the fabric");
  EXPECT_EQ(sim::attached_nodes(fabric.state(), "h2:3\n").error(),
            "h2:3: the node's ports with a management interface are 1 to 2");
  EXPECT_EQ(sim::attached_nodes(fabric.state(), "").error(), "no node given");
}

}  // namespace
}  // namespace smd::test
