// SPDX-License-Identifier: Apache-2.0
// Traps that programs on hosts send to the SM: what subscribers are told of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mad/wire/smp.h"
#include "mad/wire/trap.h"
#include "smd/sa/registry/subscriptions.h"
#include "tests/support/sa_lab.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

struct Told {
  wire::Notice notice;
  Gid issuer;
};

/// h00003 subscribes to everything; programs on other hosts send traps.
class SaTraps : public testing::Test {
 protected:
  SaTraps() {
    listener_->on_receive([this](std::span<mad::Received> batch) {
      for (const auto& mad : batch) {
        const auto header = *wire::decode<wire::MadHeader>(mad.bytes);
        if (mad.error != 0 || header.method != wire::Method::report) continue;
        auto answer = header;
        answer.method = wire::Method::report_resp;
        auto reply = mad.bytes;
        wire::encode(answer, reply);
        EXPECT_TRUE(listener_->send(reply, served_.address(), 0ms));
        const auto data = std::span<const std::uint8_t>(mad.bytes).subspan(wire::kSaDataOffset);
        Gid issuer;
        std::copy_n(data.begin() + wire::Notice::kBytes, issuer.bytes.size(), issuer.bytes.begin());
        told_.push_back({*wire::decode<wire::Notice>(data), issuer});
      }
    });
    const wire::InformInfo inform{.gid = {},
                                  .lid_begin = Lid{0xFFFF},
                                  .lid_end = {},
                                  .is_generic = 1,
                                  .subscribe = 1,
                                  .type = 0xFFFF,
                                  .trap = 0xFFFF,
                                  .qp = 1,
                                  .producer = 0xFFFFFF};
    const test::Question set{.method = wire::Method::set, .attribute = wire::InformInfo::kAttribute};
    EXPECT_TRUE(listener_->send(set.with(inform), served_.address(), 1000ms));
    world_.run_for(500ms);
    EXPECT_EQ(served_.registry().subscriptions().size(), 1U);
    told_.clear();
  }

  sa::EndPort port_of(const std::string& name) {
    directory_ = std::make_unique<sa::Directory>(served_.manager().published());
    const auto ports = directory_->end_ports();
    return *std::ranges::find_if(ports,
                                 [&](const sa::EndPort& port) { return port.node->description == name; });
  }
  Gid gid_of(const std::string& name) {
    const auto port = port_of(name);
    return directory_->gid_of(port);
  }
  Lid lid_of(const std::string& name) { return port_of(name).lid; }

  /// A program on the host puts this trap on the wire.
  void trap_from(const std::string& host, const wire::Notice& notice) {
    auto smi = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::smi);
    auto smp = wire::Smp::lid_routed(wire::Method::trap, wire::Notice::kAttribute, 0);
    smp.put(notice);
    mad::LidRoute to{.lid = served_.last().decided.lids->sm_lid};
    EXPECT_TRUE(smi->send(smp.bytes(), to, 0ms));
    world_.run_for(500ms);
  }
  wire::Notice changed(Lid issuer) {
    const wire::LocalChangeDetails details{.lid = issuer, .capability_mask = 0x1234};
    return wire::generic_notice(wire::NoticeType::informational, wire::kProducerCa, wire::trap::kLocalChange,
                                issuer, details);
  }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  store::MemoryStore store_;
  test::Served served_{world_, &store_, sa::Settings{}};
  std::unique_ptr<sa::Directory> directory_;
  std::unique_ptr<sim::Transport> listener_ =
      world_.transport(sim::Place{"h00003", PortNum{1}}, sim::Interface::gsi);
  std::vector<Told> told_;
};

TEST_F(SaTraps, WhatTheSmAloneSaysIsNotTakenFromAHost) {
  const auto victim = gid_of("h00006");
  for (const std::uint16_t number : {sa::kPortIn, sa::kPortOut, sa::kGroupCreated, sa::kGroupDeleted}) {
    for (const auto issuer : {served_.last().decided.lids->sm_lid, lid_of("h00005"), Lid{}}) {
      auto event = sa::event_of(port_of("h00000"), {}, number, victim);
      event.notice.issuer_lid = issuer;
      trap_from("h00005", event.notice);
    }
  }
  // Nor from the SM's own host: the SM does not send them to itself.
  trap_from("h00000", sa::event_of(port_of("h00000"), {}, sa::kPortOut, victim).notice);

  EXPECT_TRUE(told_.empty()) << told_.size() << " reports, the first of trap " << told_.front().notice.trap;
}

TEST_F(SaTraps, TheSmItselfStillSaysIt) {
  const auto leaving = gid_of("h00006");
  world_.fabric().faults().link_down({"h00006", PortNum{1}});
  world_.run_for(5s);

  const auto about = [&](const Told& one) {
    return one.notice.trap == sa::kPortOut && sa::subject_of(one.notice) == leaving;
  };
  EXPECT_EQ(std::ranges::count_if(told_, about), 1);
}

TEST_F(SaTraps, AnotherTrapHasItsSendersGid) {
  trap_from("h00005", changed(lid_of("h00005")));

  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].issuer, gid_of("h00005"));
  EXPECT_EQ(told_[0].notice.issuer_lid, lid_of("h00005"));
}

TEST_F(SaTraps, AHostCannotSpeakAsAnotherOne) {
  const auto sm = served_.last().decided.lids->sm_lid;
  trap_from("h00005", changed(lid_of("h00006")));
  trap_from("h00005", changed(sm));
  trap_from("h00005", changed(Lid{0x7777}));

  ASSERT_EQ(told_.size(), 3U);
  for (const auto& one : told_) {
    EXPECT_EQ(one.issuer, gid_of("h00005"));
    EXPECT_EQ(one.notice.issuer_lid, lid_of("h00005"));
  }
}

/// The trap of an SM that has begun was lost: that it polls is enough. A tool that asks is looked at once.
TEST_F(SaTraps, WhereAnSmAsksThatIsNotKnownThePortIsReadAgain) {
  auto smi = world_.transport(sim::Place{"h00005", PortNum{1}}, sim::Interface::smi);
  const auto poll = [&] {
    const auto smp = wire::Smp::lid_routed(wire::Method::get, wire::SmInfo::kAttribute, 0);
    const mad::LidRoute to{.lid = served_.last().decided.lids->sm_lid};
    EXPECT_TRUE(smi->send(smp.bytes(), to, 0ms));
    world_.run_for(1s);
  };
  poll();
  EXPECT_EQ(served_.lines().count("where no SM is known"), 1U) << testing::PrintToString(served_.lines().all);
  for (int again = 0; again < 5; ++again) poll();
  EXPECT_EQ(served_.lines().count("where no SM is known"), 1U);
}

TEST_F(SaTraps, TheTriedMKeyIsNotTold) {
  const wire::BadMKeyDetails details{.lid = lid_of("h00005"), .m_key = 0x5EC4E7};
  trap_from("h00005", wire::generic_notice(wire::NoticeType::security, wire::kProducerCa,
                                           wire::trap::kBadMKey, lid_of("h00005"), details));

  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(wire::details<wire::BadMKeyDetails>(told_[0].notice)->m_key, 0U);
}

}  // namespace
}  // namespace smd
