// SPDX-License-Identifier: Apache-2.0
// Whole SMPs byte for byte as libibmad builds them, and its readers on ours.

#include "mad/wire/smp.h"

#include <gtest/gtest.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "mad/base/random.h"
#include "mad/wire/port_info.h"
#include "mad/wire/random.h"

namespace smd::conformance {
namespace {

using Packet = std::array<std::uint8_t, 256>;
constexpr int kRounds = 300;

Packet packet_of(const wire::Smp& smp) {
  Packet packet;
  std::ranges::copy(smp.bytes(), packet.begin());
  return packet;
}

/// A random request: as an SMP of ours, and as what libibmad is told.
struct Request {
  wire::Smp smp;
  ib_rpc_t rpc{};
  ib_dr_path_t path{};
  std::array<std::uint8_t, 64> data{};
};

Request random_request(base::Random& generator, bool directed) {
  Request request;
  const auto method = generator.chance(1, 2) ? wire::Method::get : wire::Method::set;
  const auto attribute = static_cast<std::uint16_t>(generator());
  const auto modifier = static_cast<std::uint32_t>(generator());
  request.path.cnt = static_cast<int>(generator.below(63));
  std::vector<PortNum> ports;
  for (int i = 1; i <= request.path.cnt; ++i) {
    ports.emplace_back(static_cast<std::uint8_t>(generator()));
    request.path.p[i] = ports.back().value();
  }
  request.rpc.mgtclass = directed ? IB_SMI_DIRECT_CLASS : IB_SMI_CLASS;
  request.rpc.method = static_cast<int>(method);
  request.rpc.attr.id = attribute;
  request.rpc.attr.mod = modifier;
  request.rpc.dataoffs = IB_SMP_DATA_OFFS;
  request.rpc.datasz = IB_SMP_DATA_SIZE;
  request.rpc.mkey = generator();
  request.rpc.trid = generator() | 1U;
  const auto info = wire::random<wire::PortInfo>(generator);
  wire::encode(info, request.data);

  request.smp = directed ? wire::Smp::directed(method, attribute, modifier, ports)
                         : wire::Smp::lid_routed(method, attribute, modifier);
  request.smp.set_tid(Tid{request.rpc.trid});
  request.smp.set_m_key(request.rpc.mkey);
  request.smp.put(info);
  return request;
}

TEST(SmpBytes, DirectedRequestsAreLibibmads) {
  base::Random generator(1);
  for (int round = 0; round < kRounds; ++round) {
    auto request = random_request(generator, true);
    Packet theirs{};
    ASSERT_NE(mad_encode(theirs.data(), &request.rpc, &request.path, request.data.data()), nullptr);
    ASSERT_EQ(packet_of(request.smp), theirs);
  }
}

TEST(SmpBytes, LidRoutedRequestsAreLibibmads) {
  base::Random generator(2);
  for (int round = 0; round < kRounds; ++round) {
    auto request = random_request(generator, false);
    Packet theirs{};
    ASSERT_NE(mad_encode(theirs.data(), &request.rpc, nullptr, request.data.data()), nullptr);
    ASSERT_EQ(packet_of(request.smp), theirs);
  }
}

TEST(SmpBytes, WholePacketsForUmadHoldTheSameMad) {
  base::Random generator(3);
  for (const bool directed : {true, false}) {
    auto request = random_request(generator, directed);
    std::vector<std::uint8_t> umad(sizeof(ib_user_mad) + 256);
    ib_portid_t port{};
    port.drpath = request.path;
    port.lid = directed ? 0 : 7;
    ASSERT_GE(mad_build_pkt(umad.data(), &request.rpc, &port, nullptr, request.data.data()), 0);
    // Where in the buffer the MAD lies depends on the kernel's ABI, which only umad_init asks for.
    EXPECT_FALSE(std::ranges::search(umad, packet_of(request.smp)).empty());
  }
}

TEST(SmpBytes, AnswersAreLibibmadsWhenTheyHaveComeToTheEndOfTheirPath) {
  base::Random generator(4);
  for (int round = 0; round < kRounds; ++round) {
    auto request = random_request(generator, true);
    request.rpc.method = IB_MAD_METHOD_GET_RESPONSE;
    request.rpc.rstatus = static_cast<std::uint32_t>(generator.below(0x8000));
    Packet theirs{};
    ASSERT_NE(mad_encode(theirs.data(), &request.rpc, &request.path, request.data.data()), nullptr);

    // libibmad writes the return path and leaves the initial one out; a node has collected it on the way.
    auto answer = request.smp.response(static_cast<std::uint16_t>(request.rpc.rstatus));
    answer.set_hop_pointer(static_cast<std::uint8_t>(request.path.cnt + 1));
    for (std::size_t hop = 1; hop < 64; ++hop) {
      answer.set_return_path(hop, answer.initial_path(hop));
      answer.set_initial_path(hop, PortNum{0});
    }
    ASSERT_EQ(packet_of(answer), theirs);
  }
}

TEST(SmpFields, RandomPacketsReadTheSame) {
  base::Random generator(5);
  for (int round = 0; round < kRounds; ++round) {
    Packet packet;
    for (auto& byte : packet) byte = static_cast<std::uint8_t>(generator());
    packet[1] = generator.chance(1, 2) ? IB_SMI_DIRECT_CLASS : IB_SMI_CLASS;
    const auto smp = *wire::Smp::from_bytes(packet);
    const auto field = [&](MAD_FIELDS name) { return mad_get_field(packet.data(), 0, name); };

    ASSERT_EQ(smp.base_version(), field(IB_MAD_BASEVER_F));
    ASSERT_EQ(smp.class_version(), field(IB_MAD_CLASSVER_F));
    ASSERT_EQ(static_cast<std::uint32_t>(smp.mgmt_class()), field(IB_MAD_MGMTCLASS_F));
    ASSERT_EQ(static_cast<std::uint32_t>(smp.method()), field(IB_MAD_METHOD_F) | field(IB_MAD_RESPONSE_F)
                                                                                     << 7U);
    ASSERT_EQ(wire::is_response(smp.method()), field(IB_MAD_RESPONSE_F) == 1);
    ASSERT_EQ(smp.status(), field(smp.is_directed() ? IB_DRSMP_STATUS_F : IB_MAD_STATUS_F));
    ASSERT_EQ(smp.returning(), smp.is_directed() && field(IB_DRSMP_DIRECTION_F) == 1);
    ASSERT_EQ(smp.hop_count(), field(IB_DRSMP_HOPCNT_F));
    ASSERT_EQ(smp.hop_pointer(), field(IB_DRSMP_HOPPTR_F));
    ASSERT_EQ(smp.header().class_specific, field(IB_DRSMP_HOPPTR_F) << 8U | field(IB_DRSMP_HOPCNT_F));
    ASSERT_EQ(smp.tid().value(), mad_get_field64(packet.data(), 0, IB_MAD_TRID_F));
    ASSERT_EQ(smp.attribute(), field(IB_MAD_ATTRID_F));
    ASSERT_EQ(smp.modifier(), field(IB_MAD_ATTRMOD_F));
    ASSERT_EQ(smp.m_key(), mad_get_field64(packet.data(), 0, IB_MAD_MKEY_F));
    ASSERT_EQ(smp.dr_slid().value(), field(IB_DRSMP_DRSLID_F));
    ASSERT_EQ(smp.dr_dlid().value(), field(IB_DRSMP_DRDLID_F));
    std::array<std::uint8_t, 64> initial{}, back{};
    mad_get_array(packet.data(), 0, IB_DRSMP_PATH_F, initial.data());
    mad_get_array(packet.data(), 0, IB_DRSMP_RPATH_F, back.data());
    for (std::size_t hop = 0; hop < 64; ++hop) {
      ASSERT_EQ(smp.initial_path(hop).value(), initial[hop]);
      ASSERT_EQ(smp.return_path(hop).value(), back[hop]);
    }
  }
}

TEST(SmpFields, WhatIsWrittenTheyRead) {
  base::Random generator(6);
  for (int round = 0; round < kRounds; ++round) {
    auto smp = wire::Smp::directed(wire::Method::get, 0x11, 0, std::vector<PortNum>{});
    const auto status = static_cast<std::uint16_t>(generator.below(0x8000));
    const auto slid = static_cast<std::uint16_t>(generator()), dlid = static_cast<std::uint16_t>(generator());
    const auto pointer = static_cast<std::uint8_t>(generator());
    smp.set_returning(true);
    smp.set_status(status);
    smp.set_dr_slid(Lid{slid});
    smp.set_dr_dlid(Lid{dlid});
    smp.set_hop_pointer(pointer);
    auto packet = packet_of(smp);
    ASSERT_EQ(mad_get_field(packet.data(), 0, IB_DRSMP_STATUS_F), status);
    ASSERT_EQ(mad_get_field(packet.data(), 0, IB_DRSMP_DIRECTION_F), 1U);
    ASSERT_EQ(mad_get_field(packet.data(), 0, IB_DRSMP_DRSLID_F), slid);
    ASSERT_EQ(mad_get_field(packet.data(), 0, IB_DRSMP_DRDLID_F), dlid);
    ASSERT_EQ(mad_get_field(packet.data(), 0, IB_DRSMP_HOPPTR_F), pointer);
  }
}

}  // namespace
}  // namespace smd::conformance
