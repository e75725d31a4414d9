// SPDX-License-Identifier: Apache-2.0
// Services and subscriptions as clients register them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "smd/sa/registry/services.h"
#include "smd/sa/registry/subscriptions.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

using test::Question;
using wire::InformInfo;
using wire::Method;
using ServiceFields = wire::ServiceRecord;

class SaServices : public testing::Test {
 protected:
  test::SaLab lab_{"ft2:4"};
  test::SaSession session_{lab_};
  const sa::EndPort& host(std::size_t index) const {
    const auto& ports = lab_.directory().end_ports();
    return ports[ports.size() - 1 - index];
  }
  ServiceFields record(std::size_t host_index, std::uint64_t id, std::uint32_t lease = sa::kNoEnd) const {
    ServiceFields record;
    record.id = id;
    record.gid = lab_.directory().gid_of(host(host_index));
    record.pkey = PKey{0xFFFF};
    record.lease = lease;
    std::ranges::copy(std::string_view("storage"), record.name.begin());
    return record;
  }
  test::Reply send(std::size_t from, Method method, const ServiceFields& what, std::uint64_t mask = 0xFFF7,
                   std::uint64_t key = 0) {
    const Question question{
        .method = method, .attribute = ServiceFields::kRecord, .mask = mask, .sm_key = key};
    return session_.write(host(from), question.with(what));
  }
  test::Reply table(const ServiceFields& what, std::uint64_t mask, std::uint64_t key = 0) const {
    return session_.ask(
        Question{.attribute = ServiceFields::kRecord, .mask = mask, .sm_key = key}.with(what));
  }
};

TEST_F(SaServices, AServiceIsOfferedFoundAndWithdrawn) {
  ASSERT_EQ(send(0, Method::set, record(0, 0x11)).status, 0);
  ASSERT_EQ(send(1, Method::set, record(1, 0x11)).status, 0);
  ASSERT_EQ(send(1, Method::set, record(1, 0x12)).status, 0);

  EXPECT_EQ(table({}, 0).records.size(), 3U);
  EXPECT_EQ(table(record(0, 0x11), 1U << ServiceFields::kId).records.size(), 2U);
  EXPECT_EQ(table(record(0, 0), 1U << ServiceFields::kGid).records.size(), 1U);
  EXPECT_EQ(table(record(0, 0), 1U << ServiceFields::kServiceName).records.size(), 3U);
  EXPECT_EQ(send(0, Method::remove, record(0, 0x11), 1).status, wire::kSaTooManyRecords);
  EXPECT_EQ(send(0, Method::remove, record(0, 0x11)).status, 0);
  EXPECT_EQ(send(0, Method::remove, record(0, 0x11)).status, wire::kSaNoRecords);
  EXPECT_EQ(table({}, 0).records.size(), 2U);
  EXPECT_EQ(session_.registry().uses(host(1).guid).services, 2U);
}

TEST_F(SaServices, APKeyOfNoPartitionIsTheDefaultOne) {
  const auto by_pkey = 1U << ServiceFields::kId | 1U << ServiceFields::kPKey;
  for (const std::uint16_t pkey : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
    auto asked = record(0, 0x11);
    asked.pkey = PKey{pkey};
    const auto answer = send(0, Method::set, asked);
    ASSERT_EQ(answer.status, 0);
    EXPECT_EQ(answer.get<ServiceFields>(0).pkey, PKey{0xFFFF});
    EXPECT_EQ(session_.registry().services().size(), 1U) << "the same one";
    EXPECT_EQ(table(asked, by_pkey).records.size(), 1U);
    EXPECT_EQ(table(record(0, 0x11), by_pkey).records.size(), 1U);
    EXPECT_EQ(table(asked, 1U << ServiceFields::kPKey).get<ServiceFields>(0).pkey, PKey{0xFFFF});
    EXPECT_EQ(send(0, Method::remove, asked).status, 0);
  }
  ASSERT_EQ(send(0, Method::set, record(0, 0x11)).status, 0);
  auto limited = record(0, 0x11);
  limited.pkey = PKey{0x7FFF};
  EXPECT_TRUE(table(limited, by_pkey).records.empty());
}

