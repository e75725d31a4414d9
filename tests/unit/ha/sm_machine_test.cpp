// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "smd/ha/sm_rank.h"
#include "tests/unit/ha/sm_machine_table.h"
#include "tests/unit/ha/sm_machine_text.h"

namespace smd::sm::machine {
namespace {

using test::text;
using wire::SmControl;
using wire::SmState;

constexpr std::uint64_t kKey = 0x5151;
/// We are priority 8, GUID 50. SMs 30 and 40 rank above us, SM 60 below; SM 77 has left all its polls
/// unanswered.
constexpr SmRank kSelf{8, Guid{50}};

OtherSm other(std::uint64_t guid, SmState state, bool answered = true) {
  OtherSm sm;
  sm.info = {.guid = Guid{guid},
             .sm_key = kKey,
             .priority = static_cast<std::uint8_t>(guid <= 40 ? 9 : 3),
             .state = state};
  sm.answered = answered;
  return sm;
}

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

ControlReceived control(SmControl what, std::uint64_t from, std::uint64_t key = kKey, bool known = false) {
  auto info = other(from, SmState::master).info;
  info.sm_key = key;
  return {what, info, known};
}
ControlReceived control_of_standby(SmControl what, std::uint64_t from) {
  return {what, other(from, SmState::standby).info, false};
}
OtherSm foreign(std::uint64_t guid, SmState state) {
  auto sm = other(guid, state);
  sm.info.sm_key = 99;
  return sm;
}
SweepRead read(std::vector<OtherSm> others) { return {std::move(others), true, false}; }

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
      {"silent SM answers as master", SilentSmAnswered{master40.info}},
      {"silent SM answers as standby", SilentSmAnswered{other(40, SmState::standby).info}},
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

TEST(SmMachine, EachPairOfStateAndEvent) { EXPECT_EQ(table(), test::kTable); }

TEST(SmMachine, TheTableHasEachKindOfEvent) {
  std::vector<bool> seen(std::variant_size_v<Event>);
  for (const auto& [name, event] : events()) seen[event.index()] = true;

  EXPECT_EQ(std::ranges::count(seen, false), 0);
}

/// What a master does about the lower-ranked or higher-ranked SM, and a standby about the higher-ranked one.
std::string with_policy(const Policy& policy, SmState sm, std::uint64_t guid) {
  State state;
  state.self = kSelf;
  state.sm = sm;
  state.policy = policy;
  return text(state, step(state, read({other(guid, SmState::master)})));
}

TEST(SmMachine, AnSmThatIsNotAllowedIsSentNoSmKey) {
  const Policy without40{.allowed = {Guid{50}, Guid{60}}};
  const Policy with40{.allowed = {Guid{40}}};

  EXPECT_EQ(with_policy(with40, SmState::master, 40),
            "poll 40, log two masters 40, master->standby, HANDOVER to 40");
  EXPECT_EQ(with_policy(without40, SmState::master, 40),
            "poll 40, log stranger 40, log two masters 40 unknown, master->standby, HANDOVER to 40 without "
            "SM_Key");
  EXPECT_EQ(with_policy(without40, SmState::discovering, 40),
            "poll 40, log stranger 40, log other 40 unknown, discovering->standby");
}

TEST(SmMachine, WithForceAnSmThatIsNotListedIsIgnored) {
  const Policy all{.allowed = {}, .force = true}, lists60{.allowed = {Guid{60}}, .force = true};

  EXPECT_EQ(with_policy(all, SmState::discovering, 40), "discovering->master");
  EXPECT_EQ(with_policy(all, SmState::master, 60), "nothing");
  EXPECT_EQ(with_policy(lists60, SmState::discovering, 40), "log stranger 40, discovering->master");
  EXPECT_EQ(with_policy(lists60, SmState::discovering, 60),
            "poll 60, log other 60, discovering->standby, tell 60 our rank");
}

TEST(SmMachine, TheVerdictOfASweepSaysWhoseTheFabricIs) {
  State master;
  master.self = kSelf;
  master.sm = SmState::master;
  const auto verdict_of = [&](std::vector<OtherSm> others) {
    return verdict(step(master, read(std::move(others))).next);
  };

  EXPECT_EQ(verdict_of({}), Verdict::ours);
  EXPECT_EQ(verdict_of({other(60, SmState::standby)}), Verdict::ours);
  EXPECT_EQ(verdict_of({other(40, SmState::standby)}), Verdict::not_ours);  // it gets HANDOVER
  EXPECT_EQ(verdict_of({other(40, SmState::master)}), Verdict::not_ours);
  EXPECT_EQ(verdict_of({other(60, SmState::master)}), Verdict::contested);
  EXPECT_EQ(verdict_of({other(60, SmState::master, false)}), Verdict::not_ours);
}

/// A HANDOVER that crosses ours arrives after we have become standby of its sender.
TEST(SmMachine, AHandoverThatCrossesOursIsObeyed) {
  State state;
  state.self = kSelf;
  state.sm = SmState::master;
  state.sm_key = kKey;
  state = step(state, read({other(40, SmState::master)})).next;

  state = step(state, control(SmControl::handover, 40)).next;
  state = step(state, PollingBegins{}).next;

  ASSERT_TRUE(state.polled);
  EXPECT_EQ(state.handed_over_by, Guid{40});
  EXPECT_EQ(text(state, step(state, read({other(40, SmState::master)}))), "-by, -poll, standby->master");
}

/// A standby of `master`, from its start on.
State standby_of(const OtherSm& master, SmRank self = kSelf, bool quiet = false) {
  State state;
  state.self = self;
  state.sm_key = kKey;
  state.policy.quiet = quiet;
  state.policy.losses = 2;
  state.policy.steady = 3;
  return step(step(state, read({master})).next, PollingBegins{}).next;
}

TEST(SmMachine, AnSmThatStartsBesideAMasterIsQuietAndThenTellsOfItsRank) {
  auto state = standby_of(other(60, SmState::master), kSelf, true);

  EXPECT_EQ(state.deferral, Deferral::quiet);
  EXPECT_EQ(shown(state).rank.priority, 0U);
  EXPECT_EQ(shown(state).state, SmState::standby);
  EXPECT_EQ(text(state, step(state, DeferralOver{})), "-deferral, tell 60 our rank");
  state = step(state, DeferralOver{}).next;
  EXPECT_EQ(shown(state).rank.priority, 8U);
  EXPECT_EQ(text(state, step(state, PollAnswered{other(60, SmState::master).info})), "nothing");
}

TEST(SmMachine, WithoutQuietAnSmThatStartsBesideALowerMasterTellsItAtOnce) {
  State state;
  state.self = kSelf;

  EXPECT_EQ(text(state, step(state, read({other(60, SmState::master)}))),
            "poll 60, log other 60, discovering->standby, tell 60 our rank");
}

TEST(SmMachine, AnSmThatOutranksTheMasterEvenWithPriority0ShowsNotActive) {
  auto master = other(60, SmState::master);
  master.info.priority = 0;
  const auto state = standby_of(master, {15, Guid{50}}, true);

  EXPECT_EQ(shown(state).state, SmState::not_active);
  EXPECT_EQ(state.sm, SmState::standby);
  EXPECT_EQ(text(state, step(state, read({}))), "-poll, -deferral, standby->master");
}

/// Two SMs whose master fails while one of them is quiet must not both become master.
TEST(SmMachine, AnSmThatDefersGivesWayToAnyOtherThatMayHaveTheFabric) {
  auto master = other(70, SmState::master);
  master.info.priority = 0;
  auto rank0 = other(60, SmState::standby);
  rank0.info.priority = 0;
  const auto state = standby_of(master, {15, Guid{50}}, true);

  EXPECT_EQ(text(state, step(state, read({rank0}))), "poll 60, log other 60");
}

/// `smd handover GUID` may name a lower one.
TEST(SmMachine, AHandoverIsTakenWhereAnotherStandbyIsHigher) {
  auto state = standby_of(other(60, SmState::master), {1, Guid{50}});
  state = step(state, control(SmControl::handover, 60)).next;

  const auto sweep = read({other(60, SmState::not_active), other(40, SmState::standby)});
  EXPECT_EQ(step(state, sweep).next.sm, SmState::master);
}

/// The higher standby was master for less than a poll.
TEST(SmMachine, AStandbyThatDoesNotBecomeMasterIsNotWaitedForForEver) {
  auto state = standby_of(other(40, SmState::standby));
  const PollAnswered standby{other(40, SmState::standby).info};

  state = step(state, standby).next;
  ASSERT_TRUE(state.polled);
  EXPECT_EQ(text(state, step(state, standby)),
            "-poll, heavy now \"the SM that was to be master is standby\"");
  state =
      step(step(state, read({other(60, SmState::master), other(40, SmState::standby)})).next, PollingBegins{})
          .next;
  ASSERT_TRUE(state.polled);
  EXPECT_EQ(state.polled->sm.info.guid, Guid{60});
}

/// OpenSM's standby polls so seldom that no SM had the fabric for a minute.
TEST(SmMachine, AnSmThatDefersWaitsForALowerStandbyOnlyAsLongAsForAMaster) {
  auto state = standby_of(other(40, SmState::master), kSelf, true);
  ASSERT_EQ(state.deferral, Deferral::quiet);
  for (int poll = 0; poll < 2; ++poll) state = step(state, PollUnanswered{"no answer"}).next;
  const auto dead = other(40, SmState::master, false), waits = other(60, SmState::standby);
  state = step(step(state, read({dead, waits})).next, PollingBegins{}).next;
  ASSERT_TRUE(state.polled);
  ASSERT_EQ(state.polled->sm.info.guid, Guid{60});

  for (int poll = 0; poll < 2; ++poll) state = step(state, PollAnswered{waits.info}).next;
  EXPECT_FALSE(state.polled);
  EXPECT_EQ(step(state, read({dead, waits})).next.sm, SmState::master);
  // Another smd has become master meanwhile.
  EXPECT_EQ(step(state, read({dead, other(60, SmState::master)})).next.sm, SmState::standby);
}

/// A sweep that has asked it before it was handed the fabric.
TEST(SmMachine, ASweepWithoutAnAnswerOfTheHeirDoesNotTakeTheFabricBack) {
  State state;
  state.self = kSelf;
  state.sm = SmState::master;
  state.policy.losses = 2;
  state = step(state, SweepBegins{}).next;
  state = step(state, RankTold{other(40, SmState::standby)}).next;
  ASSERT_EQ(state.sm, SmState::standby);
  const auto silent = read({other(40, SmState::not_active, false)});

  state = step(state, silent).next;
  EXPECT_EQ(state.sm, SmState::standby);
  ASSERT_TRUE(state.polled);
  EXPECT_EQ(state.polled->sm.info.guid, Guid{40});
  EXPECT_EQ(verdict(state), Verdict::not_ours);
  // It never answers: then the fabric is ours again.
  state = step(state, PollingBegins{}).next;
  for (int poll = 0; poll < 2; ++poll) state = step(state, PollUnanswered{"no answer"}).next;
  EXPECT_EQ(step(state, silent).next.sm, SmState::master);
}

TEST(SmMachine, AMasterThatLowersItsPriorityIsToldOnceThatItIsOutranked) {
  auto state = standby_of(other(40, SmState::master));
  auto lower = other(40, SmState::master).info;
  lower.priority = 1;

  EXPECT_EQ(text(state, step(state, PollAnswered{lower})), "tell 40 our rank");
  state = step(state, PollAnswered{lower}).next;
  EXPECT_EQ(text(state, step(state, PollAnswered{lower})), "nothing");
  state = step(state, PollAnswered{other(40, SmState::master).info}).next;
  EXPECT_EQ(text(state, step(state, PollAnswered{lower})), "tell 40 our rank");
}

TEST(SmMachine, WithAHigherMasterPriorityAReturningSmIsNoHeir) {
  State state;
  state.self = kSelf;
  state.sm = SmState::master;
  state.master_priority = 14;

  EXPECT_EQ(shown(state).rank.priority, 14U);
  EXPECT_EQ(text(state, step(state, SmsRead{{other(40, SmState::standby)}})), "nothing");
  state.sm = SmState::standby;
  EXPECT_EQ(shown(state).rank.priority, 8U);
}

/// `counts` are what a master answers, one poll after the other; the last step in words.
std::string after_counts(const std::vector<std::uint32_t>& counts) {
  auto state = standby_of(other(40, SmState::master));
  std::string last;
  for (const auto count : counts) {
    auto info = other(40, SmState::master).info;
    info.act_count = count;
    auto next = step(state, PollAnswered{info});
    last = text(state, next);
    state = next.next;
  }
  return last;
}

TEST(SmMachine, AMasterWhoseActCountStandsStillIsLostOnlyWhereItHasAlwaysGrown) {
  EXPECT_EQ(after_counts({1, 2, 3, 4, 4}), "1 lost");
  EXPECT_EQ(
      after_counts({1, 2, 3, 4, 4, 4}),
      "-poll, +stuck 40 at 4, log stuck 40, log gone 40: its ActCount does not grow, heavy now \"master "
      "gone\"");
  EXPECT_EQ(after_counts({1, 2, 3, 4, 4, 5}), "0 lost");
  EXPECT_EQ(after_counts({1, 1, 2, 3, 4, 5, 6, 6}), "nothing");
}

TEST(SmMachine, AStuckMasterIsIgnoredUntilItsActCountGrows) {
  auto state = standby_of(other(60, SmState::master));
  state.stuck[Guid{60}] = 4;
  auto stuck = other(60, SmState::master), alive = stuck;
  stuck.info.act_count = 4;
  alive.info.act_count = 5;

  EXPECT_EQ(text(state, step(state, read({stuck}))), "-poll, standby->master");
  const auto master = step(state, read({stuck})).next;
  EXPECT_EQ(text(master, step(master, read({alive}))),
            "+contested, poll 60, -stuck 60, log two masters 60 contested");
}

/// A standby sends no Sets that could do harm: at a takeover the others are asked in any case.
TEST(SmMachine, AStandstillOfAStandbyDoesNotDelayItsTakeover) {
  auto state = step(standby_of(other(60, SmState::master)), StoodStill{std::chrono::milliseconds(100)}).next;
  state.polled.reset();
  ASSERT_TRUE(state.sets_held);
  ASSERT_TRUE(fabric_is_free(state));

  state = step(state, WorkBegins{}).next;
  EXPECT_EQ(text(state, step(state, OthersAsked{{}})), "-held, +unread, standby->master");
  // One that comes while they are asked.
  state = step(state, StoodStill{std::chrono::milliseconds(100)}).next;
  EXPECT_TRUE(step(state, OthersAsked{{}}).next.sets_held);
}

TEST(SmMachine, AControlOfAnSmThatIsNotAllowedIsRefused) {
  auto state = standby_of(other(60, SmState::master));
  state.policy.allowed = {Guid{60}};

  EXPECT_EQ(text(state, step(state, control(SmControl::handover, 40))),
            "log refused HANDOVER of 40 not allowed, [bad field]");
}

TEST(SmMachine, AStrangerIsNamedOnceAsLongAsItIsThere) {
  State state;
  state.self = kSelf;
  state.sm_key = kKey;
  state.sm = SmState::master;
  const auto sms = std::vector{foreign(40, SmState::standby)};

  EXPECT_EQ(text(state, step(state, SmsRead{sms})), "log stranger 40 other key");
  state = step(state, SmsRead{sms}).next;
  EXPECT_EQ(text(state, step(state, SmsRead{sms})), "nothing");
  state = step(state, SmsRead{{}}).next;
  EXPECT_EQ(text(state, step(state, SmsRead{sms})), "log stranger 40 other key");
}

TEST(SmMachine, TheSuccessorIsTheHighestStandbyElseOneThatDefers) {
  State state;
  state.self = kSelf;
  state.sm_key = kKey;
  state.sm = SmState::master;
  const auto to = [&](const std::vector<OtherSm>& others, std::optional<Guid> only = {}) {
    const auto found = successor(state, others, only);
    return found ? found->info.guid.value() : 0;
  };
  const auto standby60 = other(60, SmState::standby), standby40 = other(40, SmState::standby);

  EXPECT_EQ(to({}), 0U);
  EXPECT_EQ(to({standby60, standby40}), 40U);
  EXPECT_EQ(to({standby60, standby40}, Guid{60}), 60U);
  EXPECT_EQ(to({standby60, other(30, SmState::not_active)}), 60U);
  EXPECT_EQ(to({other(30, SmState::not_active)}), 30U);
  EXPECT_EQ(to({other(30, SmState::discovering), foreign(40, SmState::standby)}), 0U);
  EXPECT_EQ(to({other(40, SmState::standby, false)}), 0U);
}

}  // namespace
}  // namespace smd::sm::machine
