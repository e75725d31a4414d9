// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/drivers/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "mad/sim/drivers/kernel_requests.h"
#include "mad/sim/packets/traffic.h"
#include "mad/virtual_clock.h"

namespace smd::sim {
namespace {

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    for (const auto byte : bytes) value_ = (value_ ^ byte) * 0x100'0000'01B3ULL;
  }
  void add(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      value_ = (value_ ^ ((number >> shift) & 0xFFU)) * 0x100'0000'01B3ULL;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF2'9CE4'8422'2325ULL;
};

using SharedSink = std::shared_ptr<mad::Transport::Sink>;

/// The kernel's side of a client.
struct HeldRequests {
  Interface interface = Interface::smi;
  std::unique_ptr<KernelRequests> requests;
};

}  // namespace

struct World::Impl {
  asio::io_context io{1};
  mad::VirtualClock clock;
  Fabric fabric;
  std::map<ClientId, SharedSink> sinks;
  FlowControlPlaces kernel;
  std::map<ClientId, HeldRequests> kernels;  ///< none where there is no kernel
  Duration longest = std::chrono::hours(24);
  Hash hash;
  bool recording = false;
  std::vector<TraceEntry> trace;
  bool drain_posted = false;
  TimePoint armed = TimePoint::max();
  mad::Clock::TimerId timer = 0;

  Impl(const base::Fabric& description, const Options& options)
      : fabric(description, options), kernel(options.kernel) {}

  void hold_requests_of(ClientId client, Interface interface) {
    if (kernel.smi == 0) return;
    const auto send = [this, client](Outgoing mad) { fabric.send(client, std::move(mad), clock.now()); };
    const auto deliver = [this, client](mad::Received ended) {
      const auto sink = sinks.find(client);
      if (sink == sinks.end() || !*sink->second) return;
      const auto to = sink->second;
      (*to)({&ended, 1});
      follow();
    };
    kernels[client] = {interface,
                       std::make_unique<KernelRequests>(
                           clock, interface == Interface::smi ? kernel.smi : kernel.gsi, send, deliver)};
  }

  void note(ClientId client, bool sent, std::span<const std::uint8_t> bytes) {
    hash.add(static_cast<std::uint64_t>(clock.now().time_since_epoch().count()));
    hash.add((std::uint64_t{client} << 1U) | (sent ? 1U : 0U));
    hash.add(bytes);
    if (recording) trace.push_back({clock.now(), client, sent, {bytes.begin(), bytes.end()}});
  }

  /// After everything that may have moved the fabric: hand out what has arrived, wake up when it goes on.
  void follow() {
    if (!fabric.state().ready.empty() && !drain_posted) {
      drain_posted = true;
      asio::post(io, [this] { drain(); });
    }
    const auto next = fabric.next();
    if (!next || *next >= armed) return;
    clock.cancel(timer);
    armed = *next;
    timer = clock.call_at(armed, [this] {
      armed = TimePoint::max();
      fabric.advance(clock.now());
      follow();
    });
  }

  void drain() {
    drain_posted = false;
    for (const auto client : fabric.ready()) {
      auto received = fabric.take(client);
      if (const auto kept = kernels.find(client); kept != kernels.end())
        kept->second.requests->sift(received);
      for (const auto& mad : received) note(client, false, mad.bytes);
      const auto sink = sinks.find(client);
      if (sink == sinks.end()) continue;
      const auto held = sink->second;  // the sink may detach its client
      if (*held) (*held)(received);
    }
  }

  /// When the last of the links is up that train now.
  TimePoint trained() const {
    auto latest = TimePoint::min();
    for (const auto& port : fabric.state().ports) {
      if (!port.link_up()) latest = std::max(latest, port.trained_at);
    }
    return latest;
  }

  std::string who_waits(std::string_view why) const {
    auto text = fmt::format("{} at {:.6f} s:", why,
                            std::chrono::duration<double>(clock.now().time_since_epoch()).count());
    for (const auto& client : fabric.state().clients) {
      text += fmt::format(" {} sent {} received {};", port_text(fabric.state(), client.port), client.sent,
                          client.received);
    }
    return text + fmt::format(" timers {}", clock.waiting());
  }
};

World::World(const base::Fabric& description, const Options& options)
    : impl_(std::make_unique<Impl>(description, options)) {
  impl_->follow();
}

World::~World() = default;

Options World::default_options() {
  Options options;
  options.latency = {.hop = std::chrono::nanoseconds(500), .service = std::chrono::microseconds(10)};
  options.training = Training::always(std::chrono::milliseconds(1));
  options.kernel = kLinuxPlaces;
  // All tests can be run with links that train as long as those of hardware (./dev test --hardware).
  if (std::getenv("SMD_HARDWARE") != nullptr) {
    options.training = {.shortest = std::chrono::seconds(5), .longest = std::chrono::seconds(30)};
    options.waits_for_training = true;
  }
  return options;
}

