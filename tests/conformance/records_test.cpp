// SPDX-License-Identifier: Apache-2.0
// The records of subnet administration against libopensm's structs (infiniband/iba/ib_types.h), with random
// bytes.

#include "mad/wire/sa/records.h"

#include <gtest/gtest.h>
#include <iba/ib_types.h>

#include <array>
#include <cstring>

#include "mad/base/random.h"
#include "mad/wire/random.h"
#include "mad/wire/sa/inform_info.h"
#include "mad/wire/sa/member_record.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/sa_mad.h"
#include "mad/wire/sa/service_record.h"

namespace smd::conformance {
namespace {

constexpr int kRounds = 300;

/// The same random bytes as ours and as theirs.
template <class Ours, class Theirs>
struct Both {
  Ours ours;
  Theirs theirs;
};

template <class Ours, class Theirs>
Both<Ours, Theirs> both(base::Random& generator) {
  std::array<std::uint8_t, 256> bytes{};
  static_assert(sizeof(Theirs) <= bytes.size());
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator());
  Both<Ours, Theirs> result{.ours = *wire::decode<Ours>(bytes), .theirs = {}};
  std::memcpy(&result.theirs, bytes.data(), sizeof(Theirs));
  return result;
}

bool same_gid(const GidBytes& ours, const ib_gid_t& theirs) {
  return std::memcmp(ours.data(), theirs.raw, ours.size()) == 0;
}

TEST(Records, PathRecord) {
  base::Random generator(1);
  for (int round = 0; round < kRounds; ++round) {
    auto [ours, theirs] = both<wire::PathRecord, ib_path_rec_t>(generator);
    ASSERT_EQ(ours.service_id, cl_ntoh64(theirs.service_id));
    ASSERT_TRUE(same_gid(ours.dgid.bytes, theirs.dgid) && same_gid(ours.sgid.bytes, theirs.sgid));
    ASSERT_EQ(ours.dlid.value(), cl_ntoh16(theirs.dlid));
    ASSERT_EQ(ours.slid.value(), cl_ntoh16(theirs.slid));
    const auto word = cl_ntoh32(theirs.hop_flow_raw);
    ASSERT_EQ(ours.raw_traffic, word >> 31 != 0);
    ASSERT_EQ(ours.flow_label, word >> 8 & 0xFFFFF);
    ASSERT_EQ(ours.hop_limit, word & 0xFF);
    ASSERT_EQ(ours.traffic_class, theirs.tclass);
    ASSERT_EQ(ours.reversible, theirs.num_path >> 7 != 0);
    ASSERT_EQ(ours.paths, theirs.num_path & 0x7F);
    ASSERT_EQ(ours.pkey.value(), cl_ntoh16(theirs.pkey));
    ASSERT_EQ(ours.qos_class, ib_path_rec_qos_class(&theirs));
    ASSERT_EQ(ours.sl.value(), ib_path_rec_sl(&theirs));
    ASSERT_EQ(static_cast<unsigned>(ours.mtu), ib_path_rec_mtu(&theirs));
    ASSERT_EQ(static_cast<unsigned>(ours.mtu_selector), ib_path_rec_mtu_sel(&theirs));
    ASSERT_EQ(ours.rate, ib_path_rec_rate(&theirs));
    ASSERT_EQ(static_cast<unsigned>(ours.rate_selector), ib_path_rec_rate_sel(&theirs));
    ASSERT_EQ(ours.life, ib_path_rec_pkt_life(&theirs));
    ASSERT_EQ(static_cast<unsigned>(ours.life_selector), ib_path_rec_pkt_life_sel(&theirs));
    ASSERT_EQ(ours.preference, theirs.preference);
  }
  EXPECT_EQ(wire::PathRecord::kBytes, sizeof(ib_path_rec_t));
}

TEST(Records, MultiPathRecord) {
  base::Random generator(2);
  for (int round = 0; round < kRounds; ++round) {
    auto [ours, theirs] = both<wire::MultiPathRecord, ib_multipath_rec_t>(generator);
    ASSERT_EQ(ours.paths, theirs.num_path & 0x7F);
    ASSERT_EQ(ours.pkey.value(), cl_ntoh16(theirs.pkey));
    ASSERT_EQ(ours.sl.value(), ib_multipath_rec_sl(&theirs));
    ASSERT_EQ(static_cast<unsigned>(ours.mtu), ib_multipath_rec_mtu(&theirs));
    ASSERT_EQ(ours.rate, ib_multipath_rec_rate(&theirs));
    ASSERT_EQ(ours.life, ib_multipath_rec_pkt_life(&theirs));
    ASSERT_EQ(ours.service_id_high, theirs.service_id_8msb);
    ASSERT_EQ(ours.independence, theirs.independence >> 6);
    ASSERT_EQ(ours.sources, theirs.sgid_count);
    ASSERT_EQ(ours.destinations, theirs.dgid_count);
    ASSERT_EQ(ours.service_id_low & 0xFF, theirs.service_id_56lsb[6]);
    ASSERT_EQ(ours.service_id_low >> 48, theirs.service_id_56lsb[0]);
  }
  EXPECT_EQ(wire::MultiPathRecord::kGidsAt, offsetof(ib_multipath_rec_t, gids));
}

TEST(Records, MemberRecord) {
  base::Random generator(3);
  for (int round = 0; round < kRounds; ++round) {
    auto [ours, theirs] = both<wire::McMemberRecord, ib_member_rec_t>(generator);
    ASSERT_TRUE(same_gid(ours.mgid.bytes, theirs.mgid) && same_gid(ours.port_gid.bytes, theirs.port_gid));
    ASSERT_EQ(ours.qkey, cl_ntoh32(theirs.qkey));
    ASSERT_EQ(ours.mlid.value(), cl_ntoh16(theirs.mlid));
    ASSERT_EQ(static_cast<unsigned>(ours.mtu), theirs.mtu & 0x3F);
    ASSERT_EQ(static_cast<unsigned>(ours.mtu_selector), theirs.mtu >> 6);
    ASSERT_EQ(ours.traffic_class, theirs.tclass);
    ASSERT_EQ(ours.pkey.value(), cl_ntoh16(theirs.pkey));
    ASSERT_EQ(ours.rate, theirs.rate & 0x3F);
    ASSERT_EQ(ours.life, theirs.pkt_life & 0x3F);
    std::uint8_t sl = 0, hop = 0, scope = 0, state = 0;
    std::uint32_t flow = 0;
    ib_member_get_sl_flow_hop(theirs.sl_flow_hop, &sl, &flow, &hop);
    ib_member_get_scope_state(theirs.scope_state, &scope, &state);
    ASSERT_EQ(ours.sl.value(), sl);
    ASSERT_EQ(ours.flow_label, flow);
    ASSERT_EQ(ours.hop_limit, hop);
    ASSERT_EQ(ours.scope, scope);
    ASSERT_EQ(ours.join_state, state);
  }
}

TEST(Records, ServiceRecord) {
  base::Random generator(4);
  for (int round = 0; round < kRounds; ++round) {
    auto [ours, theirs] = both<wire::ServiceRecord, ib_service_record_t>(generator);
    ASSERT_EQ(ours.id, cl_ntoh64(theirs.service_id));
    ASSERT_TRUE(same_gid(ours.gid.bytes, theirs.service_gid));
    ASSERT_EQ(ours.pkey.value(), cl_ntoh16(theirs.service_pkey));
    ASSERT_EQ(ours.lease, cl_ntoh32(theirs.service_lease));
    ASSERT_EQ(std::memcmp(ours.key.data(), theirs.service_key, ours.key.size()), 0);
    ASSERT_EQ(std::memcmp(ours.name.data(), theirs.service_name, ours.name.size()), 0);
    ASSERT_EQ(ours.data8[15], theirs.service_data8[15]);
    ASSERT_EQ(ours.data16[7], cl_ntoh16(theirs.service_data16[7]));
    ASSERT_EQ(ours.data32[3], cl_ntoh32(theirs.service_data32[3]));
    ASSERT_EQ(ours.data64[1], cl_ntoh64(theirs.service_data64[1]));
  }
  EXPECT_EQ(wire::ServiceRecord::kBytes, sizeof(ib_service_record_t));
}

TEST(Records, InformInfo) {
  base::Random generator(5);
  for (int round = 0; round < kRounds; ++round) {
    auto [ours, theirs] = both<wire::InformInfo, ib_inform_info_t>(generator);
    ASSERT_TRUE(same_gid(ours.gid.bytes, theirs.gid));
    ASSERT_EQ(ours.lid_begin.value(), cl_ntoh16(theirs.lid_range_begin));
    ASSERT_EQ(ours.lid_end.value(), cl_ntoh16(theirs.lid_range_end));
    ASSERT_EQ(ours.is_generic, theirs.is_generic);
    ASSERT_EQ(ours.subscribe, theirs.subscribe);
    ASSERT_EQ(ours.type, cl_ntoh16(theirs.trap_type));
    ASSERT_EQ(ours.trap, cl_ntoh16(theirs.g_or_v.generic.trap_num));
    ASSERT_EQ(ours.qp, cl_ntoh32(theirs.g_or_v.generic.qpn_resp_time_val) >> 8);
    ASSERT_EQ(ours.response_time, cl_ntoh32(theirs.g_or_v.generic.qpn_resp_time_val) & 0x1F);
    ASSERT_EQ(ours.producer, std::uint32_t{theirs.g_or_v.generic.node_type_msb} << 16 |
                                 cl_ntoh16(theirs.g_or_v.generic.node_type_lsb));
  }
  EXPECT_EQ(wire::InformInfo::kBytes, sizeof(ib_inform_info_t));
}

TEST(Records, Identifiers) {
  base::Random generator(6);
  for (int round = 0; round < kRounds; ++round) {
    const auto sl = both<wire::SlToVlRecordId, ib_slvl_table_record_t>(generator);
    ASSERT_EQ(sl.ours.in.value(), sl.theirs.in_port_num);
    ASSERT_EQ(sl.ours.out.value(), sl.theirs.out_port_num);
    const auto pkey = both<wire::PKeyRecordId, ib_pkey_table_record_t>(generator);
    ASSERT_EQ(pkey.ours.block, cl_ntoh16(pkey.theirs.block_num));
    ASSERT_EQ(pkey.ours.port.value(), pkey.theirs.port_num);
    const auto arb = both<wire::VlArbRecordId, ib_vl_arb_table_record_t>(generator);
    ASSERT_EQ(arb.ours.port.value(), arb.theirs.port_num);
    ASSERT_EQ(arb.ours.block, arb.theirs.block_num);
    const auto link = both<wire::LinkRecord, ib_link_record_t>(generator);
    ASSERT_EQ(link.ours.from_lid.value(), cl_ntoh16(link.theirs.from_lid));
    ASSERT_EQ(link.ours.from_port.value(), link.theirs.from_port_num);
    ASSERT_EQ(link.ours.to_port.value(), link.theirs.to_port_num);
    ASSERT_EQ(link.ours.to_lid.value(), cl_ntoh16(link.theirs.to_lid));
    const auto port = both<wire::PortInfoRecordId, ib_portinfo_record_t>(generator);
    ASSERT_EQ(port.ours.port.value(), port.theirs.port_num);
    ASSERT_EQ(port.ours.options, port.theirs.options);
    const auto mft = both<wire::MftRecordId, ib_mft_record_t>(generator);
    const auto place = cl_ntoh16(mft.theirs.position_block_num);
    ASSERT_EQ(mft.ours.position, place >> 12);
    ASSERT_EQ(mft.ours.block, place & 0x1FF);
    const auto guid = both<wire::GuidInfoRecordId, ib_guidinfo_record_t>(generator);
    ASSERT_EQ(guid.ours.block, guid.theirs.block_num);
    const auto lft = both<wire::LftRecordId, ib_lft_record_t>(generator);
    ASSERT_EQ(lft.ours.lid.value(), cl_ntoh16(lft.theirs.lid));
    ASSERT_EQ(lft.ours.block, cl_ntoh16(lft.theirs.block_num));
    const auto inform = both<wire::InformInfoRecordId, ib_inform_info_record_t>(generator);
    ASSERT_EQ(inform.ours.number, cl_ntoh16(inform.theirs.subscriber_enum));
  }
  EXPECT_EQ(wire::NodeRecordId::kDescriptionAt, offsetof(ib_node_record_t, node_desc));
  EXPECT_EQ(wire::SwitchInfoRecordId::kAttributeAt, offsetof(ib_switch_info_record_t, switch_info));
  EXPECT_EQ(wire::SmInfoRecordId::kAttributeAt, offsetof(ib_sminfo_record_t, sm_info));
  EXPECT_EQ(wire::InformInfoRecordId::kAttributeAt, offsetof(ib_inform_info_record_t, inform_info));
}

TEST(Records, Headers) {
  base::Random generator(7);
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::uint8_t, 256> bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator());
    ib_sa_mad_t theirs;
    std::memcpy(&theirs, bytes.data(), sizeof(theirs));
    const auto rmpp = *wire::decode<wire::RmppHeader>(std::span(bytes).subspan(wire::kRmppOffset));
    const auto sa = *wire::decode<wire::SaHeader>(std::span(bytes).subspan(wire::kSaOffset));
    ASSERT_EQ(rmpp.version, theirs.rmpp_version);
    ASSERT_EQ(static_cast<std::uint8_t>(rmpp.type), theirs.rmpp_type);
    ASSERT_EQ(rmpp.active, (theirs.rmpp_flags & IB_RMPP_FLAG_ACTIVE) != 0);
    ASSERT_EQ(rmpp.first, (theirs.rmpp_flags & IB_RMPP_FLAG_FIRST) != 0);
    ASSERT_EQ(rmpp.last, (theirs.rmpp_flags & IB_RMPP_FLAG_LAST) != 0);
    ASSERT_EQ(rmpp.segment, cl_ntoh32(theirs.seg_num));
    ASSERT_EQ(rmpp.length, cl_ntoh32(theirs.paylen_newwin));
    ASSERT_EQ(sa.sm_key, cl_ntoh64(theirs.sm_key));
    ASSERT_EQ(sa.attribute_offset, cl_ntoh16(theirs.attr_offset));
    ASSERT_EQ(sa.component_mask, cl_ntoh64(theirs.comp_mask));
  }
  EXPECT_EQ(wire::kSaDataOffset, offsetof(ib_sa_mad_t, data));
}

}  // namespace
}  // namespace smd::conformance
