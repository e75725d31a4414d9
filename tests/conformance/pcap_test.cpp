// SPDX-License-Identifier: Apache-2.0
// The trace of a bring-up, read back as Wireshark does, each MAD decoded by libibmad.
#include "mad/sim/packets/pcap.h"

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "mad/wire/mad.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct Packet {
  std::uint32_t seconds = 0, nanoseconds = 0;
  std::vector<std::uint8_t> bytes;
  std::uint32_t wire(std::size_t at, unsigned size) const {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < size; ++i) value = value << 8U | bytes[at + i];
    return value;
  }
};

struct Trace {
  std::uint32_t magic = 0, link_type = 0;
  std::vector<Packet> packets;
};

Trace read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Trace trace;
  std::uint32_t head[6] = {};
  file.read(reinterpret_cast<char*>(head), sizeof(head));
  trace.magic = head[0];
  trace.link_type = head[5];
  std::uint32_t record[4] = {};
  while (file.read(reinterpret_cast<char*>(record), sizeof(record))) {
    Packet packet{
        .seconds = record[0], .nanoseconds = record[1], .bytes = std::vector<std::uint8_t>(record[2])};
    EXPECT_EQ(record[2], record[3]);
    file.read(reinterpret_cast<char*>(packet.bytes.data()),
              static_cast<std::streamsize>(packet.bytes.size()));
    trace.packets.push_back(std::move(packet));
  }
  return trace;
}

TEST(Pcap, EveryMadOfABringUpIsAPacketThatLibibmadDecodes) {
  const auto path = std::filesystem::temp_directory_path() / ("smd-pcap-" + std::to_string(::getpid()));
  {
    auto pcap = sim::Pcap::create(path);
    ASSERT_TRUE(pcap) << pcap.error();
    sim::World world(two_leaves());
    world.fabric().watch_packets((*pcap)->watcher());
    Asker asker(world);
    bring_up_two_leaves(asker);
    asker.get<wire::PortInfo>(Lid{2}, 1);
    world.fabric().faults().link_down({"h2", PortNum{1}});
    world.run_for(std::chrono::milliseconds(10));
  }

  const auto trace = read(path);
  std::filesystem::remove(path);

  EXPECT_EQ(trace.magic, 0xA1B23C4DU);
  EXPECT_EQ(trace.link_type, 247U);
  ASSERT_GT(trace.packets.size(), 100U);
  std::map<std::uint32_t, int> methods, classes;
  for (const auto& packet : trace.packets) {
    constexpr std::size_t kMad = 8 + 12 + 8;
    ASSERT_EQ(packet.bytes.size(), kMad + wire::kMadBytes + 4 + 2);
    EXPECT_EQ(packet.wire(0, 1) >> 4U, 15U);  // VL15
    EXPECT_EQ(packet.wire(1, 1) & 3U, 2U);    // a base transport header follows
    EXPECT_EQ(packet.wire(4, 2) * 4, packet.bytes.size() - 2);
    EXPECT_EQ(packet.wire(8, 1), 0x64U);             // UD send only
    EXPECT_EQ(packet.wire(12, 4) & 0xFF'FFFFU, 0U);  // to QP0
    std::vector<std::uint8_t> mad(packet.bytes.begin() + kMad, packet.bytes.end() - 6);
    const auto header = wire::decode<wire::MadHeader>(mad);
    ASSERT_TRUE(header);
    const auto field = [&](MAD_FIELDS which) { return mad_get_field(mad.data(), 0, which); };
    EXPECT_EQ(field(IB_MAD_BASEVER_F), 1U);
    EXPECT_EQ(field(IB_MAD_CLASSVER_F), 1U);
    EXPECT_EQ(field(IB_MAD_METHOD_F), static_cast<unsigned>(header->method) & 0x7FU);
    EXPECT_EQ(mad_get_field64(mad.data(), 0, IB_MAD_TRID_F), header->tid.value());
    ++methods[field(IB_MAD_METHOD_F) | field(IB_MAD_RESPONSE_F) << 7U];
    ++classes[field(IB_MAD_MGMTCLASS_F)];
    if (header->attribute == wire::NodeInfo::kAttribute && header->method == wire::Method::get_resp) {
      const auto type = mad_get_field(mad.data() + 64, 0, IB_NODE_TYPE_F);
      EXPECT_TRUE(type == 1 || type == 2);
    }
  }
  EXPECT_GT(methods[0x01], 0);  // Get
  EXPECT_GT(methods[0x02], 0);  // Set
  EXPECT_GT(methods[0x81], 0);  // GetResp
  EXPECT_GT(methods[0x05], 0);  // Trap
  EXPECT_GT(classes[0x81], 0);
  EXPECT_GT(classes[0x01], 0);
}

TEST(Pcap, AGlobalRouteStandsInIt) {
  const auto path = std::filesystem::temp_directory_path() / ("smd-grh-" + std::to_string(::getpid()));
  {
    auto pcap = sim::Pcap::create(path);
    ASSERT_TRUE(pcap) << pcap.error();
    std::vector<std::uint8_t> mad(wire::kMadBytes);
    wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa, .class_version = 2}, mad);
    sim::SentPacket packet{.mad = mad, .slid = Lid{1}, .dlid = Lid{2}, .qp = 1, .grh = mad::GlobalRoute{}};
    packet.grh->hop_limit = 5;
    packet.grh->dgid.fill(0xDD);
    packet.sgid.fill(0x55);
    (*pcap)->watcher()(packet);
  }
  const auto trace = read(path);
  std::filesystem::remove(path);

  ASSERT_EQ(trace.packets.size(), 1U);
  const auto& packet = trace.packets.front();
  ASSERT_EQ(packet.bytes.size(), 8 + 40 + 12 + 8 + wire::kMadBytes + 6);
  EXPECT_EQ(packet.wire(1, 1) & 3U, 3U);
  EXPECT_EQ(packet.wire(4, 2) * 4, packet.bytes.size() - 2);
  EXPECT_EQ(packet.wire(8, 4), 0x6000'0000U);
  EXPECT_EQ(packet.wire(12, 2), packet.bytes.size() - 2 - 48);
  EXPECT_EQ(packet.wire(14, 2), 0x1B05U);
  EXPECT_EQ(packet.wire(16, 1), 0x55U);
  EXPECT_EQ(packet.wire(47, 1), 0xDDU);
  EXPECT_EQ(packet.wire(48, 1), 0x64U);
}

