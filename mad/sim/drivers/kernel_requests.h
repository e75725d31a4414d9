// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's share of the requests of a client in virtual time: flow control, time-outs, and no answer that
// comes later. UmadFile does the same for programs that are attached.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "mad/clock.h"
#include "mad/sim/state/client.h"
#include "mad/sim/state/flow_control.h"

namespace smd::sim {

class KernelRequests {
 public:
  using Send = std::function<void(Outgoing)>;
  using Deliver = std::function<void(mad::Received)>;

  /// `deliver` gets requests that have come to their end without an answer, with the errno.
  KernelRequests(mad::Clock& clock, std::size_t places, Send send, Deliver deliver);
  KernelRequests(const KernelRequests&) = delete;
  KernelRequests& operator=(const KernelRequests&) = delete;
  ~KernelRequests();

  /// Sends it now or later; what wants no answer at once.
  void send(Outgoing mad);
  /// What has arrived, less answers that nothing waits for.
  void sift(std::vector<mad::Received>& received);
  /// Not answered and not at their end, those that were not sent yet included.
  std::size_t outstanding() const { return requests_.size(); }

 private:
  /// The class, which stands for the agent, and the lower half of the TID.
  using Key = std::uint64_t;
  struct Request {
    Outgoing mad;
    mad::Clock::TimerId timer = 0;
  };
  void transmit(Key key);
  void over(Key key);
  void make_way(Key key);

  mad::Clock& clock_;
  FlowControl<Key> flow_;
  Send send_;
  Deliver deliver_;
  std::map<Key, Request> requests_;
};

}  // namespace smd::sim
