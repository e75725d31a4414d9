// SPDX-License-Identifier: Apache-2.0
// Every field of mad/wire against libibmad's own readers and writers, with random bytes both ways.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mad/base/random.h"
#include "mad/wire/random.h"
#include "tests/conformance/libibmad_fields.h"

namespace smd::conformance {
namespace {

constexpr int kRounds = 300;
using Buffer = std::array<std::uint8_t, 256>;  // larger than any attribute: libibmad reads whole words

Buffer random_bytes(base::Random& generator) {
  Buffer bytes;
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator());
  return bytes;
}

std::uint64_t get(Buffer& bytes, MAD_FIELDS field, std::size_t width) {
  return width > 32 ? mad_get_field64(bytes.data(), 0, field) : mad_get_field(bytes.data(), 0, field);
}
void set(Buffer& bytes, MAD_FIELDS field, std::size_t width, std::uint64_t value) {
  if (width > 32) {
    mad_set_field64(bytes.data(), 0, field, value);
  } else {
    mad_set_field(bytes.data(), 0, field, static_cast<std::uint32_t>(value));
  }
}

/// Calls fn(row, libibmad's field) for each row that libibmad has as one number.
template <class A, class Fn>
void for_each_same(Fn&& fn) {
  wire::for_each_field<A>([&](const auto& row) {
    if constexpr (wire::kIsNumber<std::remove_cvref_t<decltype(row)>>) {
      for (const Same& same : Libibmad<A>::same) {
        if (same.ours == row.name) fn(row, same.theirs);
      }
    }
  });
}

template <class A>
class Fields : public ::testing::Test {};
struct Name {
  template <class A>
  static std::string GetName(int /*index*/) {
    return std::string(A::kName);
  }
};
using Attributes = ::testing::Types<
    wire::NodeInfo, wire::NodeDescription, wire::SwitchInfo, wire::PortInfo, wire::GuidInfo, wire::PKeyTable,
    wire::SlToVl, wire::VlArbitration, wire::LinearForwardingTable, wire::MulticastForwardingTable,
    wire::SmInfo, wire::Notice, wire::ClassPortInfo, wire::PortInfoExtended, wire::MlnxExtPortInfo,
    wire::PortCounters, wire::PortCountersExtended, wire::PortReceiveErrorDetails,
    wire::PortTransmitDiscardDetails, wire::PortSamplesControl, wire::PortTransmitDataSl,
    wire::PortReceiveDataSl, wire::PortExtendedSpeedsCounters, wire::PortOpReceiveCounters,
    wire::PortFlowControlCounters, wire::PortVlOpPackets, wire::PortVlOpData, wire::PortVlFlowUpdateErrors,
    wire::PortVlWaits, wire::SwitchPortVlCongestion, wire::PortReceiveCongestion, wire::PortSlFecn,
    wire::PortSlBecn, wire::PortTransmitCongestion, wire::PortVlTimeCongested, wire::MadHeader>;
TYPED_TEST_SUITE(Fields, Attributes, Name);

TYPED_TEST(Fields, EveryRowIsMappedOrSaysWhyNot) {
  std::map<std::string_view, int> times;
  for (const Same& same : Libibmad<TypeParam>::same) ++times[same.ours];
  for (const Apart& apart : Libibmad<TypeParam>::apart) {
    EXPECT_FALSE(apart.reason.empty());
    ++times[apart.ours];
  }
  std::size_t rows = 0;
  wire::for_each_field<TypeParam>([&](const auto& row) {
    ++rows;
    EXPECT_EQ(times[row.name], 1) << row.name;
  });
  EXPECT_EQ(times.size(), rows) << "a name here is none of the table's";
}

TYPED_TEST(Fields, RandomBytesReadTheSame) {
  base::Random generator(1);
  for (int round = 0; round < kRounds; ++round) {
    auto bytes = random_bytes(generator);
    const auto attribute = *wire::decode<TypeParam>(bytes);
    for_each_same<TypeParam>([&](const auto& row, MAD_FIELDS theirs) {
      ASSERT_EQ(wire::to_number(row.get(attribute, 0)), get(bytes, theirs, row.place.width)) << row.name;
    });
  }
}

TYPED_TEST(Fields, WhatWeWriteTheyRead) {
  base::Random generator(2);
  for (int round = 0; round < kRounds; ++round) {
    const auto attribute = wire::random<TypeParam>(generator);
    Buffer bytes{};
    wire::encode(attribute, bytes);
    for_each_same<TypeParam>([&](const auto& row, MAD_FIELDS theirs) {
      ASSERT_EQ(get(bytes, theirs, row.place.width), wire::to_number(row.get(attribute, 0))) << row.name;
    });
  }
}

TYPED_TEST(Fields, WhatTheyWriteOverRandomBytesWeRead) {
  base::Random generator(3);
  for (int round = 0; round < kRounds; ++round) {
    const auto desired = wire::random<TypeParam>(generator);
    auto bytes = random_bytes(generator);
    for_each_same<TypeParam>([&](const auto& row, MAD_FIELDS theirs) {
      set(bytes, theirs, row.place.width, wire::to_number(row.get(desired, 0)));
    });
    const auto read = *wire::decode<TypeParam>(bytes);
    for_each_same<TypeParam>([&](const auto& row, MAD_FIELDS) {
      ASSERT_EQ(wire::to_number(row.get(read, 0)), wire::to_number(row.get(desired, 0))) << row.name;
    });
  }
}

TYPED_TEST(Fields, BothWriteTheSameBytes) {
  base::Random generator(4);
  for (int round = 0; round < kRounds; ++round) {
    const auto random = wire::random<TypeParam>(generator);
    TypeParam mapped{};
    if constexpr (std::is_same_v<TypeParam, wire::MadHeader>)
      mapped = {.base_version = 0, .class_version = 0};
    Buffer theirs{}, ours{};
    for_each_same<TypeParam>([&](const auto& row, MAD_FIELDS field) {
      set(theirs, field, row.place.width, wire::to_number(row.get(random, 0)));
      row.set(mapped, 0, row.get(random, 0));
    });
    wire::encode(mapped, ours);
    ASSERT_EQ(ours, theirs);
  }
}

/// Each number of the array is what libibmad reads from `first` on.
template <class A, class Numbers>
void expect_array(Numbers A::* member, std::size_t width, MAD_FIELDS first) {
  base::Random generator(5);
  const auto attribute = wire::random<A>(generator);
  Buffer bytes{};
  wire::encode(attribute, bytes);
  for (std::size_t i = 0; i < (attribute.*member).size(); ++i)
    EXPECT_EQ(get(bytes, static_cast<MAD_FIELDS>(first + i), width), (attribute.*member)[i]) << A::kName << i;
}

TEST(Lanes, EachIsReadByItsName) {
  using Speeds = wire::PortExtendedSpeedsCounters;
  expect_array(&wire::PortTransmitDataSl::counters, 32, IB_PC_XMT_DATA_SL0_F);
  expect_array(&wire::PortReceiveDataSl::counters, 32, IB_PC_RCV_DATA_SL0_F);
  expect_array(&wire::PortVlOpPackets::counters, 16, IB_PC_PORT_VL_OP_PACKETS0_F);
  expect_array(&wire::PortVlOpData::counters, 32, IB_PC_PORT_VL_OP_DATA0_F);
  expect_array(&wire::PortVlFlowUpdateErrors::counters, 2, IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS0_F);
  expect_array(&wire::PortVlWaits::counters, 16, IB_PC_PORT_VL_XMIT_WAIT0_F);
  expect_array(&wire::SwitchPortVlCongestion::counters, 16, IB_PC_SW_PORT_VL_CONGESTION0_F);
  expect_array(&wire::PortSlFecn::counters, 32, IB_PC_SL_RCV_FECN0_F);
  expect_array(&wire::PortSlBecn::counters, 32, IB_PC_SL_RCV_BECN0_F);
  expect_array(&wire::PortVlTimeCongested::counters, 32, IB_PC_VL_XMIT_TIME_CONG0_F);
  expect_array(&Speeds::error_detection, 16, IB_PESC_ERR_DET_CTR_LANE0_F);
  expect_array(&Speeds::fec_corrected, 32, IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F);
  expect_array(&Speeds::fec_uncorrected, 32, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F);
}

}  // namespace
}  // namespace smd::conformance
