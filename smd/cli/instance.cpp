// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/instance.h"

#include <fmt/format.h>

#include <cerrno>
#include <random>
#include <utility>

namespace smd::cli {

Instance::Instance(InstanceSpec spec, sm::Compute& compute, log::Log log, std::function<void()> ended)
    : spec_(std::move(spec)),
      compute_(compute),
      log_(std::move(log)),
      ended_(std::move(ended)),
      clock_(io_),
      group_(io_.get_executor()) {
  group_.spawn(work());
  thread_ = std::jthread([this] { io_.run(); });
}

Instance::~Instance() {
  asio::post(io_, [this] { asio::co_spawn(io_, group_.stop(), [](const std::exception_ptr&) {}); });
  thread_.join();
  // On this thread now: nobody else touches them any more.
  manager_.reset();
  transport_.reset();
  live_.reset();
}

asio::awaitable<void> Instance::work() {
  const bool opened = co_await open();
  if (opened) {
    if (!spec_.name.empty()) log_ = log_.with_subnet(spec_.name);
    manager_ =
        std::make_unique<sm::SubnetManager>(parts(), spec_.name, spec_.config, std::move(spec_.options));
    co_await manager_->run();
    published_.set(manager_->published());
  }
  ended_();
}

sm::ManagerParts Instance::parts() {
  return {.executor = io_.get_executor(),
          .clock = clock_,
          .smi = *transport_,
          .compute = compute_,
          .log = log_,
          .claim_sm = [this]() -> std::expected<void, std::string> {
            if (simulated_ != nullptr) {
              if (simulated_->claim_sm()) return {};
              return std::unexpected("another SM holds this port");
            }
            const auto local = transport_->local();
            if (!local) return std::unexpected(local.error().what);
            auto held = umad::IsSm::hold(*local);
            if (!held) return std::unexpected(held.error().what);
            is_sm_.emplace(std::move(*held));
            return {};
          },
          .seed = std::random_device{}()};
}

asio::awaitable<bool> Instance::open() {
  if (!spec_.fabric) co_return co_await open_port();
  live_ = std::make_unique<sim::Live>(io_.get_executor(), *spec_.fabric);
  auto simulated = live_->transport();
  simulated_ = simulated.get();
  transport_ = std::move(simulated);
  spec_.fabric.reset();
  co_return transport_ != nullptr;
}

/// Nothing here is fatal: devices appear late, cables are pulled, another program may hold the port. The
/// reason is said once each time that it changes.
asio::awaitable<bool> Instance::open_port() {
  std::string said;
  for (;;) {
    std::string reason;
    const auto port = umad::choose_port(umad::list_ports(), spec_.port);
    if (!port) reason = port.error().text;
    if (port) {
      auto opened = umad::Transport::open(io_, *port, umad::smi_classes());
      if (opened) {
        transport_ = std::move(*opened);
        if (spec_.name.empty()) spec_.name = fmt::format("{}", port->guid);
        log_.info("port.opened")
            .kv("device", port->device)
            .kv("port", port->port)
            .kv("port_guid", port->guid);
        co_return true;
      }
      reason = opened.error().what;
    }
    if (reason != said) log_.warn("port.waiting").kv("reason", reason).always();
    said = std::move(reason);
    const bool time = co_await clock_.sleep(std::chrono::seconds(1));
    if (!time) co_return false;
  }
}

}  // namespace smd::cli
