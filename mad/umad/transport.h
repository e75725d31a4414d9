// SPDX-License-Identifier: Apache-2.0
#pragma once
// MADs through libibumad: one descriptor, sends on the io_context, receives on a thread of its own.

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/asio.h"
#include "mad/transport.h"
#include "mad/umad/port_watch.h"
#include "mad/umad/receiver.h"
#include "mad/umad/sysfs_port.h"
#include "mad/wire/mad.h"

namespace smd::umad {

using mad::ClassRegistration;

/// What a subnet manager is asked and told: SMInfo by Get and Set, traps and their TrapRepress.
std::vector<ClassRegistration> smi_classes();
/// Subnet administration: its requests, as OpenSM registers them, and GetTraceTable. Reports and traps
/// of its class are for others on this port that subscribe to them: the kernel has one agent for each method.
/// Other classes of the GSI are added when they are used (add_class).
std::vector<ClassRegistration> gsi_classes();

class Transport final : public mad::Transport {
 public:
  /// The error says what the operator can do. Nothing blocks.
  static std::expected<std::unique_ptr<Transport>, mad::TransportError> open(
      asio::io_context& io, const mad::LocalPort& port, const std::vector<ClassRegistration>& classes);
  ~Transport() override;

  /// The port's other interface: a descriptor of its own or, where the device is an emulation that gives
  /// every opener the same one, this one shared. It ends before this.
  std::expected<std::unique_ptr<mad::Transport>, mad::TransportError> open_gsi(asio::io_context& io);

  std::expected<void, mad::TransportError> add_class(const ClassRegistration& registration) override;
  void on_receive(Sink sink) override;
  void on_receive_ahead(const std::shared_ptr<const Ahead>& ahead) override;
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds give_up) override;
  /// What was read of the port last; without watch_port() how it was when it was opened. Nothing blocks.
  std::expected<mad::LocalPort, mad::TransportError> local() const override;
  /// From now on the port is read once a second, on a thread of its own. `root`: where sysfs has the devices.
  void watch_port(const std::string& root = kSysInfiniband);
  /// Why nothing new is known of the port: its device does not answer to a read of sysfs.
  std::optional<std::string> stalled() const;
  std::optional<mad::TransportError> broken() const override;
  std::size_t places() const override;
  std::size_t room() const override;

 private:
  class Shared;
  Transport(asio::io_context& io, mad::LocalPort port, int descriptor, std::size_t places);
  /// EAGAIN where too many answers are under way, or too much of them.
  std::expected<void, mad::TransportError> send_by_rmpp(int agent, std::span<const std::uint8_t> mad,
                                                        const mad::LidRoute& to);
  int put(int agent, std::size_t bytes, std::chrono::milliseconds give_up, int retries);
  mad::TransportError not_sent(int error) const;

  mad::LocalPort port_;
  int descriptor_;
  bool emulated_;
  std::size_t capacity_;               ///< requests that may wait for their answers
  unsigned lost_sends_ = 0;            ///< in a row, by errors that a device which is gone gives
  std::vector<std::uint64_t> buffer_;  ///< of the send in hand: struct ib_user_mad and the MAD, aligned
  std::shared_ptr<Delivery> delivery_;
  std::unique_ptr<Receiver> receiver_;
  std::unique_ptr<PortWatch> watch_;
};

}  // namespace smd::umad