TEST_F(SaServices, ANameIsAllOfItsBytes) {
  auto one = record(0, 0x11), other = record(0, 0x12);
  one.name = {'a', 0, 'b'};
  other.name = {'a', 0, 'c'};
  ASSERT_EQ(send(0, Method::set, one).status, 0);
  ASSERT_EQ(send(0, Method::set, other).status, 0);

  const auto found = table(one, 1U << ServiceFields::kServiceName);
  ASSERT_EQ(found.records.size(), 1U);
  EXPECT_EQ(found.get<ServiceFields>(0).name, one.name);
  EXPECT_EQ(found.get<ServiceFields>(0).id, 0x11U);
}

TEST_F(SaServices, ALeaseEnds) {
  session_.now() = 1000;
  ASSERT_EQ(send(0, Method::set, record(0, 0x11, 10)).status, 0);
  ASSERT_EQ(send(0, Method::set, record(0, 0x12, 20)).status, 0);
  session_.now() = 1009;
  session_.expire();
  EXPECT_EQ(table({}, 0).records.size(), 2U);
  EXPECT_EQ(table(record(0, 0x11), 1).get<ServiceFields>(0).lease, 1U);
  ASSERT_EQ(send(0, Method::set, record(0, 0x12, 20)).status, 0);  // once more
  session_.now() = 1020;
  session_.expire();
  EXPECT_EQ(table({}, 0).get<ServiceFields>(0).id, 0x12U);
  session_.now() = 1029;
  session_.expire();
  EXPECT_TRUE(session_.registry().services().empty());
}

TEST_F(SaServices, AServiceKeyGuardsIt) {
  auto keyed = record(0, 0x11);
  keyed.key[3] = 7;
  ASSERT_EQ(send(0, Method::set, keyed).status, 0);
  EXPECT_EQ(send(1, Method::set, record(0, 0x11)).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.last_refusal().component, "ServiceKey");
  EXPECT_EQ(send(0, Method::set, keyed).status, 0);
  EXPECT_EQ(send(1, Method::remove, record(0, 0x11)).status, wire::kSaRequestInvalid);
  // It is shown to those who know the SM_Key; who knows it may ask by it.
  EXPECT_EQ(table({}, 0).get<ServiceFields>(0).key, ServiceFields{}.key);
  EXPECT_EQ(table({}, 0, 1).get<ServiceFields>(0).key, keyed.key);
  EXPECT_EQ(table(keyed, 1U << ServiceFields::kKey).records.size(), 1U);
  EXPECT_EQ(table(record(0, 0), 1U << ServiceFields::kKey).status, 0);
  EXPECT_TRUE(table(record(0, 0), 1U << ServiceFields::kKey).records.empty());
  EXPECT_EQ(send(1, Method::remove, keyed).status, 0);
}

TEST_F(SaServices, AnothersServiceStays) {
  ASSERT_EQ(send(0, Method::set, record(0, 0x11)).status, 0);
  EXPECT_EQ(send(1, Method::remove, record(0, 0x11)).status, wire::kSaRequestInvalid);
  EXPECT_EQ(send(1, Method::remove, record(0, 0x11), 0xFFF7, 1).status, 0);
  auto foreign = record(0, 0x11);
  foreign.pkey = PKey{0x8001};
  EXPECT_EQ(send(0, Method::set, foreign).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.last_refusal().component, "ServiceP_Key");
  EXPECT_EQ(send(0, Method::set, record(0, 1), 1U << ServiceFields::kId).status,
            wire::kSaInsufficientComponents);
  session_.settings().services_per_port = 1;
  EXPECT_EQ(send(0, Method::set, record(0, 1)).status, 0);
  EXPECT_EQ(send(0, Method::set, record(0, 2)).status, wire::kSaNoResources);
}

