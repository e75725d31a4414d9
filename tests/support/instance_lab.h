// SPDX-License-Identifier: Apache-2.0
#pragma once
// An instance of the daemon on a device that a test takes away and gives back, in real time (the fabric is a
// small one).

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/sim/drivers/live.h"
#include "mad/task_group.h"
#include "smd/daemon/instance.h"
#include "tests/support/store_lab.h"

namespace smd::daemon {

/// What the test does to the device, and what the instance has logged.
struct Device {
  std::mutex lock;
  std::condition_variable changed;
  std::string missing = "no InfiniBand device on this machine";  ///< empty: it is there
  std::string taken;                                             ///< by another SM
  std::string no_link;
  bool pulled = false;          ///< the cable of the SM's own port
  bool traps_are_lost = false;  ///< none is sent a second time
  std::string stalled;          ///< its firmware
  std::string no_gsi;
  unsigned gsi_opened = 0;
  bool lost = false;
  unsigned opened = 0;
  std::vector<std::string> lines;

  template <class Change>
  void set(Change change) {
    const std::scoped_lock hold(lock);
    change(*this);
  }
  template <class Until>
  bool wait(Until until) {
    std::unique_lock hold(lock);
    return changed.wait_for(hold, std::chrono::seconds(20), [&] { return until(*this); });
  }
  std::size_t count(std::string_view what) {
    const std::scoped_lock hold(lock);
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return line.find(what) != std::string::npos; }));
  }
};

class TestEnd final : public SmPort {
 public:
  TestEnd(Device& device, sim::Live& live)
      : device_(device),
        live_(live),
        transport_(live.transport()),
        gsi_(live.transport(sim::Interface::gsi)) {}
  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.no_gsi.empty()) return std::unexpected(device_.no_gsi);
    ++device_.gsi_opened;
    return gsi_.get();
  }
  Guid port_guid() const override { return Guid{0x99}; }
  mad::LidRoute sm_then() const override { return {}; }
  std::string port_name() const override { return "test_0:1"; }
  std::expected<void, std::string> claim_sm() override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.taken.empty()) return std::unexpected(device_.taken);
    return {};
  }
  Health look() override {
    const std::scoped_lock hold(device_.lock);
    if (device_.lost) return {.lost = true, .reason = "test_0:1 is gone"};
    if (!device_.stalled.empty()) return {.reason = device_.stalled, .what = "device"};
    if (device_.pulled != pulled_) pull(device_.pulled);
    return {.reason = pulled_ ? "pulled" : device_.no_link};
  }

 private:
  void pull(bool out) {
    pulled_ = out;
    live_.with([out](sim::Fabric& fabric) {
      const sim::Place own{fabric.state().node_of(*fabric.default_port()).name, PortNum{1}};
      return out ? fabric.faults().link_down(own) : fabric.faults().link_up(own);
    });
  }
  Device& device_;
  sim::Live& live_;
  bool pulled_ = false;
  std::unique_ptr<sim::Transport> transport_, gsi_;
};

class TestSource final : public SmPortSource {
 public:
  explicit TestSource(Device& device) : device_(device) {}
  std::expected<std::unique_ptr<SmPort>, std::string> open(asio::io_context& io) override {
    const std::scoped_lock hold(device_.lock);
    if (!device_.missing.empty()) return std::unexpected(device_.missing);
    sim::Options options;
    if (device_.traps_are_lost) options.trap_gap = std::chrono::hours(1);
    if (!live_) live_ = std::make_unique<sim::Live>(io.get_executor(), *base::make_fabric("ft2:4"), options);
    device_.lost = false;
    ++device_.opened;
    device_.changed.notify_all();
    return std::make_unique<TestEnd>(device_, *live_);
  }

 private:
  Device& device_;
  std::unique_ptr<sim::Live> live_;
};

class AnInstance : public testing::Test {
 protected:
  explicit AnInstance(config::HaConfig ha = {},
                      std::chrono::milliseconds interval = std::chrono::milliseconds(100),
                      const std::string& name = {}, store::StoreThread* stores = nullptr) {
    InstanceSpec spec;
    spec.name = name;
    spec.config.ha = std::move(ha);
    spec.where = "any port";
    spec.ends = std::make_unique<TestSource>(device_);
    spec.config.sweep.interval = interval;
    const auto output = [this](const log::Record&, std::string_view line) {
      const std::scoped_lock hold(device_.lock);
      device_.lines.emplace_back(line);
      device_.changed.notify_all();
    };
    instance_ =
        std::make_unique<Instance>(std::move(spec), compute_, stores, log::Log({}, output, log::real_times()),
                                   InstanceEvents{.ring = ring_, .members = members_}, [] {});
  }
  bool logged(std::string_view what, std::size_t times = 1) {
    return device_.wait([&](Device& device) {
      return static_cast<std::size_t>(std::ranges::count_if(device.lines, [&](const auto& line) {
               return line.find(what) != std::string::npos;
             })) >= times;
    });
  }
  /// The view follows the log line.
  template <class Until>
  bool shows(Until until) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!until(*instance_->view())) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool waits_for(const std::string& reason) {
    return shows(
        [&](const api::SubnetView& view) { return (view.waiting ? view.waiting->reason : "") == reason; });
  }

  Device device_;
  sm::PoolCompute compute_{1};
  events::EventRing ring_{log::real_times()};
  sm::Memberships members_;
  std::unique_ptr<Instance> instance_;
};

inline asio::awaitable<void> keep_a_token(store::StoreThread* stores, std::string subnet) {
  auto opened = co_await stores->open(std::move(subnet));
  if (!opened) co_return;
  auto policies = std::make_shared<policy::Policies>();
  policies->tokens["mon"] = {.role = access::Role::admin, .hash = access::hash_of("smd_0")};
  co_await (*opened)->commit_policies(std::move(policies));
}

/// A state directory with a token of subnet "east".
class StateWithToken {
 protected:
  StateWithToken() {
    mad::TaskGroup group(io_.get_executor());
    group.spawn(keep_a_token(&stores_, "east"));
    io_.run();
  }
  asio::io_context io_{1};  ///< longer than the thread, which posts to it
  test::TemporaryFolder folder_;
  test::KeptLines kept_lines_;
  store::StoreThread stores_{{.place = {folder_.path()}}, kept_lines_.log};
};

/// The state first: it is there longer than the instance.
class AnInstanceWithAName : protected StateWithToken, public AnInstance {
 protected:
  AnInstanceWithAName() : AnInstance({}, std::chrono::milliseconds(100), "east", &stores_) {}
};

}  // namespace smd::daemon
