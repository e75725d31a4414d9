// SPDX-License-Identifier: Apache-2.0
#pragma once
// An SM of which nothing works but what a test says.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mad/sim/drivers/world.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"

namespace smd::test {

/// Holds the SM's place of a port. Answers SMInfo as `says`, once that has a value.
class ScriptedSm {
 public:
  ScriptedSm(sim::World& world, const sim::Place& place) : transport_(world.transport(place)) {
    EXPECT_TRUE(transport_->claim_sm());
    transport_->on_receive([this](std::span<mad::Received> mads) {
      for (auto& mad : mads) received(mad);
    });
  }
  std::optional<wire::SmInfo> says;
  bool counts = false;                  ///< ActCount of `says` grows with each answer
  std::uint16_t status = 0;             ///< of the answers to Set(SMInfo)
  std::vector<std::uint32_t> controls;  ///< modifiers of Set(SMInfo)
  std::vector<wire::Notice> traps;      ///< none is repressed

  /// Sends Set(SMInfo) or a Trap and wants no answer.
  void send(const wire::Smp& smp, const mad::Route& route) {
    EXPECT_TRUE(transport_->send(smp.bytes(), route, std::chrono::milliseconds(0)));
  }

 private:
  void received(const mad::Received& mad) {
    const auto smp = wire::Smp::from_bytes(mad.bytes);
    if (smp && smp->method() == wire::Method::trap) traps.push_back(smp->get<wire::Notice>());
    if (!smp || !says || smp->attribute() != wire::SmInfo::kAttribute) return;
    const bool set = smp->method() == wire::Method::set;
    if (set) controls.push_back(smp->modifier());
    if (!set && smp->method() != wire::Method::get) return;
    if (counts) ++says->act_count;
    auto reply = smp->response(set ? status : std::uint16_t{0});
    reply.put(*says);
    if (smp->is_directed()) return send(reply, mad::DirectedPath{});
    send(reply, mad.from);
  }
  std::unique_ptr<sim::Transport> transport_;
};

}  // namespace smd::test