InformInfo inform_info(std::uint16_t trap) {
  return {.gid = {},
          .lid_begin = Lid{0xFFFF},
          .lid_end = {},
          .is_generic = 1,
          .subscribe = 1,
          .type = 0xFFFF,
          .trap = trap,
          .qp = 1,
          .response_time = 18,
          .producer = 0xFFFFFF};
}

class SaSubscriptions : public SaServices {
 protected:
  test::Reply inform(std::size_t from, const InformInfo& info) {
    return session_.write(host(from),
                          Question{.method = Method::set, .attribute = InformInfo::kAttribute}.with(info));
  }
  std::vector<Guid> told(const sa::Event& event) const {
    std::vector<Guid> ports;
    for (const auto& one : sa::addressees(lab_.directory(), session_.registry(), event)) {
      ports.push_back(one.who.port);
    }
    return ports;
  }
  sa::Event event(std::uint16_t trap) const {
    return sa::event_of(host(3), lab_.directory().gid_of(host(3)), trap, lab_.directory().gid_of(host(2)));
  }
};

TEST_F(SaSubscriptions, WhoSubscribesIsToldOfWhatItNamed) {
  ASSERT_EQ(inform(0, inform_info(64)).status, 0);
  ASSERT_EQ(inform(0, inform_info(64)).status, 0);  // the same once more
  ASSERT_EQ(inform(1, inform_info(0xFFFF)).status, 0);
  auto by_lid = inform_info(0xFFFF);
  by_lid.lid_begin = by_lid.lid_end = host(0).lid;
  ASSERT_EQ(inform(2, by_lid).status, 0);

  EXPECT_THAT(told(event(64)), testing::UnorderedElementsAre(host(0).guid, host(1).guid));
  EXPECT_THAT(told(event(65)), testing::UnorderedElementsAre(host(1).guid));
  auto of_host = event(128);
  of_host.notice.issuer_lid = host(0).lid;
  EXPECT_THAT(told(of_host), testing::UnorderedElementsAre(host(1).guid, host(2).guid));

  auto no_longer = inform_info(64);
  no_longer.subscribe = 0;
  EXPECT_EQ(inform(0, no_longer).status, 0);
  EXPECT_EQ(inform(0, no_longer).status, wire::kSaRequestInvalid);
  EXPECT_THAT(told(event(64)), testing::ElementsAre(host(1).guid));
}

TEST_F(SaSubscriptions, AReportSaysWhatAndWhose) {
  const auto bytes = sa::report_of(event(66));
  const auto header = *wire::decode<wire::MadHeader>(bytes);
  EXPECT_EQ(header.method, Method::report);
  const auto notice = *wire::decode<wire::Notice>(std::span(bytes).subspan(wire::kSaDataOffset));
  EXPECT_EQ(notice.trap, 66);
  EXPECT_EQ(notice.issuer_lid, host(3).lid);
  EXPECT_EQ(sa::subject_of(notice), lab_.directory().gid_of(host(2)));
}

TEST_F(SaSubscriptions, AreShownToTheSubscriberAndToWhoKnowsTheKey) {
  inform(0, inform_info(64));
  inform(0, inform_info(65));
  inform(1, inform_info(66));
  using Id = wire::InformInfoRecordId;
  const Question question{.attribute = Id::kRecord, .sm_key = 1};
  const auto all = session_.ask(question.with());
  ASSERT_EQ(all.records.size(), 3U);
  EXPECT_EQ(all.record_bytes, 64U);
  const Question one{.attribute = Id::kRecord, .mask = 0b11, .sm_key = 1};
  const auto second = session_.ask(one.with(Id{.subscriber = lab_.directory().gid_of(host(0)), .number = 1}));
  ASSERT_EQ(second.records.size(), 1U);
  EXPECT_EQ(second.get<InformInfo>(0, Id::kAttributeAt).trap, 65);
}

