// SPDX-License-Identifier: Apache-2.0
// umad_probe [WINDOW [REQUESTS]]: asks the local node and its neighbour who they are, through the real
// libibumad, then asks the neighbour so many times with so many on the way. For tests and measurements.
// umad_probe held SECONDS: its io_context does nothing, and SMPs that were received wait for it; all that
// comes to the SA is answered ahead of that, with what came.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mad/real_clock.h"
#include "mad/transactions/ask.h"
#include "mad/umad/issm.h"
#include "mad/umad/port.h"
#include "mad/umad/transport.h"
#include "mad/wire/attributes.h"
#include "mad/wire/smp.h"

namespace smd {
namespace {

using Clock = std::chrono::steady_clock;

struct Probe {
  mad::Transactions* tx = nullptr;
  std::size_t left = 0, under_way = 0, answered = 0, failed = 0;
  asio::io_context* io = nullptr;

  void next() {
    if (left == 0) {
      if (under_way == 0) io->stop();
      return;
    }
    --left;
    ++under_way;
    const auto path = *mad::DirectedPath{}.then(PortNum{1});
    tx->submit(mad::get_request<wire::NodeInfo>({.route = path, .node = Guid{1}, .m_key = 0}),
               [this](mad::Answer answer) {
                 --under_way;
                 ++(answer ? answered : failed);
                 if (!answer && failed < 5) fmt::print("{}\n", to_string(answer.error()));
                 next();
               });
  }
};

asio::awaitable<void> introduce(mad::Transactions* tx, asio::io_context* io, bool* good) {
  for (const auto& path : {mad::DirectedPath{}, *mad::DirectedPath{}.then(PortNum{1})}) {
    const mad::Target target{.route = path, .node = {}, .m_key = 0};
    const auto info = co_await mad::get<wire::NodeInfo>(*tx, target);
    const auto name = co_await mad::get<wire::NodeDescription>(*tx, target);
    if (!info || !name) {
      fmt::print("{}\n", to_string(info ? name.error() : info.error()));
      *good = false;
      break;
    }
    fmt::print("hops={} guid={} ports={} name={}\n", path.hops(), info->node, info->num_ports, name->text);
  }
  io->stop();
}

int flood(mad::Transactions& tx, asio::io_context& io, std::size_t window, std::size_t requests) {
  Probe probe{.tx = &tx, .left = requests, .io = &io};
  const auto start = Clock::now();
  for (std::size_t i = 0; i < window; ++i) probe.next();
  io.restart();
  io.run();
  const std::chrono::duration<double> seconds = Clock::now() - start;
  const auto counters = tx.counters();
  using C = mad::AttributeCounters;
  fmt::print(
      "window={} requests={} answered={} seconds={:.3f} smps_a_second={:.0f} timeouts={} retries={} "
      "late={} duplicate={} send_failed={}\n",
      window, requests, probe.answered, seconds.count(), static_cast<double>(requests) / seconds.count(),
      counters.total(&C::timeouts), counters.total(&C::retries), counters.total(&C::late),
      counters.total(&C::duplicate), counters.send_failed);
  return probe.failed == 0 ? 0 : 1;
}

int held(umad::Transport& smi, asio::io_context& io, std::chrono::seconds seconds) {
  auto gsi = smi.open_gsi(io);
  if (!gsi) {
    fmt::print("{}\n", gsi.error().what);
    return 1;
  }
  std::atomic<std::size_t> echoed{0};
  (*gsi)->on_receive_ahead(std::make_shared<const mad::Transport::Ahead>(
      [&echoed](std::vector<mad::Received>& batch, const mad::Transport::Reply& reply) {
        std::erase_if(batch, [&](mad::Received& mad) {
          if (mad.bytes.size() < wire::kMadBytes || mad.bytes[1] != 3) return false;
          mad.bytes[3] |= 0x80;  // the response bit of the method
          mad::LidRoute back = mad.from;
          back.qkey = 0x80010000;
          ++echoed;
          return reply(mad.bytes, back);
        });
      }));
  // More batches than an emulated port leaves to the io_context.
  for (std::uint8_t tid = 1; tid <= 3; ++tid) {
    auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, mad::DirectedPath{});
    smp.bytes()[15] = tid;
    if (!smi.send(smp.bytes(), mad::DirectedPath{}, std::chrono::seconds(1))) return 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  fmt::print("held\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(seconds);
  fmt::print("echoed={}\n", echoed.load());
  return 0;
}

int run(std::size_t window, std::size_t requests, std::optional<std::chrono::seconds> seconds_held) {
  asio::io_context io;
  mad::RealClock clock(io);
  const auto port = umad::choose_port(umad::list_ports(), umad::AnyPort{});
  if (!port) {
    fmt::print("{}\n", port.error().text);
    return 1;
  }
  fmt::print("port={}:{} guid={} lid={}\n", port->device, port->port, port->guid, port->lid);
  auto smi = umad::Transport::open(io, *port, umad::smi_classes());
  if (!smi) {
    fmt::print("{}\n", smi.error().what);
    return 1;
  }
  const auto issm = umad::IsSm::hold(*port);
  if (!issm) fmt::print("{}\n", issm.error().what);
  if (seconds_held) return held(**smi, io, *seconds_held);
  const auto places = static_cast<std::uint32_t>(window);
  mad::Transactions tx(io.get_executor(), clock, **smi, {.max_outstanding = places, .per_node = places}, 1);
  bool good = true;
  asio::co_spawn(io, introduce(&tx, &io, &good), [](const std::exception_ptr&) {});
  const auto guard = asio::make_work_guard(io);
  io.run();
  if (!good) return 1;
  return requests == 0 ? 0 : flood(tx, io, window, requests);
}

}  // namespace
}  // namespace smd

int main(int count, char** words) {
  const auto number = [&](int index, std::size_t otherwise) {
    return count > index ? static_cast<std::size_t>(std::atoll(words[index])) : otherwise;
  };
  try {
    if (count == 3 && std::string_view(words[1]) == "held") {
      return smd::run(0, 0, std::chrono::seconds(std::atoi(words[2])));
    }
    return smd::run(number(1, 64), number(2, 0), std::nullopt);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
