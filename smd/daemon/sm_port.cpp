// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/sm_port.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mad/sim/drivers/live.h"
#include "mad/sim/umad_server/server.h"
#include "mad/umad/issm.h"
#include "mad/umad/transport.h"

namespace smd::daemon {
namespace {

/// For the ports of this machine to be read, before the caller's loop goes on without them.
constexpr auto kListing = std::chrono::milliseconds(200);

/// Where its subnet administration is; our own port's is no other SM's.
mad::LidRoute sm_of(const mad::LocalPort& port) {
  const bool other = port.link_up && port.lid != Lid{} && port.sm_lid != port.lid;
  return {.lid = other ? port.sm_lid : Lid{}, .sl = port.sm_sl, .qp = 1, .qkey = mad::kQp1QKey};
}

class LocalSmPort final : public SmPort {
 public:
  /// `gsi_ports`: where the GSI is if the port has none.
  LocalSmPort(asio::io_context& io, mad::LocalPort port, std::unique_ptr<umad::Transport> transport,
              std::vector<mad::LocalPort> gsi_ports)
      : io_(io), port_(std::move(port)), gsi_ports_(std::move(gsi_ports)), transport_(std::move(transport)) {}

  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override {
    auto opened = transport_->open_gsi(io_);
    for (const auto& other : gsi_ports_) {
      if (opened || opened.error().error != EPROTONOSUPPORT) break;
      auto of_other = umad::Transport::open(io_, other, umad::gsi_classes());
      if (of_other) opened = std::move(*of_other);
    }
    if (!opened) return std::unexpected(std::move(opened.error().what));
    gsi_ = std::move(*opened);
    return gsi_.get();
  }
  Guid port_guid() const override { return port_.guid; }
  mad::LidRoute sm_then() const override { return sm_of(port_); }
  std::string port_name() const override { return fmt::format("{}:{}", port_.device, port_.port); }

  std::expected<void, std::string> claim_sm() override {
    auto held = umad::IsSm::hold(port_);
    if (!held) return std::unexpected(std::move(held.error().what));
    is_sm_.emplace(std::move(*held));
    return {};
  }

  /// A device that was unplugged and is back under the same name is another one to the kernel, and so is
  /// one with another GUID to us.
  Health look() override {
    if (const auto broken = transport_->broken()) return {.lost = true, .reason = broken->what};
    if (auto stalled = transport_->stalled()) return {.reason = std::move(*stalled), .what = "device"};
    const auto now = transport_->local();
    if (!now) return {.lost = true, .reason = now.error().what};
    if (now->guid != port_.guid) {
      return {.lost = true,
              .reason = fmt::format("{} has another GUID now: {} instead of {}", port_name(), now->guid,
                                    port_.guid)};
    }
    if (!now->link_up) return {.reason = fmt::format("port {} has no link", port_name())};
    return {};
  }

 private:
  asio::io_context& io_;
  mad::LocalPort port_;
  std::vector<mad::LocalPort> gsi_ports_;
  std::unique_ptr<umad::Transport> transport_;
  std::unique_ptr<mad::Transport> gsi_;
  std::optional<umad::IsSm> is_sm_;  // given back before the transport is closed
};

class LocalPorts final : public SmPortSource {
 public:
  explicit LocalPorts(umad::PortSelection selection) : selection_(std::move(selection)) {}

  std::expected<std::unique_ptr<SmPort>, std::string> open(asio::io_context& io) override {
    if (!listing_.valid()) listing_ = umad::begin_list_ports();
    if (listing_.wait_for(kListing) != std::future_status::ready)
      return std::unexpected("a device does not answer: sysfs cannot be read (firmware or driver hangs)");
    const auto ports = listing_.get();
    // "Any port" was a question of the first time: a subnet does not move to another fabric by itself.
    const bool same = taken_ && std::holds_alternative<umad::AnyPort>(selection_);
    auto usable = umad::usable_ports(ports, same ? umad::PortSelection(*taken_) : selection_);
    if (!usable) return std::unexpected(std::move(usable.error().text));
    without_smi_.clear();
    if (!same) candidates_ = usable->size();
    for (auto& port : *usable) {
      const auto silent = silent_.find(name_of(port));
      if (silent != silent_.end()) {
        note(silent->second);
        continue;
      }
      auto opened = umad::Transport::open(io, port, umad::smi_classes());
      if (opened) return end_of(io, port, std::move(*opened), ports);
      if (opened.error().error != EPROTONOSUPPORT) return std::unexpected(std::move(opened.error().what));
      note(opened.error().what);
    }
    silent_.clear();  // one of them may answer later
    return std::unexpected("no_smi: " + without_smi_);
  }
  bool pass_over(const std::string& reason) override {
    if (candidates_ < 2 || !taken_) return false;
    silent_.insert_or_assign(taken_name_,
                             fmt::format("port {} does not answer SMPs ({})", taken_name_, reason));
    taken_.reset();
    return true;
  }
  std::string passed_over() const override { return without_smi_; }

