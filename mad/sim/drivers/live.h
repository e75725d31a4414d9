// SPDX-License-Identifier: Apache-2.0
#pragma once
// A simulated fabric in real time: its nodes run in a thread of their own, as the devices of a fabric do.

#include <future>
#include <memory>
#include <type_traits>

#include "mad/asio.h"
#include "mad/base/fabric.h"
#include "mad/clock.h"
#include "mad/sim/drivers/transport.h"
#include "mad/sim/fabric/fabric.h"
#include "mad/sim/umad_server/server.h"

namespace smd::sim {

/// Made, used and ended on the thread of the io_context; only the nodes are elsewhere. Queues both ways are
/// bounded (kQueue): what does not fit is dropped and counted, as a full device queue does.
class Live final : public Carrier {
 public:
  static constexpr std::size_t kQueue = 16'384;

  /// Starts the thread of the nodes at once. Sinks are called on `executor`.
  Live(asio::any_io_executor executor, const base::Fabric& description, const Options& options = {});
  ~Live() override;

  /// Throws std::invalid_argument where `place` is no port.
  std::unique_ptr<Transport> transport(const Place& place, Interface interface = Interface::smi);
  /// The same at Fabric::default_port().
  std::unique_ptr<Transport> transport(Interface interface = Interface::smi);

  /// Programs outside come in by this socket. Once, and before much happens.
  void serve(std::unique_ptr<Server> server);

  /// Calls `use` with the fabric on the nodes' thread, between two MADs, and waits for it.
  template <class Use>
  auto with(Use use) {
    using Result = std::invoke_result_t<Use, Fabric&>;
    std::packaged_task<Result(Fabric&)> task(std::move(use));
    auto result = task.get_future();
    call([&task](Fabric& fabric) { task(fabric); });
    return result.get();
  }

  /// Processor time that the nodes have used.
  Duration cpu_time() const;
  std::uint64_t dropped() const;  ///< MADs dropped by full queues, both ways

  // Carrier
  ClientId attach(PortIndex port, Interface interface, mad::Transport::Sink sink) override;
  void set_sink(ClientId client, mad::Transport::Sink sink) override;
  void detach(ClientId client) override;
  std::expected<void, mad::TransportError> send(ClientId client, Outgoing mad) override;
  mad::LocalPort local(ClientId client) override;
  bool claim_sm(ClientId client) override;
  void release_sm(ClientId client) override;

 private:
  struct Impl;
  void call(std::move_only_function<void(Fabric&)> task);
  std::shared_ptr<Impl> impl_;
};

}  // namespace smd::sim
