// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/attributes.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/mad.h"
#include "mad/wire/sa/service_record.h"

namespace smd::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Print, NamesAndNumbersAreWrittenAsTheFieldsToolsDo) {
  const NodeInfo info{
      .type = NodeType::switch_, .num_ports = 36, .node = Guid{0x2c90000000010}, .vendor_id = 0x2c9};
  const auto text = print(info);
  EXPECT_THAT(text, HasSubstr("NodeType=switch NumPorts=36 "));
  EXPECT_THAT(text, HasSubstr("NodeGUID=0x0002c90000000010"));
  EXPECT_THAT(text, HasSubstr("VendorID=0x0002c9"));
}

TEST(Print, AnUnknownValueOfAnEnumKeepsItsNumber) {
  EXPECT_THAT(print(PortInfo{.port_state = static_cast<PortState>(9)}), HasSubstr("PortState=unknown(9)"));
}

TEST(Print, KeysNeverShow) {
  EXPECT_THAT(print(PortInfo{.m_key = 0x1234567890abcdef}), HasSubstr("M_Key=(hidden)"));
  EXPECT_THAT(print(PortInfo{}), HasSubstr("M_Key=0 "));
  EXPECT_THAT(print(SmInfo{.sm_key = 0xdeadbeef}), HasSubstr("SM_Key=(hidden)"));
  const auto notice = generic_notice(NoticeType::security, kProducerCa, trap::kBadMKey, Lid{1},
                                     BadMKeyDetails{.m_key = 0x1234567890abcdef});
  EXPECT_THAT(describe(notice), Not(HasSubstr("1234567890abcdef")));
  EXPECT_THAT(print(notice), Not(HasSubstr("cdef")));
}

TEST(Print, RunsOfOneValueAreShort) {
  LinearForwardingTable table;
  table.ports.fill(kNoPort);
  table.ports[1] = PortNum{7};
  EXPECT_EQ(print(table), "Port=255,7,255*62");
}

TEST(Print, TextOfTheFabricCannotBreakTheLine) {
  EXPECT_EQ(print(NodeDescription{"a\n\"b\\\x7f"}), R"(NodeString="a\x0a\"b\\\x7f")");
}

TEST(Print, TextThatMayHaveAnyBytesIsShownUpToItsLast) {
  ServiceRecord record;
  record.name = {'a', 0, '"', 'b'};
  EXPECT_THAT(print(record), HasSubstr(R"(ServiceName="a\x00\"b" )"));
}

TEST(Print, GidsAreAddresses) {
  const ClassPortInfo info{.redirect_gid = Gid::of(kDefaultSubnetPrefix, Guid{0x2c90300010234})};
  EXPECT_THAT(print(info), HasSubstr("RedirectGID=fe80::2:c903:1:234 "));
}

TEST(Names, StatusesMethodsAttributesAndClasses) {
  EXPECT_EQ(status_text(kStatusOk), "ok");
  EXPECT_EQ(status_text(kStatusBusy), "busy");
  EXPECT_EQ(status_text(kStatusRedirect), "redirect");
  EXPECT_EQ(status_text(kStatusBadVersion), "unsupported version");
  EXPECT_EQ(status_text(kStatusBadMethod), "unsupported method");
  EXPECT_EQ(status_text(kStatusBadMethodAttribute), "unsupported method/attribute");
  EXPECT_EQ(status_text(kStatusBadField), "invalid field");
  EXPECT_EQ(status_text(kStatusBadField | kStatusBusy | 0x0100), "busy+invalid field+0x0100");
  EXPECT_EQ(status_text(0x0014), "status code 5");
  EXPECT_EQ(method_name(Method::get_resp), "GetResp");
  EXPECT_EQ(method_name(static_cast<Method>(0x2a)), "method 0x2a");
  EXPECT_EQ(attribute_name(PortInfo::kAttribute), "PortInfo");
  EXPECT_EQ(attribute_name(MlnxExtPortInfo::kAttribute), "MlnxExtPortInfo");
  EXPECT_EQ(attribute_name(ArInfo::kAttribute), "ARInfo");
  EXPECT_EQ(attribute_name(ClassPortInfo::kAttribute), ClassPortInfo::kName);
  EXPECT_EQ(attribute_name(0x1234), "attribute 0x1234");
  EXPECT_EQ(class_name(MgmtClass::sm_directed), "SubnDR");
  EXPECT_EQ(class_name(static_cast<MgmtClass>(0x77)), "class 0x77");
}

TEST(Names, EveryEnumOfTheWireHasText) {
  EXPECT_EQ(to_string(SmState::standby), "standby");
  EXPECT_EQ(to_string(static_cast<SmState>(7)), "unknown");
  EXPECT_EQ(to_string(SmControl::handover), "HANDOVER");
  EXPECT_EQ(to_string(static_cast<SmControl>(0)), "unknown");
  EXPECT_EQ(to_string(NoticeType::empty), "empty");
  EXPECT_EQ(to_string(static_cast<NoticeType>(9)), "unknown");
}

TEST(Mad, EachRequestHasItsAnswer) {
  EXPECT_EQ(response_to(Method::get), Method::get_resp);
  EXPECT_EQ(response_to(Method::set), Method::get_resp);
  EXPECT_EQ(response_to(Method::trap), Method::trap_repress);
  EXPECT_EQ(response_to(Method::report), Method::report_resp);
  EXPECT_EQ(response_to(Method::get_table), Method::get_table_resp);
  EXPECT_EQ(response_to(Method::get_multi), Method::get_multi_resp);
  EXPECT_EQ(response_to(Method::remove), Method::remove_resp);
  EXPECT_EQ(response_to(Method::get_resp), Method::none);
  EXPECT_TRUE(is_response(Method::get_resp));
  EXPECT_FALSE(is_response(Method::trap_repress));
}

}  // namespace
}  // namespace smd::wire
