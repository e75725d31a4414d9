// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnet administration without a fabric: gives the server what a test says, and keeps what it answers.

#include <cerrno>
#include <chrono>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "mad/transport.h"
#include "mad/wire/mad.h"
#include "mad/wire/sa/sa_mad.h"
#include "smd/sa/server.h"
#include "tests/support/sa_lab.h"
#include "tests/support/slow_compute.h"

namespace smd::test {

class FakeGsi final : public mad::Transport {
 public:
  void on_receive(Sink sink) override { sink_ = std::move(sink); }
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds /*give_up*/) override {
    const auto lid = std::get<mad::LidRoute>(route).lid;
    const bool by_rmpp = (mad[wire::kRmppOffset + 2] & 1U) != 0;
    if (by_rmpp && room == 0) return std::unexpected(mad::TransportError{EAGAIN, "too many"});
    if (by_rmpp) --room;
    ++answers[lid][wire::decode<wire::MadHeader>(mad)->status];
    order.push_back(lid);
    last.assign(mad.begin(), mad.end());
    return {};
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return mad::LocalPort{}; }
  void give(std::vector<mad::Received> batch) { sink_(batch); }

  std::map<Lid, std::map<std::uint16_t, unsigned>> answers;  ///< by LID and status
  std::vector<Lid> order;
  std::size_t room = std::numeric_limits<std::size_t>::max();  ///< answers by RMPP that are still taken
  std::vector<std::uint8_t> last;

 private:
  Sink sink_;
};

inline mad::Received from(Lid lid, std::vector<std::uint8_t> bytes) {
  return {.bytes = std::move(bytes), .from = {.lid = lid}, .error = 0};
}

/// A server of a lab's fabric over a FakeGsi.
class SaDesk {
 public:
  explicit SaDesk(SaLab& lab, const sa::Settings& settings = {}, store::Store* store = nullptr,
                  mad::Duration work = std::chrono::milliseconds(1), log::Log log = {})
      : lab_(lab),
        compute(lab.world().clock(), work),
        snapshot(std::make_shared<const sm::Snapshot>(lab.snapshot())),
        server(sa::ServerParts{.executor = lab.world().io().get_executor(),
                               .gsi = gsi,
                               .compute = compute,
                               .indexing = indexing_,
                               .source = [this] { return snapshot; },
                               .registry = registry,
                               .store = store,
                               .log = std::move(log),
                               .clock = lab.world().clock(),
                               .wall = [] { return std::int64_t{1}; }},
               settings) {
    server.refresh();
    lab.world().run_for(std::chrono::seconds(2));
  }
  ~SaDesk() { lab_.world().run(server.stop()); }
  SaDesk(const SaDesk&) = delete;
  SaDesk& operator=(const SaDesk&) = delete;

 private:
  SaLab& lab_;
  sm::InlineCompute indexing_;

 public:
  SlowCompute compute;
  FakeGsi gsi;
  sm::Published<sa::Registry> registry;
  std::shared_ptr<const sm::Snapshot> snapshot;
  sa::Server server;
};

}  // namespace smd::test