/// Where a GID is named LIDs say nothing, nor does the last LID behind one that means all.
TEST_F(SaSubscriptions, AreTheSameWhateverFieldsSayThatMeanNothing) {
  auto all = inform_info(64), end_all = all;
  end_all.subscribe = 0;
  end_all.lid_end = Lid{0xFFFF};
  EXPECT_EQ(inform(0, all).status, 0);
  EXPECT_EQ(inform(0, end_all).status, 0);

  auto of_one = inform_info(64), end_one = of_one;
  of_one.gid = lab_.directory().gid_of(host(2));
  of_one.lid_begin = Lid{7};
  end_one.gid = of_one.gid;
  end_one.subscribe = 0;
  end_one.lid_begin = Lid{};
  end_one.lid_end = Lid{9};
  EXPECT_EQ(inform(0, of_one).status, 0);
  EXPECT_EQ(inform(0, end_one).status, 0);
  EXPECT_TRUE(session_.registry().subscriptions().empty());
}

/// As OpenSM has it.
TEST_F(SaSubscriptions, ALastLidOfZeroIsTheFirst) {
  auto one = inform_info(0xFFFF);
  one.lid_begin = host(1).lid;
  ASSERT_EQ(inform(0, one).status, 0);
  auto of_host = event(128);
  of_host.notice.issuer_lid = host(1).lid;
  EXPECT_THAT(told(of_host), testing::ElementsAre(host(0).guid));
  one.lid_end = one.lid_begin;
  one.subscribe = 0;
  EXPECT_EQ(inform(0, one).status, 0) << "it is the same";
}

/// Traps of wrong keys are for who is trusted.
TEST_F(SaSubscriptions, ToTrapsOfSecurityNeedTheSmKey) {
  for (const auto trap :
       {wire::trap::kBadMKey, wire::trap::kBadPKey, wire::trap::kBadQKey, wire::trap::kBadPKeyAtSwitch}) {
    EXPECT_EQ(inform(0, inform_info(trap)).status, wire::kSaRequestInvalid) << trap;
    const Question trusted{.method = Method::set, .attribute = InformInfo::kAttribute, .sm_key = 1};
    EXPECT_EQ(session_.write(host(0), trusted.with(inform_info(trap))).status, 0) << trap;
  }
  EXPECT_EQ(inform(0, inform_info(255)).status, 0);
  EXPECT_EQ(inform(0, inform_info(260)).status, 0);
}

TEST_F(SaSubscriptions, ARefusalSaysThatNobodyHasSubscribed) {
  auto bad = inform_info(64);
  bad.lid_begin = Lid{9};
  bad.lid_end = Lid{3};
  const Question set{.method = Method::set, .attribute = InformInfo::kAttribute};
  const auto mad = set.with(bad);
  const auto request = *sa::Request::parse(mad);
  auto registry = session_.registry();
  sa::Effects effects;
  sa::Writing writing{lab_.directory(), session_.settings(), registry, effects, 1};

  const auto bytes = sa::reply(request, sa::write(writing, {.port = &host(0), .lid = host(0).lid}, request));

  EXPECT_EQ(wire::decode<wire::MadHeader>(bytes)->status, wire::kSaRequestInvalid);
  const auto told = *wire::decode<InformInfo>(std::span(bytes).subspan(wire::kSaDataOffset));
  EXPECT_EQ(told.subscribe, 0);
  EXPECT_EQ(told.trap, 64);
}

TEST_F(SaSubscriptions, WhatMakesNoSenseIsRefused) {
  auto bad = inform_info(64);
  bad.subscribe = 2;
  EXPECT_EQ(inform(0, bad).status, wire::kSaRequestInvalid);
  bad = inform_info(64);
  bad.lid_begin = Lid{9};
  bad.lid_end = Lid{3};
  EXPECT_EQ(inform(0, bad).status, wire::kSaRequestInvalid);
  session_.settings().subscriptions_per_port = 2;
  EXPECT_EQ(inform(0, inform_info(1)).status, 0);
  EXPECT_EQ(inform(0, inform_info(2)).status, 0);
  EXPECT_EQ(inform(0, inform_info(3)).status, wire::kSaNoResources);
}

}  // namespace
}  // namespace smd
