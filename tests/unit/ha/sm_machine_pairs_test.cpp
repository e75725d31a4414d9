// SPDX-License-Identifier: Apache-2.0
// Each pair of state and event of the SM state machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/ha/sm_machine_sms.h"
#include "tests/unit/ha/sm_machine_table.h"
#include "tests/unit/ha/sm_machine_text.h"

namespace smd::sm::machine {
namespace {

using namespace test;
using wire::SmControl;
using wire::SmState;

struct Named {
  std::string name;
  State state;
};

/// The four states of IBA with their conditions; sm_machine_table.h explains the names.
std::vector<Named> states() {
  State common;
  common.self = kSelf;
  common.sm_key = kKey;
  common.policy.losses = 2;
  common.hung = {Guid{77}};
  common.declined = {Guid{33}};
  common.fresh = false;
  std::vector<Named> all;
  const auto add = [&](std::string name, SmState sm, const auto& edit) {
    auto state = common;
    state.sm = sm;
    state.adopting = sm != SmState::master;
    edit(state);
    all.push_back({std::move(name), std::move(state)});
  };
  const auto master40 = other(40, SmState::master), master60 = other(60, SmState::master);
  add("D", SmState::discovering, [](State&) {});
  add("N", SmState::not_active, [&](State& s) { s.polled = Polled{master40}; });
  add("S", SmState::standby, [&](State& s) { s.polled = Polled{master40}; });
  add("S1", SmState::standby, [&](State& s) { s.polled = Polled{master40, 1}; });
  add("SS", SmState::standby, [&](State& s) { s.polled = Polled{other(40, SmState::standby)}; });
  add("SH", SmState::standby, [&](State& s) {
    s.polled = Polled{master40};
    s.handed_over_by = Guid{40};
  });
  add("Q", SmState::standby, [&](State& s) {
    s.polled = Polled{master60};
    s.followed = SmRank{3, Guid{60}};
    s.deferral = Deferral::quiet;
  });
  add("Y", SmState::standby, [&](State& s) {
    s.polled = Polled{other(40, SmState::standby)};
    s.followed = SmRank{9, Guid{40}};
    s.yielded = Yielded{Guid{40}};
  });
  add("F", SmState::standby, [](State&) {});
  add("M", SmState::master, [](State&) {});
  add("U", SmState::master, [](State& s) { s.unread = true; });
  add("L", SmState::master, [](State& s) { s.lagging = {Guid{40}}; });
  add("C", SmState::master, [&](State& s) {
    s.contested = true;
    s.polled = Polled{master60};
  });
  add("C1", SmState::master, [&](State& s) {
    s.contested = true;
    s.polled = Polled{master60, 1};
  });
  add("H", SmState::master, [](State& s) {
    s.sets_held = true;
    s.standstills = s.accounted = 1;
  });
  add("HH", SmState::master, [](State& s) {
    s.sets_held = true;
    s.standstills = 2;
    s.accounted = 1;
  });
  return all;
}

/// Each kind of event, by what it brings.
std::vector<std::pair<std::string, Event>> events() {
  constexpr SmControl kUnknown{9};
  const auto master40 = other(40, SmState::master), master60 = other(60, SmState::master);
  return {
      {"HANDOVER of 40", control(SmControl::handover, 40)},
      {"HANDOVER of 60", control(SmControl::handover, 60)},
      {"ACKNOWLEDGE", control(SmControl::acknowledge, 40)},
      {"DISABLE", control(SmControl::disable, 40)},
      {"STANDBY", control(SmControl::standby, 40)},
      {"DISCOVER", control(SmControl::discover, 40)},
      {"an unknown control", control(kUnknown, 40)},
      {"HANDOVER, foreign key", control(SmControl::handover, 40, 99, true)},
      {"ACKNOWLEDGE, foreign key", control(SmControl::acknowledge, 40, 99)},
      {"DISABLE, foreign key", control(SmControl::disable, 40, 99, true)},
      {"STANDBY, foreign key", control(SmControl::standby, 40, 99, true)},
      {"DISCOVER, foreign key", control(SmControl::discover, 40, 99, true)},
      {"HANDOVER, no key, not the known master", control(SmControl::handover, 40, 0)},
      {"HANDOVER, no key, the known master", control(SmControl::handover, 40, 0, true)},
      {"HANDOVER of a standby", control_of_standby(SmControl::handover, 40)},
      {"priority 12", IdentityKnown{{12, Guid{50}}, 12, kKey}},
      {"priority 2", IdentityKnown{{2, Guid{50}}, 2, kKey}},
      {"policy of 3 losses", PolicyChanged{{.allowed = {}, .losses = 3}}},
      {"work begins", WorkBegins{}},
      {"sweep begins", SweepBegins{}},
      {"sweep failed", SweepFailed{}},
      {"read: no other SM", read({})},
      {"read by an incremental sweep: no other SM", SweepRead{{}, false, false}},
      {"dry run: no other SM", SweepRead{{}, true, true}},
      {"dry run: master 40", SweepRead{{master40}, true, true}},
      {"read: standby 40", read({other(40, SmState::standby)})},
      {"read: discovering 40", read({other(40, SmState::discovering)})},
      {"read: not active 40", read({other(40, SmState::not_active)})},
      {"read: standby 60", read({other(60, SmState::standby)})},
      {"read: master 40", read({master40})},
      {"read: master 60", read({master60})},
      {"read: masters 40 and 60", read({master40, master60})},
      {"read: master 40, standby 30", read({master40, other(30, SmState::standby)})},
      {"read: silent master 40", read({other(40, SmState::master, false)})},
      {"read: silent master 60", read({other(60, SmState::master, false)})},
      {"read: hung master 77", read({other(77, SmState::master, false)})},
      {"read: master 77 answers again", read({other(77, SmState::master)})},
      {"read: standby 40, foreign key", read({foreign(40, SmState::standby)})},
      {"read: standby 33, which has declined", read({other(33, SmState::standby)})},
      {"others asked: none", OthersAsked{{}}},
      {"others asked: standby 60", OthersAsked{{other(60, SmState::standby)}}},
      {"others asked: standby 40", OthersAsked{{other(40, SmState::standby)}}},
      {"others asked: silent standby 40", OthersAsked{{other(40, SmState::standby, false)}}},
      {"others asked: master 60", OthersAsked{{master60}}},
      {"others asked: hung master 77", OthersAsked{{other(77, SmState::master, false)}}},
      {"known SMs read: standby 40", SmsRead{{other(40, SmState::standby)}}},
      {"known SMs read: standbys 30 and 40",
       SmsRead{{other(40, SmState::standby), other(30, SmState::standby)}}},
      {"known SMs read: standby 60", SmsRead{{other(60, SmState::standby)}}},
      {"known SMs read: discovering 40", SmsRead{{other(40, SmState::discovering)}}},
      {"known SMs read: standby 40, foreign key", SmsRead{{foreign(40, SmState::standby)}}},
      {"40 tells of its rank", RankTold{other(40, SmState::standby)}},
      {"33 tells of its rank", RankTold{other(33, SmState::standby)}},
      {"60 tells of its rank", RankTold{other(60, SmState::standby)}},
      {"copies known: 40 lags", CopiesKnown{{Guid{40}}}},
      {"copies known: none lags", CopiesKnown{}},
      {"hand over to 60", HandOver{other(60, SmState::standby)}},
      {"HANDOVER taken by 40", HandoverAnswered{Guid{40}, true, {}}},
      {"HANDOVER not taken by 40", HandoverAnswered{Guid{40}, false, "status"}},
      {"deferral over", DeferralOver{}},
      {"polling begins", PollingBegins{}},
      {"poll: 40 is master", PollAnswered{master40.info}},
      {"poll: 40 is standby", PollAnswered{other(40, SmState::standby).info}},
      {"poll: 60 is master", PollAnswered{master60.info}},
      {"poll: 60 is standby", PollAnswered{other(60, SmState::standby).info}},
      {"poll unanswered", PollUnanswered{"timeout"}},
      {"poll: no route", PollUnroutable{}},
      {"patience over", PatienceOver{}},
      {"stood still", StoodStill{std::chrono::seconds(7)}},
      {"known SMs read: no other master", KnownSmsRead{false}},
      {"known SMs read: perhaps another master", KnownSmsRead{true}},
      {"silent SM answers as master", SilentMasterAnswered{}},
      {"SM that was not heard answers as master", UnheardSmAnswered{master60.info}},
      {"SM that was not heard answers as standby", UnheardSmAnswered{other(60, SmState::standby).info}},
  };
}

/// For each event what it does, and after that the states in which it does so.
std::string table() {
  std::string all = "\n";
  for (const auto& [name, event] : events()) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& [where, state] : states()) {
      auto does = text(state, step(state, event));
      const auto same = std::ranges::find(rows, does, &std::pair<std::string, std::string>::first);
      if (same != rows.end()) {
        same->second += " " + where;
      } else {
        rows.emplace_back(std::move(does), where);
      }
    }
    all += name + "\n";
    for (const auto& [does, where] : rows)
      all += "  " + (rows.size() == 1 ? "any state" : where) + ": " + does + "\n";
  }
  return all;
}

TEST(SmMachineTable, EachPairOfStateAndEvent) { EXPECT_EQ(table(), test::kTable); }

TEST(SmMachineTable, TheTableHasEachKindOfEvent) {
  std::vector<bool> seen(std::variant_size_v<Event>);
  for (const auto& [name, event] : events()) seen[event.index()] = true;

  EXPECT_EQ(std::ranges::count(seen, false), 0);
}

}  // namespace
}  // namespace smd::sm::machine
