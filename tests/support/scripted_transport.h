// SPDX-License-Identifier: Apache-2.0
#pragma once
// A transport whose far end is a function of the test: for each MAD sent it says which answers come when.

#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "mad/transport.h"
#include "mad/wire/smp.h"

namespace smd::mad {

class ScriptedTransport final : public Transport {
 public:
  struct Sent {
    TimePoint at;
    wire::Smp mad;
    Route route;
    std::chrono::milliseconds give_up{};
  };
  struct Reply {
    Duration after{};
    std::vector<std::uint8_t> bytes{};
    int error = 0;
  };
  using Script = std::function<std::vector<Reply>(const Sent&)>;

  explicit ScriptedTransport(Clock& clock) : clock_(clock) {}

  /// A good answer, later.
  static Reply answer(const Sent& sent, Duration after, std::uint16_t status = 0) {
    const auto reply = sent.mad.response(status);
    return {.after = after, .bytes = {reply.bytes().begin(), reply.bytes().end()}};
  }

  void deliver(std::vector<std::uint8_t> bytes, int error = 0) {
    Received received{.bytes = std::move(bytes), .from = {}, .error = error};
    if (sink) sink({&received, 1});
  }

  void on_receive(Sink receiver) override { sink = std::move(receiver); }
  std::expected<void, TransportError> send(std::span<const std::uint8_t> mad, const Route& route,
                                           std::chrono::milliseconds give_up) override {
    if (send_error != 0) return std::unexpected(TransportError{send_error, "send"});
    sent.push_back({clock_.now(), wire::Smp::from_bytes(mad).value_or(wire::Smp{}), route, give_up});
    if (!script) return {};
    for (auto& reply : script(sent.back())) {
      clock_.call_at(clock_.now() + reply.after,
                     [this, bytes = std::move(reply.bytes), error = reply.error]() mutable {
                       deliver(std::move(bytes), error);
                     });
    }
    return {};
  }
  std::expected<LocalPort, TransportError> local() const override { return LocalPort{}; }
  std::size_t room() const override { return free_room; }

  Script script;
  Sink sink;
  std::vector<Sent> sent;
  int send_error = 0;
  std::size_t free_room = 1'000'000;

 private:
  Clock& clock_;
};

using Sent = ScriptedTransport::Sent;
using Reply = ScriptedTransport::Reply;

}  // namespace smd::mad
