// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the port that asks for our SMInfo one of an SM? Only then is it shown the SM_Key.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

/// The directed route back to the sender of a directed-route request that has arrived here: its return path,
/// reversed (kernel: smi_handle_dr_smp_recv fills it in). Nothing where it came from this node itself.
std::optional<mad::DirectedPath> path_back(const wire::Smp& request);

/// The port that a directed route from our own port leads to, by the links that are known; nothing where a
/// link is not.
std::optional<PeerPort> port_at(const Subnet& subnet, const mad::DirectedPath& path);

/// Reads CapabilityMask (and the port GUID, where only some may be SMs) of ports that are not known as an
/// SM's. A result counts for a tenth of a second: an SM sets IsSM before it asks, and a stranger who asks
/// often costs no more than ten reads a second. On the io_context's thread; all that it is given outlives it.
class SmLookup {
 public:
  SmLookup(mad::Transactions& tx, mad::Clock& clock, mad::TaskGroup& tasks)
      : tx_(tx), clock_(clock), tasks_(tasks) {}

  /// Told once, now or later; false also where the port does not answer or too many are asked about.
  using Answer = std::move_only_function<void(bool is_sm)>;
  /// Who asks: a directed route back, or the LID that it was sent from.
  struct Who {
    Lid lid;
    std::optional<mad::DirectedPath> back;
  };
  /// `way`: the directed route to it, asked for only where there is no result; nothing: it is not known.
  /// `allowed`: port GUIDs of the SMs that belong here; empty: any.
  void ask(const Who& who, const std::function<std::optional<mad::DirectedPath>()>& way,
           std::vector<Guid> allowed, Answer answer);

 private:
  struct Entry {
    bool open = true;
    bool is_sm = false;
    mad::TimePoint read{};
    std::vector<Answer> waiting;
  };
  using Key = std::vector<std::uint8_t>;
  asio::awaitable<void> look(Key key, mad::DirectedPath to, std::vector<Guid> allowed);
  bool make_room();

  mad::Transactions& tx_;
  mad::Clock& clock_;
  mad::TaskGroup& tasks_;
  std::map<Key, Entry> entries_;
};

}  // namespace smd::sm
