// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/new_links.h"

#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "tests/support/plan_case.h"

namespace smd::sm {
namespace {

using test::PlanCase;
using test::SubnetBuilder;

// A and B have links to C, which has the host with LID 9. The new link is between A port 3 and B port 3.
constexpr std::uint64_t kCornerA = 0x10, kCornerB = 0x20, kCornerC = 0x30, kTarget = 0x100;
constexpr unsigned kNew = 3, kHeldTop = 9;

SubnetBuilder triangle() {
  SubnetBuilder fabric;
  fabric.add_switch(kCornerA).add_switch(kCornerB).add_switch(kCornerC).host(kTarget, kCornerC, 8);
  fabric.link(kCornerA, 1, kCornerC, 1)
      .link(kCornerB, 1, kCornerC, 2)
      .link(kCornerA, kNew, kCornerB, kNew, PortState::init);
  fabric.lid(kCornerA, 0, 1).lid(kCornerB, 0, 2).lid(kCornerC, 0, 3).lid(kTarget, 1, 9).sm(kTarget, 1, 9);
  fabric.lft(kCornerA, kHeldTop, {{9, 1}})
      .lft(kCornerB, kHeldTop, {{9, 1}})
      .lft(kCornerC, kHeldTop, {{9, 8}});
  return fabric;
}

struct NewLinkCase {
  std::string_view name;
  std::function<void(SubnetBuilder&)> fabric;
  std::function<void(PlanCase&)> decided;
  bool may_come_up;
};

void nothing_decided(PlanCase& /*made*/) {}

TEST(NewLinks, WhichMayComeUpBeforeTablesChange) {
  const NewLinkCase cases[]{
      {"no table leads over it", [](auto&) {}, nothing_decided, true},
      {"though one shall lead over it", [](auto&) {},
       [](auto& c) { c.row(kCornerA, test::lft_row({{9, kNew}})); }, true},
      {"a table leads over it and shall not", [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}); },
       [](auto& c) { c.row(kCornerA, test::lft_row({{9, 1}})); }, false},
      {"the table of its other end", [](auto& f) { f.lft(kCornerB, kHeldTop, {{9, kNew}}); },
       [](auto& c) { c.row(kCornerB, test::lft_row({{9, 1}})); }, false},
      {"a table leads over it as decided", [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}); },
       nothing_decided, true},
      {"no route is decided for that LID", [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}); },
       [](auto& c) { c.row(kCornerA, test::lft_row({})); }, true},
      {"as decided, but it closes a forwarding loop",
       [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}).lft(kCornerB, kHeldTop, {{9, kNew}}); },
       nothing_decided, false},
      {"no loop, because an entry is above LinearFDBTop",
       [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}).lft(kCornerB, 8, {{9, kNew}}); }, nothing_decided,
       true},
      {"a loop of three",
       [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}).lft(kCornerC, kHeldTop, {{9, 1}}); },
       nothing_decided, false},
      {"what comes behind it is not known",
       [](auto& f) {
         f.lft(kCornerA, kHeldTop, {{9, kNew}});
         f.node(kCornerC).lft.known = {};
       },
       nothing_decided, false},
      {"a block of its own end is not known", [](auto& f) { f.node(kCornerA).lft.known = {}; },
       nothing_decided, false},
      {"a block of its other end is not known", [](auto& f) { f.node(kCornerB).lft.known = {}; },
       nothing_decided, false},
      {"no table is decided for the switch", [](auto& f) { f.lft(kCornerA, kHeldTop, {{9, kNew}}); },
       [](auto& c) { c.routes.rows.erase(c.routes.rows.begin()); }, false},
      {"entries above LinearFDBTop do not count", [](auto& f) { f.lft(kCornerA, 8, {{9, kNew}}); },
       [](auto& c) { c.row(kCornerA, test::lft_row({{9, 1}})); }, true},
      {"blocks above LinearFDBTop may be unknown",
       [](auto& f) {
         f.node(kCornerA).lft = {.row = test::lft_row({{9, 1}}, 2), .known = BlockSet::first(1), .asked = {}};
         f.node(kCornerA).switch_info->linear_fdb_top = 63;
       },
       nothing_decided, true},
      {"one of them is below it",
       [](auto& f) {
         f.node(kCornerA).lft = {.row = test::lft_row({{9, 1}}, 2), .known = BlockSet::first(1), .asked = {}};
         f.node(kCornerA).switch_info->linear_fdb_top = 64;
       },
       nothing_decided, false},
      {"one end is fresh from reset",
       [](auto& f) {
         f.lft(kCornerB, kHeldTop, {{9, kNew}});
         f.node(kCornerA).switch_info->linear_fdb_top = 0;
       },
       [](auto& c) { c.row(kCornerB, test::lft_row({{9, 1}})); }, true},
      {"nothing forwards yet",
       [](auto& f) {
         for (const auto guid : {kCornerA, kCornerB, kCornerC}) f.node(guid).switch_info->linear_fdb_top = 0;
       },
       nothing_decided, false},
  };
  for (const auto& at : cases) {
    auto fabric = triangle();
    at.fabric(fabric);
    PlanCase made(fabric.build());
    at.decided(made);
    const auto in = made.in();

    NewLinks links(in);

    EXPECT_EQ(links.contains(made.index(kCornerA), PortNum{kNew}), at.may_come_up) << at.name;
    EXPECT_EQ(links.contains(made.index(kCornerB), PortNum{kNew}), at.may_come_up)
        << at.name << ", from its other end";
  }
}

TEST(NewLinks, APortWithoutAPeerThatIsKnownIsNone) {
  auto fabric = triangle();
  fabric.port(kCornerA, kNew).peer.reset();
  fabric.port(kCornerB, kNew).peer = test::place(0x999, 1);
  PlanCase made(fabric.build());
  const auto in = made.in();

  NewLinks links(in);

  EXPECT_FALSE(links.contains(made.index(kCornerA), PortNum{kNew}));
  EXPECT_FALSE(links.contains(made.index(kCornerB), PortNum{kNew}));
}

}  // namespace
}  // namespace smd::sm
