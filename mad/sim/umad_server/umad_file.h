// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's share of an open umad device: agents, time-outs and resends, RMPP, and the form of what a
// program writes and reads. Facts from Linux (drivers/infiniband/core/user_mad.c, mad.c, mad_rmpp.c).

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mad/sim/fabric/fabric.h"
#include "mad/sim/packets/rmpp_transfer.h"
#include "mad/sim/state/flow_control.h"
#include "mad/sim/state/random.h"

namespace smd::sim {

/// What there is to read: a struct ib_user_mad, whole.
using UmadMessage = std::vector<std::uint8_t>;

/// One open umad device: its agents and what they have sent and received
/// (drivers/infiniband/core/user_mad.c).
class UmadFile {
 public:
  static constexpr std::size_t kAgents = 32;

  /// `fabric` outlives it.
  UmadFile(Fabric& fabric, PortIndex port);
  ~UmadFile();
  UmadFile(const UmadFile&) = delete;
  UmadFile& operator=(const UmadFile&) = delete;

  // ioctl. Errors are errno values.
  /// As IB_USER_MAD_REGISTER_AGENT2: the agent's number, below kAgents. ENOMEM: all are taken; else
  /// Fabric::attach's error.
  std::expected<std::uint32_t, int> add_agent(const Registration& registration);
  /// As IB_USER_MAD_UNREGISTER_AGENT: EINVAL where it is not registered; its requests end without an answer.
  std::expected<void, int> remove_agent(std::uint32_t agent);
  bool has_agent(std::uint32_t agent) const;  ///< false above kAgents, too
  /// The longer header, with the P_Key index; only before the first agent.
  std::expected<void, int> enable_pkey();
  std::size_t header_bytes() const { return header_bytes_; }

  /// What a program has written. An error is an errno; nothing was sent then.
  std::expected<void, int> write(std::span<const std::uint8_t> umad, TimePoint now);

  /// What a program reads when a write was refused after it had been told that all is well: the send comes
  /// back with the reason. Nothing where there is not even a header.
  std::optional<UmadMessage> refused(std::span<const std::uint8_t> umad, int error) const;

  /// Everything that there is to read now, in order.
  std::vector<UmadMessage> take();
  /// The agents, as the fabric knows them (Fabric::ready).
  std::vector<ClientId> clients() const;
  /// Is called when a send has come to its end without an answer, so that there is something to read.
  void on_time_out(std::function<void()> call) { time_out_ = std::move(call); }

 private:
  using Key = std::pair<std::uint64_t, std::uint8_t>;  ///< TID and class
  struct Agent {
    ClientId client = 0;  ///< 0: there is no such agent
    Registration registration{};
    FlowControl<Key> requests{0};
  };
  /// A send that waits for its answer, or an answer by RMPP that is kept until its time-out.
  struct Pending {
    std::uint32_t agent = 0;
    Outgoing mad;
    std::vector<std::uint8_t> header;  ///< as the program wrote it
    Duration timeout{0};
    std::uint32_t retries = 0;
    std::uint32_t retries_left = 0;          ///< of an answer; each acknowledgement gives it all again
    std::optional<RmppTransfer> transfer{};  ///< of an answer by RMPP
    TimePoint begun{};
    bool is_answer() const { return transfer.has_value(); }
    TimePoint deadline{};
    bool controlled = false;  ///< counts for the agent's requests
    bool sent = true;         ///< else it waits in the backlog
  };

  struct Written;
  std::expected<Written, int> parse(std::span<const std::uint8_t> umad) const;
  std::expected<void, int> check(const Written& written) const;
  void send_answer(Written&& written, std::span<const std::uint8_t> umad, TimePoint now);
  bool go_on(Pending& pending, bool again);
  void wait_for_answer(const Key& key, TimePoint now);
  bool forget(const Key& key);
  void begin_request(const Key& key, TimePoint now);
  void make_way(const Key& key, const Pending& ended);
  std::size_t places_of(const Registration& registration) const;
  void arm();
  void look();
  void timed_out(const Key& key);
  void answer_timed_out(const Key& key);
  void give_up(const Key& key, int error);
  void collect();
  std::optional<UmadMessage> receive(std::uint32_t agent, const mad::Received& mad);

  Fabric& fabric_;
  PortIndex port_;
  std::size_t header_bytes_ = 56;
  bool used_ = false;
  std::array<Agent, kAgents> agents_;
  Random random_;
  std::map<Key, Pending> pending_;
  std::set<std::pair<TimePoint, Key>> deadlines_;  ///< of pending_
  std::optional<TimePoint> armed_;                 ///< when look() is called next
  std::vector<UmadMessage> inbox_;
  std::function<void()> time_out_;
  std::shared_ptr<UmadFile*> self_;  ///< timers look through it whether this is still there
};

}  // namespace smd::sim
