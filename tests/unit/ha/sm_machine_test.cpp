// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "smd/ha/sm_rank.h"
#include "tests/unit/ha/sm_machine_sms.h"
#include "tests/unit/ha/sm_machine_text.h"

namespace smd::sm::machine {
namespace {

using namespace test;
using wire::SmControl;
using wire::SmState;

/// What a master does about the lower-ranked or higher-ranked SM, and a standby about the higher-ranked one.
std::string with_policy(const Policy& policy, SmState sm, std::uint64_t guid) {
  State state;
  state.self = kSelf;
  state.sm = sm;
  state.policy = policy;
  return text(state, step(state, read({other(guid, SmState::master)})));
}

/// It would learn our SM_Key, and have the fabric.
TEST(SmMachine, AStrangerIsSentNoHandover) {
  const Policy without40{.allowed = {Guid{50}, Guid{60}}};
  const Policy with40{.allowed = {Guid{40}}};

  EXPECT_EQ(with_policy(with40, SmState::master, 40),
            "poll 40, log two masters 40, master->standby, HANDOVER to 40");
  EXPECT_EQ(with_policy(without40, SmState::master, 40),
            "poll 40, log stranger 40, log two masters 40 unknown, master->standby");
  EXPECT_EQ(with_policy(without40, SmState::discovering, 40),
            "poll 40, log stranger 40, log other 40 unknown, discovering->standby");
  State state;
  state.self = kSelf;
  state.sm_key = kKey;
  state.sm = SmState::master;
  EXPECT_EQ(text(state, step(state, read({foreign(40, SmState::master)}))),
            "poll 40, log stranger 40 other key, log two masters 40 unknown, master->standby");
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
            "-poll, idle 40 x1, heavy now \"the SM that was to be master is standby\"");
  state =
      step(step(state, read({other(60, SmState::master), other(40, SmState::standby)})).next, PollingBegins{})
          .next;
  ASSERT_TRUE(state.polled);
  EXPECT_EQ(state.polled->sm.info.guid, Guid{60});
}

/// OpenSM's standby polls so seldom that no SM had the fabric for a minute.
TEST(SmMachine, AHigherStandbyThatLeavesTheFabricWithoutAMasterGetsItByHandover) {
  const auto waits = other(40, SmState::standby);
  auto state = standby_of(waits);
  const auto wait = [&] {
    for (int poll = 0; poll < 2; ++poll) state = step(state, PollAnswered{waits.info}).next;
    ASSERT_FALSE(state.polled);
  };
  wait();
  state = step(step(state, read({waits})).next, PollingBegins{}).next;
  ASSERT_TRUE(state.polled) << "it may be reading the fabric";
  wait();
  EXPECT_EQ(step(state, OthersAsked{{waits}}).next.sm, SmState::standby)
      << "it may follow an SM that is not known here: a sweep decides";

  EXPECT_EQ(step(state, read({waits, other(60, SmState::master)})).next.sm, SmState::standby);
  const auto master = step(state, read({waits})).next;
  EXPECT_EQ(master.sm, SmState::master);
  EXPECT_TRUE(master.idle.empty());
  EXPECT_EQ(text(master, step(master, SmsRead{{waits}})),
            "poll 40, yielded to 40, master->standby, HANDOVER to 40, follow");
}

/// The same, of one that is lower in truth: it keeps waiting.
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

/// Else all work of a standby that has stood still once is a heavy sweep.
TEST(SmMachine, AStandbyThatHasStoodStillHoldsNoSetsAfterTheMasterHasAnswered) {
  const PollAnswered answer{other(40, SmState::master).info};
  auto state = step(standby_of(other(40, SmState::master)), StoodStill{std::chrono::seconds(1)}).next;
  ASSERT_TRUE(state.sets_held);
  EXPECT_TRUE(step(state, PollUnanswered{"no answer"}).next.sets_held);
  EXPECT_TRUE(step(state, PollAnswered{other(40, SmState::standby).info}).next.sets_held);
  EXPECT_EQ(text(state, step(state, answer)), "-held");
  state = step(step(state, answer).next, StoodStill{std::chrono::seconds(1)}).next;
  EXPECT_TRUE(state.sets_held);
}

/// What the master commits is copied while its standby reads the fabric.
TEST(SmMachine, TheMasterIsKnownUntilTheSweepOfItsStandbyHasDecided) {
  const auto standby = standby_of(other(40, SmState::master));
  const auto sweeps = step(standby, SweepBegins{}).next;

  EXPECT_FALSE(sweeps.polled);
  EXPECT_EQ(sweeps.followed_in_sweep, Guid{40});
  EXPECT_EQ(step(sweeps, read({other(40, SmState::master)})).next.followed_in_sweep, std::nullopt);
  EXPECT_EQ(step(sweeps, read({})).next.followed_in_sweep, std::nullopt);
  EXPECT_EQ(step(sweeps, OthersAsked{}).next.followed_in_sweep, std::nullopt);
  EXPECT_EQ(step(sweeps, SweepFailed{}).next.followed_in_sweep, std::nullopt);
  auto gone = standby;
  for (int poll = 0; poll < 2; ++poll) gone = step(gone, PollUnanswered{"no answer"}).next;
  EXPECT_EQ(step(gone, SweepBegins{}).next.followed_in_sweep, std::nullopt);
  const auto handed_over = step(standby, control(SmControl::handover, 40)).next;
  EXPECT_EQ(step(handed_over, SweepBegins{}).next.followed_in_sweep, std::nullopt);
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
  EXPECT_EQ(after_counts({1, 2, 3, 4, 4, 4}),
            "replaces 40, -poll, +stuck 40 at 4, log stuck 40, log gone 40: its ActCount does not grow, "
            "heavy now \"master "
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

/// What its successor has committed meanwhile is copied before the fabric comes back.
TEST(SmMachine, AMasterThatStoodStillAndWasReplacedBecomesAQuietStandby) {
  State state;
  state.self = kSelf;
  state.sm = SmState::master;
  const auto returned = [&](bool quiet) {
    state.policy.quiet = quiet;
    return step(step(step(state, StoodStill{std::chrono::seconds(7)}).next, WorkBegins{}).next,
                read({other(60, SmState::master)}));
  };

  const auto replaced = returned(true);
  EXPECT_EQ(replaced.next.sm, SmState::standby);
  EXPECT_EQ(replaced.next.deferral, Deferral::quiet);
  EXPECT_EQ(shown(replaced.next).rank.priority, 0U);
  EXPECT_EQ(std::ranges::count_if(replaced.actions,
                                  [](const auto& one) { return std::holds_alternative<SendHandover>(one); }),
            1)
      << "the other need not wait for ours";
  EXPECT_EQ(verdict(returned(false).next), Verdict::contested) << "nothing is copied: rank decides";
}

/// Its master has left all its polls unanswered.
State standby_whose_master_hangs() {
  auto state = standby_of(other(40, SmState::master));
  state.policy.quiet = true;
  while (state.polled) state = step(state, PollUnanswered{"timeout"}).next;
  return state;
}

/// Both see two masters before one of them is standby: only one HANDOVER is sent, whatever the ranks.
TEST(SmMachine, TheMasterThatReplacedOneThatStoodStillKeepsTheFabric) {
  auto state = step(standby_whose_master_hangs(), read({other(40, SmState::master, false)})).next;
  ASSERT_EQ(state.sm, SmState::master);
  const auto returned = read({other(40, SmState::master)});

  const auto waits = step(state, returned).next;
  EXPECT_EQ(verdict(waits), Verdict::contested) << "it outranks us, and finds out";
  const auto settled = step(waits, PollAnswered{other(40, SmState::standby).info});
  EXPECT_FALSE(settled.next.polled);
  auto quiet = other(40, SmState::standby);
  quiet.info.priority = 0;
  EXPECT_EQ(verdict(step(settled.next, read({quiet})).next), Verdict::ours);

  const auto over = step(waits, PatienceOver{}).next;
  EXPECT_EQ(over.sm, SmState::master);
  EXPECT_EQ(verdict(step(over, returned).next), Verdict::not_ours) << "it keeps to its rank, as OpenSM does";
  state.policy.quiet = false;
  EXPECT_EQ(verdict(step(state, returned).next), Verdict::not_ours);
}

/// Two parts of a fabric that are joined: neither has stood still.
TEST(SmMachine, AMasterThatWasOutOfTheFabricIsNotWaitedFor) {
  const auto state = step(standby_whose_master_hangs(), read({})).next;

  EXPECT_EQ(verdict(step(state, read({other(40, SmState::master)})).next), Verdict::not_ours);
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

TEST(SmMachine, TheSuccessorIsOneThatHasACopy) {
  State state;
  state.self = kSelf;
  state.sm_key = kKey;
  state.sm = SmState::master;
  const std::vector others{other(60, SmState::standby), other(40, SmState::standby),
                           other(30, SmState::standby)};
  const auto to = [&](std::map<Guid, bool> copies, std::optional<Guid> only = {}) {
    const auto now = step(state, CopiesKnown{.copies = std::move(copies)}).next;
    const auto found = successor(now, others, only);
    return found ? found->info.guid.value() : 0;
  };

  EXPECT_EQ(to({}), 30U) << "without a copy the rank decides";
  EXPECT_EQ(to({{Guid{60}, true}}), 60U);
  EXPECT_EQ(to({{Guid{60}, true}, {Guid{40}, true}}), 40U);
  EXPECT_EQ(to({{Guid{60}, true}, {Guid{40}, false}}), 60U) << "it has all";
  EXPECT_EQ(to({{Guid{60}, false}}), 60U) << "it has most";
  EXPECT_EQ(to({{Guid{60}, true}}, Guid{40}), 40U) << "as it was asked for";
}

}  // namespace
}  // namespace smd::sm::machine
