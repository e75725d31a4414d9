// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the port that a Get(SMInfo) comes from is one of an SM: only then the answer shows the SM_Key.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "mad/wire/smp.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline availability {

/// The directed route back to the sender of a directed-route request that has arrived here: its return path,
/// reversed (kernel: smi_handle_dr_smp_recv fills it in). Nothing where it came from this node itself.
std::optional<mad::DirectedPath> path_back(const wire::Smp& request);

/// The port that a directed route from our own port leads to, by the links that are known; nothing where a
/// link is not.
std::optional<PeerPort> port_at(const Subnet& subnet, const mad::DirectedPath& path);

/// Reads CapabilityMask (and the port GUID, where only some may be SMs) of ports that the last sweep has not
/// read as ports of SMs. A result is valid for 100 ms: an SM sets IsSM before its first request, and a port
/// that repeats its requests costs at most ten reads a second. On the io_context's thread; the constructor's
/// arguments outlive it.
class SmLookup {
 public:
  /// Reads nothing yet.
  SmLookup(mad::Transactions& tx, mad::Clock& clock, mad::TaskGroup& tasks)
      : tx_(tx), clock_(clock), tasks_(tasks) {}

  /// Called once, now or later; false also where the port does not answer, or 1,024 others are being read.
  using Answer = std::move_only_function<void(bool is_sm)>;
  /// The sender of a request: the directed route back to it, or the LID that it was sent from.
  struct Sender {
    Lid lid;
    std::optional<mad::DirectedPath> back;
  };
  /// Whether `sender` is an SM of this subnet. `route`: how it is asked, called only where no result
  /// is valid; nothing: none is known. `allowed`: port GUIDs of the SMs of this subnet; empty: any.
  void look_up(const Sender& sender, const std::function<std::optional<mad::Target>()>& route,
               std::vector<Guid> allowed, Answer answer);

 private:
  struct Entry {
    bool open = true;
    bool is_sm = false;
    mad::TimePoint read{};
    std::vector<Answer> waiting;
  };
  using Key = std::vector<std::uint8_t>;
  asio::awaitable<void> read(Key key, mad::Target target, std::vector<Guid> allowed);
  bool make_room();

  mad::Transactions& tx_;
  mad::Clock& clock_;
  mad::TaskGroup& tasks_;
  std::map<Key, Entry> entries_;
};

}  // namespace smd::sm::inline availability
