// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SM state machine as a table: for each event what it changes and causes, by the states in which it does.
//
// We are priority 8, GUID 50. SMs 30 and 40 rank above us, SM 60 below us; SM 77 is hung (State::hung).
//   D   discovering
//   N   not active, disabled while it followed master 40
//   S   standby, follows master 40; S1: which left a poll unanswered; SH: which has sent HANDOVER
//   SS  standby, follows 40, which outranks us and is itself a standby
//   M   master
//   C   master, contested by master 60; C1: which left a poll unanswered
//   H   master, Sets held after a standstill; HH: with another standstill since the work began
// Words: `by`: handed_over_by, `poll`: polled, `held`: sets_held, `[…]`: status of the answer.

#include <string_view>

namespace smd::sm::machine::test {

inline constexpr std::string_view kTable = R"(
HANDOVER of 40
  D N: log HANDOVER of 40, [bad field]
  S S1 SS M C C1 H HH: by 40, log HANDOVER of 40, heavy "handover", [ok]
  SH: log HANDOVER of 40, heavy "handover", [ok]
HANDOVER of 60
  D N: log HANDOVER of 60, [bad field]
  S S1 SS SH M H HH: by 60, log HANDOVER of 60, heavy "handover", [ok]
  C C1: by 60, -poll, log HANDOVER of 60, heavy "handover", heavy "the other master is gone", [ok]
ACKNOWLEDGE
  any state: log ACKNOWLEDGE of 40, [ok]
DISABLE
  D: log DISABLE of 40, discovering->not-active, [ok]
  N: log DISABLE of 40, [ok]
  S S1 SS: log DISABLE of 40, standby->not-active, [ok]
  SH: -by, log DISABLE of 40, standby->not-active, [ok]
  M C C1 H HH: log DISABLE of 40, [bad field]
STANDBY
  D S S1 SS SH M C C1 H HH: log STANDBY of 40, [ok]
  N: log STANDBY of 40, not-active->standby, [ok]
DISCOVER
  D N M C C1 H HH: log DISCOVER of 40, [ok]
  S S1 SS SH: log DISCOVER of 40, heavy "SMInfo DISCOVER", [ok]
an unknown control
  any state: log unknown of 40, [bad field]
HANDOVER, foreign key
  any state: log refused HANDOVER of 40, [bad field]
ACKNOWLEDGE, foreign key
  any state: log ACKNOWLEDGE of 40, [ok]
DISABLE, foreign key
  any state: log refused DISABLE of 40, [bad field]
STANDBY, foreign key
  any state: log refused STANDBY of 40, [bad field]
DISCOVER, foreign key
  any state: log refused DISCOVER of 40, [bad field]
HANDOVER, no key, not the known master
  any state: log refused HANDOVER of 40 without key, [bad field]
HANDOVER, no key, the known master
  D N: log HANDOVER of 40, [bad field]
  S S1 SS M C C1 H HH: by 40, log HANDOVER of 40, heavy "handover", [ok]
  SH: log HANDOVER of 40, heavy "handover", [ok]
priority 12
  any state: priority 12
policy of 3 losses
  any state: losses 3
work begins
  D N S S1 SS SH M C C1 H: nothing
  HH: accounted 2
sweep begins
  D M H HH: nothing
  N S S1 SS SH: -poll
  C C1: +adopting, -contested, -poll
read: no other SM
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read by an incremental sweep: no other SM
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  M H HH: nothing
  C C1: -contested, -poll
dry run: no other SM
  D M HH: nothing
  N S S1 SS: -poll
  SH: -by, -poll
  C C1: -contested, -poll
  H: -held
dry run: master 40
  D M H HH: nothing
  N S S1 SS: -poll
  SH: -by, -poll
  C C1: -contested, -poll
read: standby 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read: discovering 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read: not active 40
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read: standby 60
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read: master 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: master 60
  D: poll 60, log other 60, discovering->standby
  N: poll 60, log other 60, not-active->standby
  S SS: poll 60, log other 60
  S1: poll 60, 0 lost, log other 60
  SH: -by, poll 60, log other 60
  M H HH: +contested, poll 60, log two masters 60 contested
  C: log two masters 60 contested
  C1: 0 lost, log two masters 60 contested
read: masters 40 and 60
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, log other 60
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: master 40, standby 30
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, log other 30
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: silent master 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  M H HH: poll 40, log two masters 40, master->standby
  C: -contested, poll 40, log two masters 40, master->standby
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby
read: silent master 60
  D: poll 60, log other 60, discovering->standby
  N: poll 60, log other 60, not-active->standby
  S SS: poll 60, log other 60
  S1: poll 60, 0 lost, log other 60
  SH: -by, poll 60, log other 60
  M H HH: poll 60, log two masters 60, master->standby
  C: -contested, log two masters 60, master->standby
  C1: -contested, 0 lost, log two masters 60, master->standby
read: hung master 77
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  M HH: nothing
  C C1: -contested, -poll
  H: -held
read: master 77 answers again
  D: poll 77, -hung 77, log other 77, discovering->standby
  N: poll 77, -hung 77, log other 77, not-active->standby
  S SS: poll 77, -hung 77, log other 77
  S1: poll 77, 0 lost, -hung 77, log other 77
  SH: -by, poll 77, -hung 77, log other 77
  M H HH: +contested, poll 77, -hung 77, log two masters 77 contested
  C: poll 77, -hung 77, log two masters 77 contested
  C1: poll 77, 0 lost, -hung 77, log two masters 77 contested
polling begins
  D: discovering->standby
  N: not-active->standby
  S SS SH: nothing
  S1: 0 lost
  M C H HH: master->standby
  C1: 0 lost, master->standby
poll: 40 is master
  D N S SH M C H HH: nothing
  S1 C1: 0 lost
  SS: -poll, heavy "another SM is master now", heavy "master gone"
poll: 40 is standby
  D SS M H HH: nothing
  N S S1 SH: -poll, log gone 40: standby, heavy "master gone"
  C C1: -poll, heavy "the other master is gone"
poll: 60 is master
  D M C H HH: nothing
  N S S1 SS SH: -poll, log gone 40: master, heavy "master gone"
  C1: 0 lost
poll: 60 is standby
  D M H HH: nothing
  N S S1 SS SH: -poll, log gone 40: standby, heavy "master gone"
  C C1: -poll, heavy "the other master is gone"
poll unanswered
  D M H HH: nothing
  N S SS SH C: 1 lost
  S1: -poll, +hung 40, log gone 40: timeout, heavy "master gone"
  C1: -poll, +hung 60, heavy "the other master is gone"
poll: no route
  D M H HH: nothing
  N S SS SH C: 1 lost
  S1: -poll, heavy "master gone"
  C1: -poll, +hung 60, heavy "the other master is gone"
patience over
  D N S S1 SS SH M H HH: nothing
  C C1: -contested, log no HANDOVER of 60, master->standby
stood still
  D N S S1 SS SH M C C1: +held, standstills 1, log stood still, light "stood still"
  H: standstills 2, log stood still, light "stood still"
  HH: standstills 3, log stood still, light "stood still"
known SMs read: no other master
  D N S S1 SS SH M C C1 HH: nothing
  H: -held
known SMs read: perhaps another master
  any state: nothing
silent SM answers as master
  any state: heavy "a silent SM answers as master"
silent SM answers as standby
  any state: heavy "a silent SM answers"
)";

}  // namespace smd::sm::machine::test
