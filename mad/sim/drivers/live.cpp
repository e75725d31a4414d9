// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/drivers/live.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

namespace smd::sim {
namespace {

using SharedSink = std::shared_ptr<mad::Transport::Sink>;

struct Send {
  ClientId client = 0;
  Outgoing mad;
};
using Call = std::move_only_function<void(Fabric&)>;
using Task = std::variant<Send, Call>;

struct Batch {
  ClientId client = 0;
  std::vector<mad::Received> mads;
};

}  // namespace

// Two locks, never held together and never while a thread works: one for what goes in, one for what comes
// out.
struct Live::Impl : std::enable_shared_from_this<Live::Impl> {
  asio::any_io_executor executor;
  Fabric fabric;  // the nodes' thread alone, once it runs

  std::mutex in_lock;
  std::condition_variable in_signal;
  std::vector<Task> in;
  bool stop = false;

  std::mutex out_lock;
  std::vector<Batch> out;
  std::size_t out_size = 0;
  bool out_posted = false;

  std::atomic<std::uint64_t> dropped = 0;
  std::unique_ptr<Server> server;  // the nodes' thread, but for wake()
  std::atomic<Server*> to_wake = nullptr;

  std::map<ClientId, SharedSink> sinks;  // the io_context's thread alone
  std::thread thread;

  Impl(asio::any_io_executor executor_, const base::Fabric& description, const Options& options)
      : executor(std::move(executor_)), fabric(description, options) {}

  void run() {
    std::vector<Task> tasks;
    while (wait(tasks)) {
      fabric.advance(real_now());
      if (server) server->receive();
      constexpr std::size_t kFlush = 64;  // answers to the first need not wait for the last
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (auto* send = std::get_if<Send>(&tasks[i])) {
          fabric.send(send->client, std::move(send->mad), real_now());
        } else {
          fabric.advance(real_now());
          std::get<Call>(tasks[i])(fabric);
        }
        if (i % kFlush == kFlush - 1) hand_out();
      }
      tasks.clear();
      hand_out();
    }
  }

  /// Waits for tasks or for the fabric's next event. False: it is over.
  bool wait(std::vector<Task>& tasks) {
    if (server) return wait_for_all(tasks);
    std::unique_lock hold(in_lock);
    const auto something = [this] { return stop || !in.empty(); };
    if (const auto next = fabric.next()) {
      in_signal.wait_until(hold, *next, something);
    } else {
      in_signal.wait(hold, something);
    }
    tasks.swap(in);
    return !stop;
  }

  /// The same where programs may say something too.
  bool wait_for_all(std::vector<Task>& tasks) {
    auto until = fabric.next();
    {
      const std::lock_guard hold(in_lock);
      if (stop || !in.empty()) until = TimePoint{};
    }
    server->wait(until);
    const std::lock_guard hold(in_lock);
    tasks.swap(in);
    return !stop;
  }

  void hand_out() {
    auto ready = fabric.ready();
    if (server) server->hand_out(ready);
    if (ready.empty()) return;
    const std::lock_guard hold(out_lock);
    for (const auto client : ready) {
      auto mads = fabric.take(client);
      if (out_size + mads.size() > kQueue) {
        const auto fits = kQueue - std::min(out_size, kQueue);
        dropped += mads.size() - fits;
        mads.resize(fits);
      }
      out_size += mads.size();
      out.push_back({client, std::move(mads)});
    }
    if (out_posted) return;
    out_posted = true;
    asio::post(executor, [self = shared_from_this()] { self->deliver(); });
  }

  void deliver() {
    std::vector<Batch> batches;
    {
      const std::lock_guard hold(out_lock);
      batches.swap(out);
      out_size = 0;
      out_posted = false;
    }
    for (auto& batch : batches) {
      const auto sink = sinks.find(batch.client);
      if (sink == sinks.end()) continue;
      const auto held = sink->second;  // the sink may detach its client
      if (*held) (*held)(batch.mads);
    }
  }

  /// False: the queue is full.
  bool push(Task task, bool always) {
    {
      const std::lock_guard hold(in_lock);
      if (!always && in.size() >= kQueue) return false;
      in.push_back(std::move(task));
      if (in.size() > 1) return true;  // the thread has been told already
    }
    tell();
    return true;
  }

  void tell() {
    if (auto* waiting = to_wake.load()) return waiting->wake();
    in_signal.notify_one();
  }
};

Live::Live(asio::any_io_executor executor, const base::Fabric& description, const Options& options)
    : impl_(std::make_shared<Impl>(std::move(executor), description, options)) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

Live::~Live() {
  {
    const std::lock_guard hold(impl_->in_lock);
    impl_->stop = true;
  }
  impl_->tell();
  impl_->thread.join();
  if (impl_->server) impl_->server->end();
  impl_->sinks.clear();  // what is still posted finds no receiver
}

std::unique_ptr<Transport> Live::transport(const Place& place, Interface interface) {
  const auto port = with([&](Fabric& fabric) { return fabric.find(place); });
  if (!port) throw std::invalid_argument(fmt::format("no port {} of node {}", place.port, place.node));
  return std::make_unique<Transport>(*this, *port, interface);
}

std::unique_ptr<Transport> Live::transport(Interface interface) {
  const auto port = with([](Fabric& fabric) { return fabric.default_port(); });
  if (!port) throw std::invalid_argument("a fabric without a port for a manager");
  return std::make_unique<Transport>(*this, *port, interface);
}

void Live::serve(std::unique_ptr<Server> server) {
  with([&](Fabric& fabric) {
    server->serve(fabric);
    impl_->to_wake = server.get();
    impl_->server = std::move(server);
  });
}

void Live::call(std::move_only_function<void(Fabric&)> task) { impl_->push(std::move(task), true); }

Duration Live::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (pthread_getcpuclockid(impl_->thread.native_handle(), &clock) != 0) return Duration{0};
  if (clock_gettime(clock, &time) != 0) return Duration{0};
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

std::uint64_t Live::dropped() const { return impl_->dropped; }

ClientId Live::attach(PortIndex port, Interface interface, mad::Transport::Sink sink) {
  const auto client = with([&](Fabric& fabric) { return fabric.attach(port, interface); });
  impl_->sinks[client] = std::make_shared<mad::Transport::Sink>(std::move(sink));
  return client;
}

void Live::set_sink(ClientId client, mad::Transport::Sink sink) {
  impl_->sinks[client] = std::make_shared<mad::Transport::Sink>(std::move(sink));
}

void Live::detach(ClientId client) {
  with([client](Fabric& fabric) { fabric.detach(client); });
  impl_->sinks.erase(client);
}

std::expected<void, mad::TransportError> Live::send(ClientId client, Outgoing mad) {
  if (!impl_->push(Send{client, std::move(mad)}, false)) ++impl_->dropped;
  return {};
}

mad::LocalPort Live::local(ClientId client) {
  return with([client](Fabric& fabric) { return fabric.local(client); });
}

bool Live::claim_sm(ClientId client) {
  return with([client](Fabric& fabric) { return fabric.claim_sm(client); });
}

void Live::release_sm(ClientId client) {
  with([client](Fabric& fabric) { fabric.release_sm(client); });
}

}  // namespace smd::sim
