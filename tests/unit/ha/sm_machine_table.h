// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SM state machine as a table: for each event what it changes and causes, by the states in which it does.
//
// We are priority 8, GUID 50. SMs 30 and 40 rank above us, SM 60 below us; SM 77 is hung (State::hung), SM 33
// ranks above us and has declined a HANDOVER.
//   D   discovering
//   N   not active, disabled while it followed master 40
//   S   standby, follows master 40; S1: which left a poll unanswered; SH: which has sent HANDOVER
//   SS  standby, follows 40, which outranks us and is itself a standby
//   Q   standby, follows master 60 and does not ask for the fabric ([ha] quiet)
//   Y   standby, has handed over to standby 40, which is not master yet
//   F   standby, the master is gone and no sweep has begun since
//   M   master
//   U   master by its copy of the fabric (State::unread)
//   L   master, whose standby 40 lacks some of its copy (State::lagging)
//   C   master, contested by master 60; C1: which left a poll unanswered
//   H   master, Sets held after a standstill; HH: with another standstill since the work began
// Words: `by`: handed_over_by, `poll`: polled, `held`: sets_held, `[…]`: status of the answer.

#include <string_view>

namespace smd::sm::machine::test {

inline constexpr std::string_view kTable = R"(
HANDOVER of 40
  D N: log HANDOVER of 40, [bad field]
  S S1 SS Q F M U L C C1 H HH: by 40, log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
  SH: log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
  Y: by 40, -yielded, log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
HANDOVER of 60
  D N: log HANDOVER of 60, [bad field]
  S S1 SS SH Q F M U L H HH: by 60, log HANDOVER of 60, ACKNOWLEDGE to 60, heavy now "handover", [ok]
  Y: by 60, -yielded, log HANDOVER of 60, ACKNOWLEDGE to 60, heavy now "handover", [ok]
  C C1: by 60, -poll, log HANDOVER of 60, ACKNOWLEDGE to 60, heavy now "handover", heavy now "the other master is gone", [ok]
ACKNOWLEDGE
  D N S S1 SS SH Q F M U L C C1 H HH: log ACKNOWLEDGE of 40, [ok]
  Y: acknowledged, log ACKNOWLEDGE of 40, [ok]
DISABLE
  D: log DISABLE of 40, discovering->not-active, [ok]
  N: log DISABLE of 40, [ok]
  S S1 SS Q Y F: log DISABLE of 40, standby->not-active, [ok]
  SH: -by, log DISABLE of 40, standby->not-active, [ok]
  M U L C C1 H HH: log DISABLE of 40, [bad field]
STANDBY
  D S S1 SS SH Q Y F M U L C C1 H HH: log STANDBY of 40, [ok]
  N: log STANDBY of 40, not-active->standby, [ok]
DISCOVER
  D N M U L C C1 H HH: log DISCOVER of 40, [ok]
  S S1 SS SH Q Y F: log DISCOVER of 40, heavy "SMInfo DISCOVER", [ok]
an unknown control
  any state: log unknown of 40, [bad field]
HANDOVER, foreign key
  any state: log refused HANDOVER of 40, [bad field]
ACKNOWLEDGE, foreign key
  any state: log refused ACKNOWLEDGE of 40, [bad field]
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
  S S1 SS Q F M U L C C1 H HH: by 40, log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
  SH: log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
  Y: by 40, -yielded, log HANDOVER of 40, ACKNOWLEDGE to 40, heavy now "handover", [ok]
HANDOVER of a standby
  any state: log refused HANDOVER of 40 not master, [bad field]
priority 12
  D N SS Q Y F M U L C C1 H HH: priority 12
  S S1 SH: priority 12, tell 40 our rank
priority 2
  any state: priority 2
policy of 3 losses
  any state: losses 3
work begins
  D N S S1 SS SH Q Y F M U L C C1 H: nothing
  HH: accounted 2
sweep begins
  D F M L H HH: nothing
  N S S1 SS SH Q Y: -poll
  U: +adopting
  C C1: +adopting, -contested, -poll
sweep failed
  any state: nothing
read: no other SM
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: -poll, -deferral, standby->master
  Y: -poll, -yielded, standby->master
  F: standby->master
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
read by an incremental sweep: no other SM
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: -poll, -deferral, standby->master
  Y: -poll, -yielded, standby->master
  F: standby->master
  M U L H HH: nothing
  C C1: -contested, -poll
dry run: no other SM
  D F M L HH: nothing
  N S S1 SS Q Y: -poll
  SH: -by, -poll
  U: -unread
  C C1: -contested, -poll
  H: -held
dry run: master 40
  D F M L H HH: nothing
  N S S1 SS Q: -poll
  SH: -by, -poll
  Y: -poll, -yielded
  U: -unread
  C C1: -contested, -poll
read: standby 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS Y: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  Q F: poll 40, log other 40
  M: poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  U: -unread, poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  L: await the copy of 40
  C: -contested, poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  C1: -contested, poll 40, 0 lost, yielded to 40, master->standby, HANDOVER to 40, follow
  H: -held, poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  HH: nothing
read: discovering 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  Q F: poll 40, log other 40
  Y: -yielded, log other 40
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
read: not active 40
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: -poll, -deferral, standby->master
  Y: -poll, -yielded, standby->master
  F: standby->master
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
read: standby 60
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: log other 60
  Y: -poll, -yielded, standby->master
  F: standby->master
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
read: master 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  Q F: poll 40, log other 40
  Y: -yielded, log other 40
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  U: -unread, poll 40, log two masters 40, master->standby, HANDOVER to 40
  L: poll 40, -lagging, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: master 60
  D: poll 60, log other 60, discovering->standby, tell 60 our rank
  N: poll 60, log other 60, not-active->standby, tell 60 our rank
  S SS Y F: poll 60, log other 60, tell 60 our rank
  S1: poll 60, 0 lost, log other 60, tell 60 our rank
  SH: -by, poll 60, log other 60, tell 60 our rank
  Q: log other 60
  M L H HH: +contested, poll 60, log two masters 60 contested
  U: +contested, -unread, poll 60, log two masters 60 contested
  C: log two masters 60 contested
  C1: 0 lost, log two masters 60 contested
read: masters 40 and 60
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, log other 60
  Q F: poll 40, log other 40
  Y: -yielded, log other 40
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  U: -unread, poll 40, log two masters 40, master->standby, HANDOVER to 40
  L: poll 40, -lagging, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: master 40, standby 30
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  Q F: poll 40, log other 40
  Y: -yielded, log other 40
  M HH: poll 40, log two masters 40, master->standby, HANDOVER to 40
  U: -unread, poll 40, log two masters 40, master->standby, HANDOVER to 40
  L: poll 40, -lagging, log two masters 40, master->standby, HANDOVER to 40
  C: -contested, poll 40, log two masters 40, master->standby, HANDOVER to 40
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby, HANDOVER to 40
  H: -held, poll 40, log two masters 40, master->standby, HANDOVER to 40
read: silent master 40
  D: poll 40, log other 40, discovering->standby
  N: log other 40, not-active->standby
  S SS Y: log other 40
  S1: 0 lost, log other 40
  SH: -by, -poll, standby->master
  Q F: poll 40, log other 40
  M H HH: poll 40, log two masters 40, master->standby
  U: -unread, poll 40, log two masters 40, master->standby
  L: poll 40, -lagging, log two masters 40, master->standby
  C: -contested, poll 40, log two masters 40, master->standby
  C1: -contested, poll 40, 0 lost, log two masters 40, master->standby
read: silent master 60
  D: poll 60, log other 60, discovering->standby
  N: poll 60, log other 60, not-active->standby
  S SS Y F: poll 60, log other 60
  S1: poll 60, 0 lost, log other 60
  SH: -by, poll 60, log other 60
  Q: log other 60
  M H HH: poll 60, log two masters 60, master->standby
  U: -unread, poll 60, log two masters 60, master->standby
  L: poll 60, -lagging, log two masters 60, master->standby
  C: -contested, log two masters 60, master->standby
  C1: -contested, 0 lost, log two masters 60, master->standby
read: hung master 77
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: -poll, -deferral, standby->master
  Y: -poll, -yielded, standby->master
  F: standby->master
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
read: master 77 answers again
  D: poll 77, -hung 77, log other 77, discovering->standby, tell 77 our rank
  N: poll 77, -hung 77, log other 77, not-active->standby, tell 77 our rank
  S SS Y F: poll 77, -hung 77, log other 77, tell 77 our rank
  S1: poll 77, 0 lost, -hung 77, log other 77, tell 77 our rank
  SH: -by, poll 77, -hung 77, log other 77, tell 77 our rank
  Q: poll 77, -hung 77, log other 77
  M L H HH: +contested, poll 77, -hung 77, log two masters 77 contested
  U: +contested, -unread, poll 77, -hung 77, log two masters 77 contested
  C: poll 77, -hung 77, log two masters 77 contested
  C1: poll 77, 0 lost, -hung 77, log two masters 77 contested
read: standby 40, foreign key
  D: log stranger 40 other key, discovering->master
  N: -poll, log stranger 40 other key, not-active->master
  S S1 SS: -poll, log stranger 40 other key, standby->master
  SH: -by, -poll, log stranger 40 other key, standby->master
  Q: -poll, -deferral, log stranger 40 other key, standby->master
  Y: -poll, -yielded, log stranger 40 other key, standby->master
  F: log stranger 40 other key, standby->master
  M L HH: log stranger 40 other key
  U: -unread, log stranger 40 other key
  C C1: -contested, -poll, log stranger 40 other key
  H: -held, log stranger 40 other key
read: standby 33, which has declined
  D: discovering->master
  N: -poll, not-active->master
  S S1 SS: -poll, standby->master
  SH: -by, -poll, standby->master
  Q: -poll, -deferral, standby->master
  Y: -poll, -yielded, standby->master
  F: standby->master
  M L HH: nothing
  U: -unread
  C C1: -contested, -poll
  H: -held
others asked: none
  D N S S1 SS Q Y M U L C C1 H HH: nothing
  SH: +unread, -poll, standby->master
  F: +unread, standby->master
others asked: standby 60
  D N S S1 SS Q Y M U L C C1 H HH: nothing
  SH: +unread, -poll, standby->master
  F: +unread, standby->master
others asked: standby 40
  D N S S1 SS Q Y F M U L C C1 H HH: nothing
  SH: +unread, -poll, standby->master
others asked: silent standby 40
  D N S S1 SS Q Y F M U L C C1 H HH: nothing
  SH: +unread, -poll, standby->master
others asked: master 60
  any state: nothing
others asked: hung master 77
  D N S S1 SS Q Y M U L C C1 H HH: nothing
  SH: +unread, -poll, standby->master
  F: +unread, standby->master
known SMs read: standby 40
  D N S S1 SS SH Q Y F C C1 H HH: nothing
  M: poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  U: -unread, poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  L: await the copy of 40
known SMs read: standbys 30 and 40
  D N S S1 SS SH Q Y F C C1 H HH: nothing
  M: poll 30, yielded to 30, master->standby, HANDOVER to 30, follow
  U: -unread, poll 30, yielded to 30, master->standby, HANDOVER to 30, follow
  L: poll 30, yielded to 30, -lagging, master->standby, HANDOVER to 30, follow
known SMs read: standby 60
  any state: nothing
known SMs read: discovering 40
  D N S S1 SS SH Q F M U L C C1 H HH: nothing
  Y: -yielded
known SMs read: standby 40, foreign key
  any state: log stranger 40 other key
40 tells of its rank
  D N S S1 SS SH Q Y F C C1 H HH: nothing
  M: poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  U: -unread, poll 40, yielded to 40, master->standby, HANDOVER to 40, follow
  L: await the copy of 40
33 tells of its rank
  D N S S1 SS SH Q Y F C C1 H HH: -declined 33
  M: poll 33, yielded to 33, -declined 33, master->standby, HANDOVER to 33, follow
  U: -unread, poll 33, yielded to 33, -declined 33, master->standby, HANDOVER to 33, follow
  L: poll 33, yielded to 33, -declined 33, -lagging, master->standby, HANDOVER to 33, follow
60 tells of its rank
  any state: nothing
copies known: 40 lags
  D N S S1 SS SH Q Y F M U C C1 H HH: lagging
  L: nothing
copies known: none lags
  D N S S1 SS SH Q Y F M U C C1 H HH: nothing
  L: -lagging
hand over to 60
  D N S S1 SS SH Q Y F C C1 H HH: nothing
  M: poll 60, deferral, yielded to 60, master->standby, HANDOVER to 60, follow
  U: -unread, poll 60, deferral, yielded to 60, master->standby, HANDOVER to 60, follow
  L: poll 60, deferral, yielded to 60, -lagging, master->standby, HANDOVER to 60, follow
HANDOVER taken by 40
  any state: nothing
HANDOVER not taken by 40
  D N S S1 SS SH Q F M U L C C1 H HH: nothing
  Y: -poll, -yielded, +declined 40, log 40 declined: status, heavy now "HANDOVER was not taken"
deferral over
  D N S S1 SS SH Y F M U L C C1 H HH: nothing
  Q: -deferral, tell 60 our rank
polling begins
  D: discovering->standby
  N: not-active->standby
  S SS SH Q Y F: nothing
  S1: 0 lost
  M C H HH: master->standby
  U: -unread, master->standby
  L: -lagging, master->standby
  C1: 0 lost, master->standby
poll: 40 is master
  D N S SH F M U L C H HH: nothing
  S1 C1: 0 lost
  SS: -poll, heavy "another SM is master now", heavy now "master gone"
  Q: -poll, log gone 60: master, heavy now "master gone"
  Y: -poll, -yielded, heavy "another SM is master now", heavy now "master gone"
poll: 40 is standby
  D SS Y F M U L H HH: nothing
  N S S1 SH: -poll, log gone 40: standby, heavy now "master gone"
  Q: -poll, log gone 60: standby, heavy now "master gone"
  C C1: -poll, heavy now "the other master is gone"
poll: 60 is master
  D Q F M U L C H HH: nothing
  N S S1 SS SH: -poll, log gone 40: master, heavy now "master gone"
  Y: -poll, -yielded, log gone 40: master, heavy now "master gone"
  C1: 0 lost
poll: 60 is standby
  D F M U L H HH: nothing
  N S S1 SS SH: -poll, log gone 40: standby, heavy now "master gone"
  Q: -poll, log gone 60: standby, heavy now "master gone"
  Y: -poll, -yielded, log gone 40: standby, heavy now "master gone"
  C C1: -poll, heavy now "the other master is gone"
poll unanswered
  D F M U L H HH: nothing
  N S SS SH Q Y C: 1 lost
  S1: replaces 40, -poll, +hung 40, log gone 40: timeout, heavy now "master gone"
  C1: -poll, +hung 60, heavy now "the other master is gone"
poll: no route
  D F M U L H HH: nothing
  N S SS SH Q Y C: 1 lost
  S1: -poll, heavy now "master gone"
  C1: -poll, +hung 60, heavy now "the other master is gone"
patience over
  D N S S1 SS SH Q F M U L H HH: nothing
  Y: -poll, -yielded, +declined 40, log 40 declined: it has not become master, heavy now "HANDOVER was not taken"
  C C1: -contested, log no HANDOVER of 60, master->standby, tell 60 our rank
stood still
  D N S S1 SS SH Q Y F M U L C C1: +held, standstills 1, log stood still, light "stood still"
  H: standstills 2, log stood still, light "stood still"
  HH: standstills 3, log stood still, light "stood still"
known SMs read: no other master
  D N S S1 SS SH Q Y F M U L C C1 HH: nothing
  H: -held
known SMs read: perhaps another master
  any state: nothing
silent SM answers as master
  any state: heavy "a silent SM answers as master"
SM that was not heard answers as master
  D N S S1 SS SH Q Y F C C1 H HH: nothing
  M U L: +held, +alone, heavy now "a standby has become master"
SM that was not heard answers as standby
  any state: nothing
)";

}  // namespace smd::sm::machine::test
