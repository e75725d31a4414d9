// SPDX-License-Identifier: Apache-2.0
// An SM whose own port has had no link.
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "smd/ha/sm_machine.h"
#include "smd/ha/sm_rank.h"
#include "tests/unit/ha/sm_machine_sms.h"

namespace smd::sm::machine {
namespace {

using namespace test;
using wire::SmState;

/// A master whose cable was pulled, as a sweep has read it.
Step cut_off_master(bool quiet) {
  State state;
  state.self = kSelf;
  state.sm_key = kKey;
  state.sm = SmState::master;
  state.master_priority = 12;
  state.policy.quiet = quiet;
  return step(state, SweepRead{.others = {}, .whole = true, .dry_run = false, .cut_off = true});
}

/// What is committed meanwhile is the other's.
TEST(CutOffSm, AMasterWhoseCableWasOutBeginsBesideAnotherAsAtItsStart) {
  const auto out = cut_off_master(true).next;
  EXPECT_EQ(out.sm, SmState::master);
  EXPECT_EQ(shown(out).state, SmState::discovering) << "the other one sends it no HANDOVER";
  EXPECT_EQ(shown(out).rank.priority, 8U);

  const auto back = step(step(out, SweepBegins{}).next, read({other(60, SmState::master)}));
  EXPECT_EQ(back.next.sm, SmState::standby);
  EXPECT_EQ(verdict(back.next), Verdict::not_ours);
  EXPECT_EQ(back.next.deferral, Deferral::quiet);
  EXPECT_EQ(shown(back.next).rank.priority, 0U);
  EXPECT_EQ(std::ranges::count_if(back.actions,
                                  [](const auto& one) { return std::holds_alternative<SendHandover>(one); }),
            0);
  const auto at_once = step(cut_off_master(false).next, read({other(60, SmState::master)})).next;
  EXPECT_EQ(at_once.sm, SmState::standby);
  EXPECT_EQ(at_once.deferral, Deferral::none);
}

/// Others may have managed the fabric meanwhile, and be gone.
TEST(CutOffSm, AMasterWhoseCableWasOutAdoptsOnceWhatItFinds) {
  const auto returns = step(cut_off_master(false).next, SweepBegins{}).next;
  EXPECT_TRUE(returns.adopting);

  const auto back = step(returns, read({})).next;
  EXPECT_EQ(verdict(back), Verdict::ours);
  EXPECT_FALSE(step(back, SweepBegins{}).next.adopting);
}

TEST(CutOffSm, AMasterWhoseCableWasOutIsMasterAgainWhereThereIsNoOther) {
  const auto out = cut_off_master(true).next;

  const auto back = step(out, read({other(60, SmState::standby)})).next;
  EXPECT_EQ(back.sm, SmState::master);
  EXPECT_EQ(shown(back).state, SmState::master);
  EXPECT_EQ(shown(back).rank.priority, 12U);
  // Of two that were cut off alike both are discovering: the higher one is master.
  EXPECT_EQ(verdict(step(out, read({other(40, SmState::discovering)})).next), Verdict::not_ours);
  EXPECT_EQ(verdict(step(out, read({other(60, SmState::discovering)})).next), Verdict::ours);
}

}  // namespace
}  // namespace smd::sm::machine
