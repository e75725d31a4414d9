// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/dispatcher.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace smd::mad {
namespace {

std::optional<std::uint8_t> class_of(const Received& received) {
  return received.bytes.size() < 2 ? std::nullopt : std::optional(received.bytes[1]);
}

/// An answer to a request of ours, or such a request that was given up.
bool is_of_our_requests(const Received& received) {
  constexpr std::size_t kMethod = 3;
  if (received.bytes.size() <= kMethod) return false;
  const auto method = static_cast<wire::Method>(received.bytes[kMethod]);
  if (method == wire::Method::report || method == wire::Method::report_resp) return false;
  return wire::is_response(method) == (received.error == 0);
}

}  // namespace

class Dispatcher::End final : public Transport {
 public:
  explicit End(Transport& gsi) : gsi_(gsi) {}

  void on_receive(Sink sink) override { sink_ = std::move(sink); }
  void on_receive_ahead(const std::shared_ptr<const Ahead>& ahead) override { gsi_.on_receive_ahead(ahead); }
  std::expected<void, TransportError> send(std::span<const std::uint8_t> mad, const Route& route,
                                           std::chrono::milliseconds give_up) override {
    return gsi_.send(mad, route, give_up);
  }
  std::expected<LocalPort, TransportError> local() const override { return gsi_.local(); }
  std::optional<TransportError> broken() const override { return gsi_.broken(); }
  std::size_t places() const override { return gsi_.places(); }
  std::size_t room() const override { return gsi_.room(); }

  bool has_receiver() const { return static_cast<bool>(sink_); }
  /// False: there is no receiver.
  bool give(std::span<Received> run) {
    if (!sink_) return false;
    sink_(run);
    return true;
  }

 private:
  Transport& gsi_;
  Sink sink_;
};

Dispatcher::Dispatcher(Transport& gsi) : gsi_(gsi) {
  gsi_.on_receive([this](std::span<Received> batch) { receive(batch); });
}

Dispatcher::~Dispatcher() {
  gsi_.on_receive_ahead(nullptr);
  gsi_.on_receive({});
}

std::expected<Transport*, TransportError> Dispatcher::add(const ClassRegistration& registration) {
  if (auto added = gsi_.add_class(registration); !added) return std::unexpected(std::move(added.error()));
  return &of(registration.mgmt_class);
}

Transport& Dispatcher::of(wire::MgmtClass mgmt_class) { return end_in(ends_, mgmt_class); }

Transport& Dispatcher::asking(wire::MgmtClass mgmt_class) { return end_in(asking_, mgmt_class); }

Transport& Dispatcher::end_in(Ends& ends, wire::MgmtClass mgmt_class) {
  auto& end = ends[std::to_underlying(mgmt_class)];
  if (!end) end = std::make_unique<End>(gsi_);
  return *end;
}

std::uint64_t Dispatcher::dropped(wire::MgmtClass mgmt_class) const {
  return dropped_[std::to_underlying(mgmt_class)];
}

std::uint64_t Dispatcher::dropped() const {
  return std::accumulate(dropped_.begin(), dropped_.end(), std::uint64_t{0});
}

/// Where what has come with a class is given.
Dispatcher::Ends& Dispatcher::ends_for(const Received& received) {
  const auto mgmt_class = class_of(received);
  if (!mgmt_class) return ends_;
  const auto& asking = asking_[*mgmt_class];
  return asking && asking->has_receiver() && is_of_our_requests(received) ? asking_ : ends_;
}

/// Most batches are of one class. Each run for one end is handed on as it is, so that the order stays.
void Dispatcher::receive(std::span<Received> batch) {
  while (!batch.empty()) {
    const auto mgmt_class = class_of(batch.front());
    auto* const ends = mgmt_class ? &ends_for(batch.front()) : nullptr;
    const auto other = std::ranges::find_if(batch, [&](const Received& received) {
      return class_of(received) != mgmt_class || (mgmt_class && &ends_for(received) != ends);
    });
    const auto run = batch.first(static_cast<std::size_t>(other - batch.begin()));
    if (!mgmt_class) {
      malformed_ += run.size();
    } else if (const auto& end = (*ends)[*mgmt_class]; !end || !end->give(run)) {
      dropped_[*mgmt_class] += run.size();
    }
    batch = batch.subspan(run.size());
  }
}

}  // namespace smd::mad