TEST(Pcap, ALongAnswerStandsInItAsItsSegments) {
  const auto path = std::filesystem::temp_directory_path() / ("smd-rmpp-" + std::to_string(::getpid()));
  {
    auto pcap = sim::Pcap::create(path);
    ASSERT_TRUE(pcap) << pcap.error();
    std::vector<std::uint8_t> mad(56 + 450);
    wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa, .class_version = 2}, mad);
    mad[24] = mad[25] = mad[26] = 1;
    (*pcap)->watcher()({.mad = mad, .slid = Lid{1}, .dlid = Lid{2}, .qp = 1});
  }
  auto trace = read(path);
  std::filesystem::remove(path);

  ASSERT_EQ(trace.packets.size(), 3U);
  for (unsigned number = 1; auto& packet : trace.packets) {
    ASSERT_EQ(packet.bytes.size(), 28 + wire::kMadBytes + 6);
    EXPECT_EQ(packet.wire(4, 2) * 4, packet.bytes.size() - 2);
    auto* mad = packet.bytes.data() + 28;
    EXPECT_EQ(mad_get_field(mad, 0, IB_SA_RMPP_TYPE_F), 1U);
    EXPECT_EQ(mad_get_field(mad, 0, IB_SA_RMPP_FLAGS_F) & 7U,
              1U | (number == 1 ? 2U : 0U) | (number == 3 ? 4U : 0U));
    EXPECT_EQ(mad_get_field(mad, 0, IB_SA_RMPP_D1_F), number);
    ++number;
  }
}

}  // namespace
}  // namespace smd::test
