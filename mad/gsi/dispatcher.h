// SPDX-License-Identifier: Apache-2.0
#pragma once
// One GSI, shared by management classes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>

#include "mad/transport.h"
#include "mad/wire/mad.h"

namespace smd::mad {

/// Distributes what arrives at a GSI by management class. Each class has an end of its own, a Transport, over
/// which a server takes requests (SA) or a Transactions sends them (PM); classes do not see each other's
/// MADs, so that each may number its transactions as it likes. All ends share the places of the GSI. MADs of
/// classes without a receiver are dropped and counted. On the io_context's thread; the GSI outlives it.
class Dispatcher {
 public:
  /// Becomes the receiver of `gsi`, in place of any earlier one.
  explicit Dispatcher(Transport& gsi);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();

  /// Registers the class with the GSI where it is not yet, and gives its end (of()). The error says why a
  /// real device refuses: mostly that another process has its methods.
  std::expected<Transport*, TransportError> add(const ClassRegistration& registration);
  /// The end of a class that is registered, made by the first call; it lives as long as the Dispatcher. Its
  /// on_receive() registers the receiver of the class: answers, requests, and sends of the class that the GSI
  /// gave up. The Ahead of on_receive_ahead() sees the batches of all classes and must leave the MADs of
  /// others; one end may set it.
  Transport& of(wire::MgmtClass mgmt_class);
  /// A second end of a class that we serve too, for requests of our own to another server of it: its
  /// on_receive() registers the receiver of answers and of own requests that the GSI gave up, which the end
  /// of of() does not see from then on. ReportResp, which answers what a server sends, stays there.
  Transport& asking(wire::MgmtClass mgmt_class);

  /// MADs of the class that arrived while it had no receiver.
  std::uint64_t dropped(wire::MgmtClass mgmt_class) const;
  /// The same of all classes.
  std::uint64_t dropped() const;
  /// Arrived without a class: shorter than two bytes.
  std::uint64_t malformed() const { return malformed_; }

 private:
  class End;
  static constexpr std::size_t kClasses = 256;
  using Ends = std::array<std::unique_ptr<End>, kClasses>;
  void receive(std::span<Received> batch);
  Ends& ends_for(const Received& received);
  Transport& end_in(Ends& ends, wire::MgmtClass mgmt_class);

  Transport& gsi_;
  Ends ends_;
  Ends asking_;
  std::array<std::uint64_t, kClasses> dropped_{};
  std::uint64_t malformed_ = 0;
};

}  // namespace smd::mad
