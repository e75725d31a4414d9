// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/packet.h"

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include "mad/wire/performance.h"
#include "mad/wire/sa/records.h"
#include "mad/wire/smp.h"

namespace smd::wire {
namespace {

TEST(Packet, EachClassHasItsDataWhereLibibmadHasIt) {
  EXPECT_EQ(data_place(MgmtClass::sm_lid).first, std::size_t{IB_SMP_DATA_OFFS});
  EXPECT_EQ(data_place(MgmtClass::sm_directed).size, 64U);
  EXPECT_EQ(data_place(MgmtClass::sa).first, std::size_t{IB_SA_DATA_OFFS});
  EXPECT_EQ(data_place(MgmtClass::perf).first, std::size_t{IB_PC_DATA_OFFS});
  EXPECT_EQ(data_place(MgmtClass::bm).first, std::size_t{IB_BM_DATA_OFFS});
  EXPECT_EQ(data_place(MgmtClass::vendor_mlnx).first, std::size_t{IB_VENDOR_RANGE1_DATA_OFFS});
  EXPECT_EQ(data_place(static_cast<MgmtClass>(0x09)).first, std::size_t{IB_VENDOR_RANGE1_DATA_OFFS});
  EXPECT_EQ(data_place(static_cast<MgmtClass>(0x30)).first, std::size_t{IB_VENDOR_RANGE2_DATA_OFFS});
  EXPECT_EQ(data_place(static_cast<MgmtClass>(0x4F)).first, std::size_t{IB_VENDOR_RANGE2_DATA_OFFS});
  for (unsigned number = 0; number < 256; ++number) {
    const auto place = data_place(static_cast<MgmtClass>(number));
    EXPECT_LE(place.first + place.size, kMadBytes) << number;
  }
}

TEST(Packet, AnAttributeLiesInTheDataOfItsClass) {
  Mad mad(MgmtClass::perf, 1, Method::get, PortCounters::kAttribute);
  mad.put(PortCounters{.port = PortNum{3}, .receive_packets = 0x01020304});

  EXPECT_EQ(mad.get<PortCounters>().receive_packets, 0x01020304U);
  EXPECT_EQ(mad.bytes()[64 + 1], 3);
  EXPECT_EQ(mad.bytes()[64 + 36], 1);
  EXPECT_EQ(mad.header().mgmt_class, MgmtClass::perf);
}

TEST(Packet, TheAnswerIsTheRequestWithMethodAndStatus) {
  Mad mad(MgmtClass::perf, 1, Method::set, PortCounters::kAttribute, 7);
  mad.set_tid(Tid{0x42});
  const auto answer = mad.response(kStatusBadField);

  EXPECT_EQ(answer.method(), Method::get_resp);
  EXPECT_EQ(answer.status(), kStatusBadField);
  EXPECT_EQ(answer.tid(), Tid{0x42});
  EXPECT_EQ(answer.modifier(), 7U);
  EXPECT_FALSE(answer.returning()) << "the direction is of directed-route SMPs only";
}

TEST(Packet, ShortBytesAreNone) {
  EXPECT_FALSE(Mad::from_bytes(std::vector<std::uint8_t>(255)));
  EXPECT_TRUE(Mad::from_bytes(std::vector<std::uint8_t>(600)));
}

TEST(Packet, BothClassesOfSmpsHaveTheSameAttributes) {
  EXPECT_EQ(attributes_of(MgmtClass::sm_directed), attributes_of(MgmtClass::sm_lid));
  EXPECT_EQ(attributes_of(MgmtClass::perf), MgmtClass::perf);
  EXPECT_TRUE(is_smp(MgmtClass::sm_directed));
  EXPECT_FALSE(is_smp(MgmtClass::sa));
}

}  // namespace
}  // namespace smd::wire
