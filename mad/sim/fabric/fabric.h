// SPDX-License-Identifier: Apache-2.0
#pragma once
// A simulated fabric: nodes with their management agents, links, packets on their way. A machine without
// clock, thread or Asio: its owner gives the time (World, Live). One thread at a time.

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mad/base/fabric.h"
#include "mad/sim/fabric/faults.h"
#include "mad/sim/packets/data.h"
#include "mad/sim/packets/reach.h"
#include "mad/sim/packets/walk.h"
#include "mad/sim/state/client.h"
#include "mad/sim/state/counts.h"
#include "mad/sim/state/options.h"
#include "mad/sim/state/place.h"
#include "mad/sim/state/state.h"

namespace smd::sim {

/// A subnet of simulated nodes that is moved forward by its owner. One thread at a time.
class Fabric {
 public:
  /// All nodes are on; links whose two ends are enabled are in Init at once, without training.
  explicit Fabric(const base::Fabric& description, const Options& options = {});
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric();

  // Clients and their MADs.
  /// As a program without registered agents: it gets what no other client of the port asks for.
  ClientId attach(PortIndex port, Interface interface);
  /// As an agent of a umad device. EINVAL: what it asks for belongs to another agent of the port already.
  /// EPROTONOSUPPORT: the port has no SMI.
  std::expected<ClientId, int> attach(PortIndex port, const Registration& registration);
  /// Releases the SM role that it holds; its inbox is dropped. Unknown clients are ignored.
  void detach(ClientId client);
  /// Sends at `now`; what comes of it at once (answers, without delays) is in the inboxes on return.
  void send(ClientId client, Outgoing mad, TimePoint now);
  /// Clients that have something in their inbox, in the order in which they got it.
  std::vector<ClientId> ready();
  /// Empties the inbox; empty for an unknown client.
  std::vector<mad::Received> take(ClientId client);
  /// The port shows IsSM from now on (trap 144). False: a client holds this port's role, or is unknown.
  bool claim_sm(ClientId client);
  /// The opposite; ignored where the client does not hold it.
  void release_sm(ClientId client);
  /// The client's port as it is now; `device` is the node's name. Default values for an unknown client.
  mad::LocalPort local(ClientId client) const;

  // Time.
  /// When something happens next by itself; nothing: never.
  std::optional<TimePoint> next() const;
  /// Everything that is due at `now` or before, in order.
  void advance(TimePoint now);
  /// Is called by advance() when it is time; never taken back.
  void at(TimePoint due, std::move_only_function<void()> event);

  // What one may do and ask from outside.
  /// A handle to this fabric's faults; must not outlive it.
  Faults faults();
  /// SMPs that agents have served; may be cleared.
  SmpCounts& counts();
  /// The whole state, to read; changed by the calls above.
  const State& state() const { return *state_; }
  /// Port of a place; nothing where there is none.
  std::optional<PortIndex> find(const Place& place) const;
  /// First CA port with a link, else port 0 of the first switch.
  std::optional<PortIndex> default_port() const;
  /// The way of a data packet by the tables as they are now; nothing is sent. No such place: Fate::no_link.
  Walk walk(const Place& from, Lid dlid, Sl sl = Sl{}, std::optional<PKey> pkey = std::nullopt) const;
  /// Walks between all ordered pairs of CA ports; pairs x hops of time.
  Reach reach() const;
  /// As sim::spread; empty where there is no such place.
  Spread spread(const Place& from, Lid mlid) const;
  /// Sends one data packet: as walk(), and a port that refuses it counts that and sends a trap
  /// (mad/sim/packets/data.h).
  Walk send_data(const Place& from, const DataPacket& packet);
  /// `watcher` is called for each MAD that leaves a port. One watcher at a time.
  void watch_packets(std::move_only_function<void(const SentPacket&)> watcher);
  /// `watcher` is called after each Set that an agent has served. One watcher at a time.
  void watch_sets(std::move_only_function<void(const DoneSet&)> watcher);

  /// PortInfo as the port holds it; nothing where there is no such port.
  std::optional<wire::PortInfo> port_info(const Place& place) const;
  /// "0x… name port: state …", a line for each port that has a link and is not Active.
  std::vector<std::string> not_active() const;
  /// Bytes that the state holds, by counting its containers.
  std::size_t bytes() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace smd::sim
