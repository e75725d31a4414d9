// SPDX-License-Identifier: Apache-2.0
#pragma once
// The seam between smd and a fabric: whole MADs out and in. Its two ends are mad/umad and mad/sim.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "mad/wire/mad.h"

namespace smd::mad {

/// A directed route from the local port: the port to leave by at each node, ours first. 0 hops is ourselves.
class DirectedPath {
 public:
  static constexpr std::size_t kMaxHops = 63;  ///< the SMP's path fields have 64 bytes, the first is unused
  DirectedPath() = default;
  std::size_t hops() const { return hops_; }
  PortNum hop(std::size_t index) const { return PortNum{ports_[index]}; }  ///< 0 to hops() - 1
  bool full() const { return hops_ == kMaxHops; }                          ///< no further hop can be added
  /// One hop further; nothing where the path is full.
  std::optional<DirectedPath> then(PortNum port) const {
    if (full()) return std::nullopt;
    DirectedPath longer = *this;
    longer.ports_[longer.hops_++] = port.value();
    return longer;
  }
  friend bool operator==(const DirectedPath&, const DirectedPath&) = default;

 private:
  std::uint8_t hops_ = 0;
  std::array<std::uint8_t, kMaxHops> ports_{};
};

/// Global route header of a MAD that has one.
struct GlobalRoute {
  std::array<std::uint8_t, 16> dgid{};
  std::uint8_t sgid_index = 0, hop_limit = 0, traffic_class = 0;
  std::uint32_t flow_label = 0;
  friend bool operator==(const GlobalRoute&, const GlobalRoute&) = default;
};

/// Where a LID-routed MAD goes to, or came from.
struct LidRoute {
  Lid lid{};
  Sl sl{};
  std::uint32_t qp = 0, qkey = 0;
  std::uint16_t pkey_index = 0;
  std::uint8_t path_bits = 0;
  std::optional<GlobalRoute> grh{};
  friend bool operator==(const LidRoute&, const LidRoute&) = default;
};

/// Q_Key of the GSI (QP 1) at every port.
inline constexpr std::uint32_t kQp1QKey = 0x80010000;

using Route = std::variant<DirectedPath, LidRoute>;

/// A MAD as it came from the wire: any bytes, any length.
struct Received {
  std::vector<std::uint8_t> bytes{};
  LidRoute from{};
  /// 0, or the errno with which the lower side gave up a send of ours (`bytes` is then our own MAD again).
  int error = 0;
};

/// Why a transport cannot send or open: an errno and what was tried, for the operator.
struct TransportError {
  int error = 0;
  std::string what{};
};

/// A management class that an agent of ours sends and receives. `methods`: which requests of others we want;
/// none: we only send requests of this class.
struct ClassRegistration {
  wire::MgmtClass mgmt_class{};
  std::uint8_t version = 1;
  std::uint8_t rmpp_version = 0;  ///< 1: the kernel cuts and joins long MADs
  std::vector<wire::Method> methods{};
};

/// The local port. Read at each call, because its state changes.
struct LocalPort {
  std::string device;  ///< "mlx5_0"; of a simulated port the node's name
  PortNum port{};
  Guid guid{};
  Lid lid{};
  Lid sm_lid{};  ///< MasterSMLID and MasterSMSL; not of a port that is looked at again
  Sl sm_sl{};
  bool link_up = false;
};

/// Requests that we leave to the kernel at once. Since 2025 it sends 128 of an SMI agent and 16 of one for
/// subnet administration (a quarter and a 32nd of ib_mad's recv_queue_size of 512), and keeps the others
/// unsent (drivers/infiniband/core/mad.c: solicited MAD flow control). Some places are for what else has an
/// answer.
inline constexpr std::size_t kSmiPlaces = 112, kGsiPlaces = 14;

/// One management interface (SMI or GSI) of one port. Calls are on the io_context's thread.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Called on the io_context's thread with all that has arrived since, in order of arrival.
  using Sink = std::move_only_function<void(std::span<Received>)>;
  /// Sets the receiver of all that arrives from now on; it replaces the one before.
  virtual void on_receive(Sink sink) = 0;

  /// Sends an answer at once, on the thread that received the question; false: it could not.
  using Reply = std::function<bool(std::span<const std::uint8_t> mad, const LidRoute& to)>;
  /// Sees each batch on the thread that received it, before the sink does, and takes out what it has
  /// answered. It may still be called for a moment after it was replaced. Transports that receive on the
  /// io_context have no use for it.
  using Ahead = std::function<void(std::vector<Received>& batch, const Reply& reply)>;
  /// Replaces the one before; null: none.
  virtual void on_receive_ahead(const std::shared_ptr<const Ahead>& /*ahead*/) {}

  /// From now on MADs of this class can be sent, and requests of its `methods` arrive. Nothing where the
  /// class is registered already. Transports without agents carry all classes.
  virtual std::expected<void, TransportError> add_class(const ClassRegistration& /*registration*/) {
    return {};
  }

  /// Sends one MAD. `give_up`: how long an answer may still be delivered (the kernel drops answers to sends
  /// without one); zero for MADs that have no answer. Resends are the caller's business, but for packets of
  /// an answer by RMPP. EAGAIN: too much is under way, now.
  virtual std::expected<void, TransportError> send(std::span<const std::uint8_t> mad, const Route& route,
                                                   std::chrono::milliseconds give_up) = 0;

  /// The local port as last read, or why it could not be read.
  virtual std::expected<LocalPort, TransportError> local() const = 0;

  /// Why nothing will ever go through it again (the device under it is gone); nothing: it works.
  virtual std::optional<TransportError> broken() const { return std::nullopt; }

  /// How many MADs that want an answer it takes in all, and how many more now. At 0 new requests wait for
  /// answers to come.
  virtual std::size_t places() const { return std::numeric_limits<std::size_t>::max(); }
  /// Never above places().
  virtual std::size_t room() const { return std::numeric_limits<std::size_t>::max(); }
};

}  // namespace smd::mad
