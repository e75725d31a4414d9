// SPDX-License-Identifier: Apache-2.0
#pragma once
// A management interface of a simulated port, as smd (or a test) uses it.

#include <limits>
#include <memory>

#include "mad/sim/state/client.h"
#include "mad/transport.h"

namespace smd::sim {

/// What brings MADs from a Transport into the fabric and back: World in virtual time, Live in real time.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  /// Adds a client at the port; `sink` gets what arrives for it.
  virtual ClientId attach(PortIndex port, Interface interface, mad::Transport::Sink sink) = 0;
  /// Replaces the sink; an empty one drops what arrives.
  virtual void set_sink(ClientId client, mad::Transport::Sink sink) = 0;
  /// Ends the client and releases the SM role that it holds.
  virtual void detach(ClientId client) = 0;
  /// As mad::Transport::send.
  virtual std::expected<void, mad::TransportError> send(ClientId client, Outgoing mad) = 0;
  /// As mad::Transport::places and room.
  virtual std::size_t places(ClientId) const { return std::numeric_limits<std::size_t>::max(); }
  /// As mad::Transport::room.
  virtual std::size_t room(ClientId) const { return std::numeric_limits<std::size_t>::max(); }
  /// As mad::Transport::local, of the port as it is now.
  virtual mad::LocalPort local(ClientId client) = 0;
  /// As Transport::claim_sm.
  virtual bool claim_sm(ClientId client) = 0;
  /// Ignored where the client does not hold it.
  virtual void release_sm(ClientId client) = 0;
};

/// Attached for as long as it lives; ends before its carrier. As with libibumad, the upper 32 bits of the TID
/// of a request are replaced by the fabric, which tells the clients of a port apart by them.
class Transport final : public mad::Transport {
 public:
  /// Attaches to the port; MADs are dropped until on_receive(). `carrier` outlives it.
  Transport(Carrier& carrier, PortIndex port, Interface interface);
  ~Transport() override;

  void on_receive(Sink sink) override;
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds give_up) override;
  std::expected<mad::LocalPort, mad::TransportError> local() const override;
  std::size_t places() const override { return carrier_.places(client_); }
  std::size_t room() const override { return carrier_.room(client_); }

  /// As opening the port's issm device: the port says IsSM (trap 144) and SMInfo requests come to this
  /// transport. False: another one on this port holds it.
  bool claim_sm();
  /// As closing the issm device: the port loses IsSM (trap 144). Ignored where it is not held.
  void release_sm();

 private:
  Carrier& carrier_;
  ClientId client_;
};

}  // namespace smd::sim
