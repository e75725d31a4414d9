// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our side of SMInfo and traps: answers those who ask who we are, and hears what the fabric reports.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "mad/transactions/transactions.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"
#include "smd/ha/election.h"
#include "smd/log/log.h"

namespace smd::sm {

/// On the io_context's thread. `tx` outlives it.
class SmAgent {
 public:
  /// What the manager does about it.
  struct Events {
    /// Something happened in the fabric; repressed already. `from`: the LID that it came from.
    std::function<void(const wire::Notice& notice, Lid from)> trap;
    std::function<void()> discover;  ///< another SM wants us to look at the fabric
    std::function<void()> handover;  ///< the master gives the fabric to us
    /// Whether this port is where we have seen the master.
    std::function<bool(Guid port)> is_master;
    /// Asked before the SM_Key is shown in an answer: whether the sender of the request is an SM that belongs
    /// here. Calls `answer` once, now or later. Empty: none is.
    using Answer = std::move_only_function<void(bool is_sm)>;
    std::function<void(const mad::Received& from, const wire::Smp& request, Answer answer)> is_sm;
  };

  SmAgent(mad::Transactions& tx, log::Log log, Events events);

  /// Begins to listen. Not called in a dry run: then everything stays unanswered.
  void listen();

  void set_identity(Guid port, std::uint8_t priority, std::uint64_t sm_key);
  void set_state(wire::SmState state);
  wire::SmState state() const { return info_.state; }
  /// With the SM_Key.
  const wire::SmInfo& info() const { return info_; }
  /// How often we have told who we are; from any thread.
  std::uint32_t act_count() const { return act_count_; }
  SmRank rank() const { return {info_.priority, info_.guid}; }
  /// Who handed the fabric over to us, until the next sweep has looked at who is master.
  std::optional<Guid> handed_over_by() const { return handed_over_by_; }
  void forget_handover() { handed_over_by_.reset(); }

 private:
  void received(mad::Received&& mad);
  void sm_info(const mad::Received& mad, const wire::Smp& smp);
  std::uint16_t control(const wire::Smp& smp);
  void answer(const mad::LidRoute& to, const wire::Smp& request, std::uint16_t status, bool with_key);
  bool trusted(const wire::SmInfo& other, wire::SmControl control) const;
  void trap(const mad::Received& mad, const wire::Smp& smp);

  mad::Transactions& tx_;
  log::Log log_;
  Events events_;
  wire::SmInfo info_;
  std::atomic<std::uint32_t> act_count_ = 0;
  std::optional<Guid> handed_over_by_;
};

}  // namespace smd::sm
