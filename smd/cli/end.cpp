// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/end.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <utility>

#include "mad/sim/live.h"
#include "mad/sim/server.h"
#include "mad/umad/issm.h"
#include "mad/umad/transport.h"

namespace smd::cli {
namespace {

class LocalEnd final : public End {
 public:
  LocalEnd(asio::io_context& io, mad::LocalPort port, std::unique_ptr<umad::Transport> transport)
      : io_(io), port_(std::move(port)), transport_(std::move(transport)) {}

  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override {
    auto opened = transport_->open_gsi(io_);
    if (!opened) return std::unexpected(std::move(opened.error().what));
    gsi_ = std::move(*opened);
    return gsi_.get();
  }
  Guid port_guid() const override { return port_.guid; }
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
  std::unique_ptr<umad::Transport> transport_;
  std::unique_ptr<mad::Transport> gsi_;
  std::optional<umad::IsSm> is_sm_;  // given back before the transport is closed
};

class LocalPorts final : public EndSource {
 public:
  explicit LocalPorts(umad::PortSelection selection) : selection_(std::move(selection)) {}

  std::expected<std::unique_ptr<End>, std::string> open(asio::io_context& io) override {
    auto port = umad::choose_port(umad::list_ports(), selection_);
    if (!port) return std::unexpected(std::move(port.error().text));
    auto opened = umad::Transport::open(io, *port, umad::smi_classes());
    if (!opened) return std::unexpected(std::move(opened.error().what));
    // "Any port" was a question of the first time: a subnet does not move to another fabric by itself.
    if (std::holds_alternative<umad::AnyPort>(selection_)) selection_ = port->guid;
    return std::make_unique<LocalEnd>(io, *port, std::move(*opened));
  }

 private:
  umad::PortSelection selection_;
};

class SimulatedEnd final : public End {
 public:
  SimulatedEnd(std::unique_ptr<sim::Transport> smi, std::unique_ptr<sim::Transport> gsi)
      : transport_(std::move(smi)), gsi_(std::move(gsi)) {
    if (const auto local = transport_->local()) port_ = *local;
  }
  mad::Transport& smi() override { return *transport_; }
  std::expected<mad::Transport*, std::string> open_gsi() override { return gsi_.get(); }
  Guid port_guid() const override { return port_.guid; }
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

class SimulatedFabric final : public EndSource {
 public:
  SimulatedFabric(base::Fabric fabric, SimSocket socket)
      : fabric_(std::move(fabric)), socket_(std::move(socket)) {
    for (const auto& node : fabric_.nodes) {
      if (node.type == NodeType::ca) guest_ = node.name;  // the last: the SM is at the first
    }
  }

  std::expected<std::unique_ptr<End>, std::string> open(asio::io_context& io) override {
    if (!live_) {
      auto server = serve();
      if (!server) return std::unexpected(server.error());
      live_ = std::make_unique<sim::Live>(io.get_executor(), fabric_);
      if (*server) live_->serve(std::move(*server));
    }
    fabric_ = {};
    auto transport = live_->transport();
    if (!transport) return std::unexpected("the fabric has no port for an SM: no CA and no switch");
    return std::make_unique<SimulatedEnd>(std::move(transport), live_->transport(sim::Interface::gsi));
  }
  mad::Duration nodes_cpu() const override { return live_ ? live_->cpu_time() : mad::Duration{}; }
  std::string attach_hint() const override {
    if (!served_ || guest_.empty()) return {};
    return fmt::format("--socket {} --node {}", socket_.path.string(), guest_);
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

std::unique_ptr<EndSource> local_port(umad::PortSelection selection) {
  return std::make_unique<LocalPorts>(std::move(selection));
}

std::unique_ptr<EndSource> simulated(base::Fabric fabric, SimSocket socket) {
  return std::make_unique<SimulatedFabric>(std::move(fabric), std::move(socket));
}

}  // namespace smd::cli
