// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet of the daemon: a manager with its thread, its clock and its end of the fabric.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/base/fabric.h"
#include "mad/real_clock.h"
#include "mad/sim/live.h"
#include "mad/task_group.h"
#include "mad/umad/issm.h"
#include "mad/umad/port.h"
#include "mad/umad/transport.h"
#include "smd/compute.h"
#include "smd/log/log.h"
#include "smd/manager.h"

namespace smd::cli {

/// Which fabric, and how.
struct InstanceSpec {
  std::string name;                    ///< empty: the port GUID, once it is known
  std::optional<base::Fabric> fabric;  ///< a simulated one; else a local port
  umad::PortSelection port;
  config::SubnetConfig config;
  sm::ManagerOptions options;
};

/// Made and ended on one thread, works on one of its own.
class Instance {
 public:
  /// `ended` is called once, from the instance's thread, when there is nothing more to do.
  Instance(InstanceSpec spec, sm::Compute& compute, log::Log log, std::function<void()> ended);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  /// Ends the manager within its current step; the fabric forwards on.
  ~Instance();

  const std::string& name() const { return spec_.name; }
  /// Null before the first sweep has ended. From any thread.
  std::shared_ptr<const sm::Snapshot> published() const { return published_.get(); }
  /// Processor time of the simulated nodes; zero of a real fabric. After `ended` only.
  mad::Duration nodes_cpu() const { return live_ ? live_->cpu_time() : mad::Duration{}; }

 private:
  asio::awaitable<void> work();
  asio::awaitable<bool> open();
  asio::awaitable<bool> open_port();
  sm::ManagerParts parts();

  InstanceSpec spec_;
  sm::Compute& compute_;
  log::Log log_;
  std::function<void()> ended_;
  asio::io_context io_{1};
  mad::RealClock clock_;
  std::unique_ptr<sim::Live> live_;
  std::unique_ptr<mad::Transport> transport_;
  sim::Transport* simulated_ = nullptr;  ///< transport_, where it is one
  std::optional<umad::IsSm> is_sm_;
  std::unique_ptr<sm::SubnetManager> manager_;
  sm::Published<sm::Snapshot> published_;
  mad::TaskGroup group_;
  std::jthread thread_;
};

}  // namespace smd::cli