asio::io_context& World::io() { return impl_->io; }
mad::Clock& World::clock() { return impl_->clock; }
Fabric& World::fabric() {
  impl_->fabric.advance(impl_->clock.now());
  return impl_->fabric;
}

std::unique_ptr<Transport> World::transport(const Place& place, Interface interface) {
  const auto port = impl_->fabric.find(place);
  if (!port) throw std::invalid_argument(fmt::format("no port {} of node {}", place.port, place.node));
  return std::make_unique<Transport>(*this, *port, interface);
}

std::unique_ptr<Transport> World::transport(Interface interface) {
  const auto port = impl_->fabric.default_port();
  if (!port) throw std::invalid_argument("a fabric without a port for a manager");
  return std::make_unique<Transport>(*this, *port, interface);
}

void World::poll() {
  impl_->follow();  // a test may have changed the fabric between two runs
  do {
    impl_->io.restart();
  } while (impl_->io.poll() != 0);
}

void World::run_until(const std::shared_ptr<bool>& done) {
  const auto last = impl_->clock.now() + impl_->longest;
  while (true) {
    poll();
    if (*done) {
      impl_->fabric.advance(impl_->clock.now());  // what a test does to it between two runs happens now
      return;
    }
    if (impl_->clock.now() > last) throw Deadlock(impl_->who_waits("no end in sight"));
    if (!impl_->clock.advance()) throw Deadlock(impl_->who_waits("nothing can happen any more"));
  }
}

void World::run_for(Duration time) {
  const auto run_to = [this](TimePoint end) {
    const auto over = std::make_shared<bool>(false);
    impl_->clock.call_at(end, [over] { *over = true; });
    run_until(over);
  };
  const auto& options = impl_->fabric.state().options;
  const auto last =
      impl_->clock.now() + time + 2 * options.training.longest;  // a cable that flaps trains for ever
  run_to(impl_->clock.now() + time);
  while (options.waits_for_training) {
    const auto trained = impl_->trained();
    if (trained <= impl_->clock.now() || trained > last) return;
    run_to(trained + time);
  }
}

void World::at(TimePoint time, std::move_only_function<void(Fabric&)> change) {
  impl_->clock.call_at(time, [this, change = std::move(change)]() mutable {
    impl_->fabric.advance(impl_->clock.now());
    change(impl_->fabric);
    impl_->follow();
  });
}

void World::limit(Duration longest) { impl_->longest = longest; }
std::uint64_t World::trace_hash() const { return impl_->hash.value(); }
void World::record_trace(bool on) { impl_->recording = on; }
const std::vector<TraceEntry>& World::trace() const { return impl_->trace; }

ClientId World::attach(PortIndex port, Interface interface, mad::Transport::Sink sink) {
  const auto client = impl_->fabric.attach(port, interface);
  impl_->sinks[client] = std::make_shared<mad::Transport::Sink>(std::move(sink));
  impl_->hold_requests_of(client, interface);
  return client;
}

void World::set_sink(ClientId client, mad::Transport::Sink sink) {
  impl_->sinks[client] = std::make_shared<mad::Transport::Sink>(std::move(sink));
}

void World::detach(ClientId client) {
  impl_->fabric.detach(client);
  impl_->sinks.erase(client);
  impl_->kernels.erase(client);
  impl_->follow();
}

std::expected<void, mad::TransportError> World::send(ClientId client, Outgoing mad) {
  impl_->note(client, true, mad.bytes);
  if (const auto kept = impl_->kernels.find(client); kept != impl_->kernels.end()) {
    kept->second.requests->send(std::move(mad));
  } else {
    impl_->fabric.send(client, std::move(mad), impl_->clock.now());
  }
  impl_->follow();
  return {};
}

std::size_t World::places(ClientId client) const {
  const auto kept = impl_->kernels.find(client);
  if (kept == impl_->kernels.end()) return std::numeric_limits<std::size_t>::max();
  return kept->second.interface == Interface::smi ? mad::kSmiPlaces : mad::kGsiPlaces;
}

std::size_t World::room(ClientId client) const {
  const auto kept = impl_->kernels.find(client);
  const auto all = places(client);
  if (kept == impl_->kernels.end()) return all;
  return all - std::min(all, kept->second.requests->outstanding());
}

mad::LocalPort World::local(ClientId client) { return impl_->fabric.local(client); }

bool World::claim_sm(ClientId client) {
  const bool claimed = impl_->fabric.claim_sm(client);
  impl_->follow();
  return claimed;
}

void World::release_sm(ClientId client) {
  impl_->fabric.release_sm(client);
  impl_->follow();
}

}  // namespace smd::sim
