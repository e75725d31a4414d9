// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SM agent of our own port: receives SMInfo requests and traps, and answers them.

#include <atomic>
#include <cstdint>
#include <functional>

#include "mad/transactions/transactions.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"
#include "smd/ha/sm_machine.h"
#include "smd/log/log.h"

namespace smd::sm::inline availability {

/// On the io_context's thread. `tx` and `state` outlive it.
class SmAgent {
 public:
  struct Events {
    /// A trap; repressed already. `from`: the LID that it came from.
    std::function<void(const wire::Notice& notice, Lid from)> trap;
    /// Set(SMInfo). Returns the status of the answer.
    std::function<std::uint16_t(const mad::Received& from, const wire::Smp& request)> control;
    /// Called before the SM_Key is shown in an answer: whether the sender of the request is an SM of this
    /// subnet. Calls `answer` once, now or later. Empty: none is.
    using Answer = std::move_only_function<void(bool is_sm)>;
    std::function<void(const mad::Received& from, const wire::Smp& request, Answer answer)> is_sm;
    /// Get(SMInfo) has come: an SM asks, or a tool. Calls `go_on`, which answers it, once, now or later.
    /// Empty: it is answered at once.
    using GoOn = std::move_only_function<void()>;
    std::function<void(const mad::Received& from, const wire::Smp& request, GoOn go_on)> asked;
    /// M_Key of the port that has this LID; 0: none is known. A TrapRepress needs it. Empty: 0.
    std::function<std::uint64_t(Lid lid)> m_key;
  };

  /// References outlive it. Events are called on the io_context's thread, after listen().
  SmAgent(mad::Transactions& tx, log::Log log, const machine::State& state, Events events);

  /// Receives from now on. Not called in a dry run: then every request stays unanswered.
  void listen();

  /// Our SMInfo, with the SM_Key.
  wire::SmInfo info() const;
  /// SMInfo's ActCount: the answers sent; from any thread.
  std::uint32_t act_count() const { return act_count_; }

 private:
  void received(mad::Received&& mad);
  void sm_info(const mad::Received& mad, const wire::Smp& smp);
  void show(const mad::Received& mad, const wire::Smp& smp);
  void answer(const mad::LidRoute& to, const wire::Smp& request, std::uint16_t status, bool with_key);
  void trap(const mad::Received& mad, const wire::Smp& smp);

  mad::Transactions& tx_;
  log::Log log_;
  const machine::State& state_;
  Events events_;
  std::atomic<std::uint32_t> act_count_ = 0;
};

}  // namespace smd::sm::inline availability
