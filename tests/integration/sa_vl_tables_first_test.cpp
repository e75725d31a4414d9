// SPDX-License-Identifier: Apache-2.0
// SL to VL tables that a client asks for soon after a takeover, while those of the whole fabric are read.
#include <gtest/gtest.h>

#include <map>

#include "mad/wire/sa/records.h"
#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using wire::SlToVlRecordId;

/// ft3:16: 320 switches with 17 * 17 tables each, 10,000 of which are read in half a second.
class SaVlTablesFirst : public testing::Test {
 protected:
  test::Reply table_of(Lid lid) {
    const test::Question question{.method = wire::Method::get_table,
                                  .attribute = SlToVlRecordId::kRecord,
                                  .mask = lid == Lid{} ? 0U : 1U};
    const auto bytes = question.with(SlToVlRecordId{.lid = lid});
    std::vector<std::uint8_t> came;
    client_->on_receive([&](std::span<mad::Received> batch) {
      for (auto& one : batch) came = one.bytes;
    });
    EXPECT_TRUE(client_->send(bytes, served_.address(), 1000ms));
    world_.run_for(50ms);
    client_->on_receive(nullptr);
    return came.empty() ? test::Reply{.status = 0xFFFF, .method = {}, .record_bytes = 0, .records = {}}
                        : test::reply_of(came);
  }
  Lid switch_lid(std::size_t number) {
    for (const auto& node : served_.last().subnet->nodes) {
      if (node->is_switch() && number-- == 0) return node->ports[0].info.lid;
    }
    return {};
  }

  base::Fabric fabric_ = test::spec("ft3:16");
  sim::World world_{fabric_};
  test::Served served_{world_, nullptr, sa::Settings{}};
  std::unique_ptr<sim::Transport> client_ =
      world_.transport(sim::Place{fabric_.nodes.back().name, PortNum{1}}, sim::Interface::gsi);
};

TEST_F(SaVlTablesFirst, TheTableOfASwitchIsThereSoonAfterItWasAskedFor) {
  ASSERT_EQ(table_of({}).status, wire::kStatusBusy) << "the fabric is being read";
  std::map<std::uint16_t, std::size_t> records;
  for (const std::size_t number : {0U, 150U, 319U}) {
    const auto lid = switch_lid(number);
    ASSERT_EQ(table_of(lid).status, wire::kStatusBusy);
    world_.run_for(400ms);
    const auto table = table_of(lid);
    EXPECT_EQ(table.status, 0) << "switch " << number;
    EXPECT_EQ(table.records.size(), 17U * 17);
  }
  EXPECT_EQ(table_of({}).status, wire::kStatusBusy) << "others are not read yet";
}

}  // namespace
}  // namespace smd
