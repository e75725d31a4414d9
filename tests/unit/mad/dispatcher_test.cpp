// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/dispatcher.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "mad/virtual_clock.h"
#include "tests/support/scripted_transport.h"

namespace smd::mad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::MgmtClass;

Received mad_of(MgmtClass mgmt_class, std::uint8_t mark, int error = 0) {
  std::vector<std::uint8_t> bytes(wire::kMadBytes);
  bytes[1] = std::to_underlying(mgmt_class);
  bytes[255] = mark;
  return {.bytes = std::move(bytes), .from = {}, .error = error};
}

class GsiDispatcher : public ::testing::Test {
 protected:
  void listen(MgmtClass mgmt_class, std::vector<int>& marks) {
    dispatcher.of(mgmt_class).on_receive([&](std::span<Received> batch) {
      for (const auto& one : batch) marks.push_back(one.error != 0 ? -one.error : one.bytes[255]);
    });
  }
  void deliver(std::vector<Received> batch) { gsi.sink(batch); }

  VirtualClock clock;
  ScriptedTransport gsi{clock};
  Dispatcher dispatcher{gsi};
  std::vector<int> sa, perf;
};

TEST_F(GsiDispatcher, EachClassGetsItsMadsInOrder) {
  listen(MgmtClass::sa, sa);
  listen(MgmtClass::perf, perf);
  deliver({mad_of(MgmtClass::sa, 1), mad_of(MgmtClass::sa, 2), mad_of(MgmtClass::perf, 3),
           mad_of(MgmtClass::sa, 4), mad_of(MgmtClass::perf, 5)});

  EXPECT_THAT(sa, ElementsAre(1, 2, 4));
  EXPECT_THAT(perf, ElementsAre(3, 5));
  EXPECT_EQ(dispatcher.dropped(), 0U);
}

TEST_F(GsiDispatcher, ABatchOfOneClassIsHandedOnAsAWhole) {
  std::vector<std::size_t> sizes;
  dispatcher.of(MgmtClass::sa).on_receive([&](std::span<Received> batch) { sizes.push_back(batch.size()); });
  deliver({mad_of(MgmtClass::sa, 1), mad_of(MgmtClass::sa, 2), mad_of(MgmtClass::sa, 3)});
  EXPECT_THAT(sizes, ElementsAre(3));
}

TEST_F(GsiDispatcher, ClassesWithoutAReceiverAreCountedAndDropped) {
  listen(MgmtClass::sa, sa);
  dispatcher.of(MgmtClass::perf);  // made, and no receiver
  deliver({mad_of(MgmtClass::bm, 1), mad_of(MgmtClass::perf, 2), mad_of(MgmtClass::sa, 3),
           mad_of(MgmtClass::bm, 4)});

  EXPECT_THAT(sa, ElementsAre(3));
  EXPECT_EQ(dispatcher.dropped(MgmtClass::bm), 2U);
  EXPECT_EQ(dispatcher.dropped(MgmtClass::perf), 1U);
  EXPECT_EQ(dispatcher.dropped(), 3U);
}

TEST_F(GsiDispatcher, BytesWithoutAClassAreMalformed) {
  listen(MgmtClass::sa, sa);
  deliver({Received{}, Received{.bytes = {1}, .from = {}}, mad_of(MgmtClass::sa, 1)});
  EXPECT_EQ(dispatcher.malformed(), 2U);
  EXPECT_THAT(sa, ElementsAre(1));
}

TEST_F(GsiDispatcher, ASendThatWasGivenUpGoesBackToItsClass) {
  listen(MgmtClass::sa, sa);
  listen(MgmtClass::perf, perf);
  deliver({mad_of(MgmtClass::perf, 1, ETIMEDOUT)});
  EXPECT_THAT(perf, ElementsAre(-ETIMEDOUT));
  EXPECT_THAT(sa, IsEmpty());
}

/// Of an SA that asks another SA.
TEST_F(GsiDispatcher, AnswersToOwnRequestsOfAClassThatIsServedGoToTheAskingEnd) {
  std::vector<int> asking;
  listen(MgmtClass::sa, sa);
  const auto of = [](wire::Method method, std::uint8_t mark, int error = 0) {
    auto mad = mad_of(MgmtClass::sa, mark, error);
    mad.bytes[3] = std::to_underlying(method);
    return mad;
  };
  const auto all = [&] {
    return std::vector{of(wire::Method::get_table, 1),         of(wire::Method::get_table_resp, 2),
                       of(wire::Method::report_resp, 3),       of(wire::Method::get_resp, 4),
                       of(wire::Method::get_table, 5, EIO),    of(wire::Method::get_table_resp, 6, EINVAL),
                       of(wire::Method::report, 7, ETIMEDOUT), of(wire::Method::set, 8)};
  };

  deliver(all());
  EXPECT_THAT(sa, ElementsAre(1, 2, 3, 4, -EIO, -EINVAL, -ETIMEDOUT, 8)) << "nothing is asked";

  sa.clear();
  dispatcher.asking(MgmtClass::sa).on_receive([&](std::span<Received> batch) {
    for (const auto& one : batch) asking.push_back(one.error != 0 ? -one.error : one.bytes[255]);
  });
  deliver(all());
  EXPECT_THAT(sa, ElementsAre(1, 3, -EINVAL, -ETIMEDOUT, 8));
  EXPECT_THAT(asking, ElementsAre(2, 4, -EIO));
  EXPECT_EQ(dispatcher.dropped(), 0U);
}

TEST_F(GsiDispatcher, AReceiverThatHasGoneGetsNothing) {
  listen(MgmtClass::sa, sa);
  dispatcher.of(MgmtClass::sa).on_receive({});
  deliver({mad_of(MgmtClass::sa, 1)});
  EXPECT_THAT(sa, IsEmpty());
  EXPECT_EQ(dispatcher.dropped(MgmtClass::sa), 1U);
}

TEST_F(GsiDispatcher, AReceiverMayEndInItsCall) {
  auto& end = dispatcher.of(MgmtClass::sa);
  const auto deaf = [&end](std::span<Received>) { end.on_receive({}); };
  end.on_receive(deaf);
  deliver({mad_of(MgmtClass::sa, 1), mad_of(MgmtClass::bm, 2), mad_of(MgmtClass::sa, 3)});
  EXPECT_EQ(dispatcher.dropped(MgmtClass::sa), 1U);
}

TEST_F(GsiDispatcher, AnEndIsTheWholeTransportToItsClass) {
  gsi.free_room = 5;
  auto& end = dispatcher.of(MgmtClass::perf);
  const LidRoute to{.lid = Lid{7}, .sl = Sl{3}, .qp = 1, .qkey = kQp1QKey, .pkey_index = 2};
  EXPECT_TRUE(end.send(mad_of(MgmtClass::perf, 1).bytes, to, std::chrono::milliseconds(30)));
  EXPECT_EQ(std::get<LidRoute>(gsi.sent.at(0).route), to);
  EXPECT_EQ(gsi.sent.at(0).give_up, std::chrono::milliseconds(30));
  EXPECT_EQ(end.room(), 5U);
  EXPECT_EQ(&end, &dispatcher.of(MgmtClass::perf));
}

}  // namespace
}  // namespace smd::mad
