// SPDX-License-Identifier: Apache-2.0
// What is answered on the thread that receives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mad/wire/sa/member_record.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/fast_path.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using test::Question;
using wire::Method;

class SaFastPath : public testing::Test {
 protected:
  SaFastPath() {
    const auto hosts = lab_.directory().end_ports();
    one_ = hosts.front().lid;
    other_ = hosts.back().lid;
    fast_path_.set(std::make_shared<const sa::FastPath::Context>(
        sa::FastPath::Context{.directory = {std::shared_ptr<void>(), &lab_.directory()},
                              .registry = registry_,
                              .settings = {.sm_key = 1}}));
  }
  wire::PathRecord asked() const {
    wire::PathRecord path;
    path.slid = one_;
    path.dlid = other_;
    return path;
  }
  std::vector<std::uint8_t> path(Method method = Method::get) const {
    return Question{.method = method,
                    .attribute = wire::PathRecord::kRecord,
                    .mask = 1U << wire::PathRecord::kSlid | 1U << wire::PathRecord::kDlid}
        .with(asked());
  }
  static std::vector<std::uint8_t> by_lid(std::uint16_t attribute, std::uint64_t mask, Lid lid) {
    return Question{.method = Method::get, .attribute = attribute, .mask = mask}.with(
        wire::NodeRecordId{.lid = lid});
  }
  /// What is left of a batch.
  std::vector<std::vector<std::uint8_t>> rest(const std::vector<std::vector<std::uint8_t>>& mads,
                                              bool sends = true) {
    std::vector<mad::Received> batch;
    for (const auto& mad : mads)
      batch.push_back({.bytes = mad, .from = {.lid = Lid{7}, .qp = 1}, .error = 0});
    fast_path_.answer(batch, [&](std::span<const std::uint8_t> mad, const mad::LidRoute& to) {
      EXPECT_EQ(to.lid, Lid{7});
      EXPECT_EQ(to.qkey, sa::kQp1QKey);
      if (sends) replies_.emplace_back(mad.begin(), mad.end());
      return sends;
    });
    std::vector<std::vector<std::uint8_t>> left;
    for (auto& mad : batch) left.push_back(std::move(mad.bytes));
    return left;
  }

  test::SaLab lab_{"ft2:4"};
  sa::RegistryPtr registry_ = std::make_shared<const sa::Registry>();
  std::shared_ptr<sa::SaCounts> counts_ = std::make_shared<sa::SaCounts>();
  sa::FastPath fast_path_{&lab_.world().clock(), counts_};
  Lid one_, other_;
  std::vector<std::vector<std::uint8_t>> replies_;
};

TEST_F(SaFastPath, WhatOneLookupAnswersIsAnsweredAndTheRestStaysInItsOrder) {
  const auto info = Question{.method = Method::get, .attribute = 1}.with();
  const auto node = by_lid(wire::NodeRecordId::kRecord, 1, other_),
             any_node = by_lid(wire::NodeRecordId::kRecord, 0, {});
  const auto table = path(Method::get_table);
  const auto join = Question{.method = Method::set, .attribute = wire::McMemberRecord::kRecord}.with();
  const std::vector<std::uint8_t> noise(5, 0xA5);

  const auto left = rest({table, path(), join, info, any_node, node, noise});

  EXPECT_THAT(left, testing::ElementsAre(table, join, any_node, noise));
  ASSERT_EQ(replies_.size(), 3U);
  std::size_t i = 0;
  for (const auto& asked : {path(), info, node}) {
    EXPECT_EQ(replies_[i++],
              sa::answer(&lab_.directory(), *registry_, {.sm_key = 1}, asked, {.lid = Lid{7}}));
  }
}

TEST_F(SaFastPath, WhatIsAnsweredIsCountedAndNothingElse) {
  const auto info = Question{.method = Method::get, .attribute = 1}.with();
  rest({path(), info, path(), path(Method::get_table)});
  rest({path()}, false);
  const auto rows = counts_->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].attribute, "ClassPortInfo");
  EXPECT_EQ(rows[0].count, 1U);
  EXPECT_EQ(rows[1].attribute, "PathRecord");
  EXPECT_EQ(rows[1].status, "ok");
  EXPECT_EQ(rows[1].count, 2U);
}

TEST_F(SaFastPath, WhatCannotBeSentOrAnsweredIsLeftToTheSink) {
  EXPECT_EQ(rest({path()}, false).size(), 1U);
  const Question wrong_key{
      .method = Method::get, .attribute = wire::PathRecord::kRecord, .mask = 0x30, .sm_key = 99};
  EXPECT_EQ(rest({wrong_key.with(asked())}).size(), 1U);
  std::vector<mad::Received> given_up{{.bytes = path(), .from = {}, .error = ETIMEDOUT}};
  fast_path_.answer(given_up, [](auto&&...) { return true; });
  EXPECT_EQ(given_up.size(), 1U);
  fast_path_.set(nullptr);
  EXPECT_EQ(rest({path()}).size(), 1U);
  EXPECT_TRUE(replies_.empty());
}

}  // namespace
}  // namespace smd