 private:
  std::unique_ptr<SmPort> end_of(asio::io_context& io, const mad::LocalPort& port,
                                 std::unique_ptr<umad::Transport> transport,
                                 std::span<const umad::PortEntry> ports) {
    transport->watch_port();
    taken_ = port.guid;
    taken_name_ = name_of(port);
    return std::make_unique<LocalSmPort>(io, port, std::move(transport), umad::gsi_ports_of(port, ports));
  }
  static std::string name_of(const mad::LocalPort& port) {
    return fmt::format("{}:{}", port.device, port.port);
  }
  void note(const std::string& reason) { without_smi_ += (without_smi_.empty() ? "" : "; ") + reason; }

  umad::PortSelection selection_;
  std::optional<Guid> taken_;   ///< the port that was opened last
  std::size_t candidates_ = 0;  ///< usable ports when it was taken
  std::string taken_name_, without_smi_;
  std::map<std::string, std::string> silent_;          ///< ports that do not answer SMPs, and why it is said
  std::future<std::vector<umad::PortEntry>> listing_;  ///< under way
};

class SimulatedSmPort final : public SmPort {
 public:
  SimulatedSmPort(std::unique_ptr<sim::Transport> smi, std::unique_ptr<sim::Transport> gsi)
      : transport_(std::move(smi)), gsi_(std::move(gsi)) {
    if (const auto local = transport_->local()) port_ = *local;
  }
  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override { return gsi_.get(); }
  Guid port_guid() const override { return port_.guid; }
  mad::LidRoute sm_then() const override { return sm_of(port_); }
  std::string port_name() const override { return fmt::format("{} port {}", port_.device, port_.port); }
  std::expected<void, std::string> claim_sm() override {
    if (transport_->claim_sm()) return {};
    return std::unexpected("another SM holds this port");
  }
  Health look() override {
    const auto now = transport_->local();
    if (now && !now->link_up) return {.reason = fmt::format("port {} has no link", port_name())};
    return {};
  }

 private:
  std::unique_ptr<sim::Transport> transport_, gsi_;
  mad::LocalPort port_;
};

class SimulatedFabric final : public SmPortSource {
 public:
  SimulatedFabric(base::Fabric fabric, SimSocket socket)
      : fabric_(std::move(fabric)), socket_(std::move(socket)) {
    std::map<std::string_view, int> named;  // aggregation nodes have all one name
    for (const auto& node : fabric_.nodes) ++named[node.name];
    for (const auto& node : fabric_.nodes) {
      const bool meant = node.type == NodeType::ca && named[node.name] == 1;
      if (meant) guest_ = node.name;  // the last: the SM is at the first
    }
  }

  std::expected<std::unique_ptr<SmPort>, std::string> open(asio::io_context& io) override {
    if (!live_) {
      auto server = serve();
      if (!server) return std::unexpected(server.error());
      live_ = std::make_unique<sim::Live>(io.get_executor(), fabric_);
      if (*server) live_->serve(std::move(*server));
    }
    fabric_ = {};
    auto transport = live_->transport();
    if (!transport) return std::unexpected("the fabric has no port for an SM: no CA and no switch");
    return std::make_unique<SimulatedSmPort>(std::move(transport), live_->transport(sim::Interface::gsi));
  }
  mad::Duration nodes_cpu() const override { return live_ ? live_->cpu_time() : mad::Duration{}; }
  std::string attach_hint() const override {
    if (!served_ || guest_.empty()) return {};
    const auto* const quote = guest_.find(' ') != std::string::npos ? "'" : "";
    return fmt::format("--socket {} --node {}{}{}", socket_.path.string(), quote, guest_, quote);
  }

 private:
  /// Nothing where it is not served.
  std::expected<std::unique_ptr<sim::Server>, std::string> serve() {
    if (socket_.path.empty()) return nullptr;
    auto server = sim::Server::at(socket_.path);
    if (!server && socket_.must) return std::unexpected(server.error());
    served_ = server.has_value();
    return served_ ? std::move(*server) : nullptr;
  }

  base::Fabric fabric_;
  SimSocket socket_;
  std::atomic<bool> served_ = false;
  std::string guest_;
  std::unique_ptr<sim::Live> live_;
};

}  // namespace

std::unique_ptr<SmPortSource> local_port(umad::PortSelection selection) {
  return std::make_unique<LocalPorts>(std::move(selection));
}

std::unique_ptr<SmPortSource> simulated(base::Fabric fabric, SimSocket socket) {
  return std::make_unique<SimulatedFabric>(std::move(fabric), std::move(socket));
}

}  // namespace smd::daemon
