// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole subnet with its managers in one process and in virtual time.

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mad/asio.h"
#include "mad/base/fabric.h"
#include "mad/clock.h"
#include "mad/sim/drivers/transport.h"
#include "mad/sim/fabric/fabric.h"

namespace smd::sim {

/// Thrown by World::run when nothing can happen any more (or has not for too long): names what is waited for.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What goes into a fabric by clients and comes out to them, in the order of time.
struct TraceEntry {
  TimePoint at;
  ClientId client = 0;
  bool sent = false;  ///< by the client; else received
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};

/// Owns the io_context, the clock and the fabric of all managers and tests in it. Everything happens on the
/// thread that calls run(). Delays that make the order of things realistic are on by default.
class World final : public Carrier {
 public:
  /// With SMD_HARDWARE in the environment links train for 5 to 30 s, else for a millisecond.
  static Options default_options();

  /// As Fabric's constructor; virtual time starts with it.
  explicit World(const base::Fabric& description, const Options& options = default_options());
  ~World() override;

  asio::io_context& io();                    ///< lives as long as the World
  mad::Clock& clock();                       ///< virtual time; lives as long as the World
  Fabric& fabric();                          ///< brought to the present time first
  TimePoint now() { return clock().now(); }  ///< virtual

  /// A port for a manager: by default the first CA port that has a link.
  std::unique_ptr<Transport> transport(const Place& place, Interface interface = Interface::smi);
  /// The same at Fabric::default_port().
  std::unique_ptr<Transport> transport(Interface interface = Interface::smi);

  /// Runs the task to its end: all that is ready, then time jumps to the next timer. Throws Deadlock, and
  /// whatever the task throws.
  template <class T>
  T run(asio::awaitable<T> task) {
    // Shared: a task that was given up by a Deadlock may end in a later run.
    const auto done = std::make_shared<bool>(false);
    const auto failure = std::make_shared<std::exception_ptr>();
    if constexpr (std::is_void_v<T>) {
      asio::co_spawn(io(), std::move(task), [done, failure](std::exception_ptr error) {
        *failure = std::move(error);
        *done = true;
      });
      run_until(done);
      if (*failure) std::rethrow_exception(*failure);
    } else {
      const auto result = std::make_shared<std::optional<T>>();
      asio::co_spawn(io(), std::move(task), [done, failure, result](std::exception_ptr error, T value) {
        if (!error) result->emplace(std::move(value));
        *failure = std::move(error);
        *done = true;
      });
      run_until(done);
      if (*failure) std::rethrow_exception(*failure);
      return std::move(**result);
    }
  }
  /// Everything that happens within this much virtual time (see Options::waits_for_training).
  void run_for(Duration time);
  /// Calls `change` from the event loop when it is time (faults at times).
  void at(TimePoint time, std::move_only_function<void(Fabric&)> change);

  /// Longest virtual time that one run() may take before it counts as a deadlock. Default: a day.
  void limit(Duration longest);

  /// A hash over every MAD that clients sent and received, with its time: same seed, same trace.
  std::uint64_t trace_hash() const;
  /// From now on each MAD of a client goes into trace(), or none any more.
  void record_trace(bool on);
  /// In order of time; grows without bound while it is recorded.
  const std::vector<TraceEntry>& trace() const;

  // Carrier
  ClientId attach(PortIndex port, Interface interface, mad::Transport::Sink sink) override;
  void set_sink(ClientId client, mad::Transport::Sink sink) override;
  void detach(ClientId client) override;
  std::expected<void, mad::TransportError> send(ClientId client, Outgoing mad) override;
  std::size_t places(ClientId client) const override;
  std::size_t room(ClientId client) const override;
  mad::LocalPort local(ClientId client) override;
  bool claim_sm(ClientId client) override;
  void release_sm(ClientId client) override;

 private:
  struct Impl;
  void poll();
  void run_until(const std::shared_ptr<bool>& done);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sim
