// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fabrics of the tests of smd/plan/, each with what is decided for it.

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "smd/plan/plan.h"
#include "tests/support/plan_case.h"

namespace smd::sm {

using test::PlanCase;
using test::SubnetBuilder;

// Host 0x100 (the SM, LID 3) on switch 0x10 (LID 1), host 0x200 (LID 4) on switch 0x20 (LID 2).
constexpr std::uint64_t kNear = 0x10, kFar = 0x20, kSmHost = 0x100, kHost = 0x200;
constexpr unsigned kUp = 3;  // port of both switches

inline SubnetBuilder in_service() {
  SubnetBuilder fabric;
  fabric.add_switch(kNear)
      .add_switch(kFar)
      .link(kNear, kUp, kFar, kUp)
      .host(kSmHost, kNear, 1)
      .host(kHost, kFar, 1);
  fabric.lid(kNear, 0, 1).lid(kFar, 0, 2).lid(kSmHost, 1, 3).lid(kHost, 1, 4).sm(kSmHost, 1, 3);
  fabric.lft(kNear, 4, {{1, 0}, {2, kUp}, {3, 1}, {4, kUp}})
      .lft(kFar, 4, {{1, kUp}, {2, 0}, {3, kUp}, {4, 1}});
  return fabric;
}

/// What is decided is in_service(), what is there is that after `edit`.
inline PlanCase planned_after(const std::function<void(SubnetBuilder&)>& edit) {
  auto fabric = in_service();
  PlanCase made(fabric.build());
  edit(fabric);
  made.subnet = fabric.build();
  return made;
}

/// All devices as they are after power-up: links in Init, no LIDs, nothing forwards, tables are not read.
inline void reset_all(SubnetBuilder& fabric) {
  for (const auto guid : {kNear, kFar, kSmHost, kHost}) {
    auto& node = fabric.node(guid);
    node.lft = {};
    if (node.switch_info) node.switch_info->linear_fdb_top = 0;
    for (auto& port : node.ports) {
      port.info.lid = Lid{};
      if (port.peer) port.info.port_state = PortState::init;
    }
  }
}

inline std::vector<Phase> phases_of(const Plan& plan) {
  std::vector<Phase> phases;
  for (const auto& round : plan.rounds) phases.push_back(round.phase);
  return phases;
}

inline PortItem item_at(const PlanCase& made, std::uint64_t node, unsigned port, PortState target) {
  return {made.index(node), test::port_num(port), target};
}

// Switches A and B are linked to each other by port 3 and to C by port 1. Host 0x100 is on C, LID 9, and the
// SM on host 0x200 on A, LID 70: its entries are in block 1.
constexpr std::uint64_t kRingA = 0x10, kRingB = 0x20, kRingC = 0x30, kRingHost = 0x100, kRingSm = 0x200;

inline SubnetBuilder table_triangle() {
  SubnetBuilder fabric;
  fabric.add_switch(kRingA)
      .add_switch(kRingB)
      .add_switch(kRingC)
      .host(kRingHost, kRingC, 8)
      .host(kRingSm, kRingA, 8);
  fabric.link(kRingA, 1, kRingC, 1).link(kRingB, 1, kRingC, 2).link(kRingA, 3, kRingB, 3);
  fabric.lid(kRingA, 0, 1)
      .lid(kRingB, 0, 2)
      .lid(kRingC, 0, 3)
      .lid(kRingHost, 1, 9)
      .lid(kRingSm, 1, 70)
      .sm(kRingSm, 1, 70);
  fabric.lft(kRingA, 70, {{1, 0}, {2, 3}, {3, 1}, {9, 1}, {70, 8}});
  fabric.lft(kRingB, 70, {{1, 3}, {2, 0}, {3, 1}, {9, 1}, {70, 3}});
  fabric.lft(kRingC, 70, {{1, 1}, {2, 2}, {3, 0}, {9, 8}, {70, 1}});
  return fabric;
}

inline PlanCase tables_after(const std::function<void(SubnetBuilder&)>& edit) {
  auto fabric = table_triangle();
  PlanCase made(fabric.build());
  edit(fabric);
  made.subnet = fabric.build();
  return made;
}

inline BlockSet blocks(std::initializer_list<std::size_t> numbers) {
  BlockSet set;
  for (const auto block : numbers) set.set(block);
  return set;
}

// CA 0x100 and router 0x300 on switch 0x10, which has a link to switch 0x20 with an enhanced port 0. The SM
// is on the CA, LID 5.
constexpr std::uint64_t kSwitch = 0x10, kEnhanced = 0x20, kCa = 0x100, kRouter = 0x300;

inline SubnetBuilder port_fabric() {
  SubnetBuilder fabric;
  fabric.add_switch(kSwitch).add_switch(kEnhanced).add_ca(kCa, 2).add_router(kRouter);
  fabric.link(kSwitch, 1, kCa, 1).link(kSwitch, 2, kEnhanced, 1).link(kSwitch, 3, kRouter, 1);
  fabric.node(kEnhanced).switch_info->enhanced_port0 = true;
  fabric.lid(kSwitch, 0, 1).lid(kEnhanced, 0, 2).lid(kCa, 1, 5).lid(kRouter, 1, 6).sm(kCa, 1, 5);
  return fabric;
}

inline PlanCase port_case(const std::function<void(SubnetBuilder&)>& edit = {}) {
  auto fabric = port_fabric();
  if (edit) edit(fabric);
  PlanCase made(fabric.build());
  made.links.ports[made.index(kEnhanced)][0] = LinkSettings{};
  return made;
}

inline std::optional<wire::PortInfo> desired_info(PlanCase& made, std::uint64_t node, unsigned port) {
  return desired_port_info(made.in(), made.node(node), test::port_num(port));
}

}  // namespace smd::sm
