// SPDX-License-Identifier: Apache-2.0
// The store and the stream of a pair alone: two SMs of one process, a disk and a thread each, TLS on
// loopback. bench_replica [HOSTS [SECONDS [CHANGES_A_SECOND…]]] (43904 60 10000 20000 40000): the snapshot of
// three registrations of each host, and whether the lag of the standby grows while registrations change.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mad/real_clock.h"
#include "smd/replica/replicator.h"
#include "smd/replica/tls_network.h"
#include "smd/store/store_thread.h"
#include "tests/support/replica_data.h"

namespace smd::bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr Guid kMaster{0x0001}, kStandby{0x0002};
/// A commit has what has come in so much time, as the SA's do.
constexpr auto kTick = 5ms;

Guid host(std::uint64_t number) { return Guid{0x0002'c900'0000'0000U + number}; }

double seconds_since(steady_clock::time_point began) {
  return std::chrono::duration<double>(steady_clock::now() - began).count();
}

replica::Credentials credentials() { return {.files = {}, .psk = std::vector<std::uint8_t>(32, 7)}; }

/// A thread with a disk and a replicator.
class Site {
 public:
  Site(const std::filesystem::path& folder, Guid self, std::optional<Guid> master, std::string peer)
      : self_(self),
        master_(master),
        peer_(std::move(peer)),
        disks_({.place = {.directory = folder}, .patience = 10s}, {}) {
    thread_ = std::jthread([this] { io_.run(); });
    run(open());
  }
  ~Site() {
    run(stop());
    work_.reset();
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  std::string address() const { return fmt::format("127.0.0.1:{}", network_->port()); }
  std::shared_ptr<const replica::ReplicaView> view() const { return published_->get(); }
  /// On its thread, until it is done.
  void run(asio::awaitable<void> task) {
    std::promise<void> done;
    asio::co_spawn(io_, std::move(task), [&](const std::exception_ptr&) { done.set_value(); });
    done.get_future().wait();
  }
  asio::awaitable<void> commit(sa::RegistryPtr registry) {
    co_await replicator_->commit_registry(std::move(registry));
  }

 private:
  asio::awaitable<void> open() {
    auto disk = co_await disks_.open("bench", &clock_);
    auto network = replica::TlsNetwork::open(io_.get_executor(), clock_, "127.0.0.1:0", credentials());
    if (!disk || !network) {
      fmt::print(stderr, "{}\n", !disk ? disk.error() : network.error());
      std::exit(1);
    }
    disk_ = std::move(*disk);
    network_ = std::move(*network);
    sm::SmView view;
    view.state.self.guid = self_;
    view.state.sm = master_ ? wire::SmState::standby : wire::SmState::master;
    if (master_) view.state.polled.emplace().sm.info.guid = *master_;
    sms_->set(std::make_shared<const sm::SmView>(std::move(view)));
    std::vector<std::string> peers;
    if (!peer_.empty()) peers.push_back(peer_);
    replicator_ = std::make_unique<replica::Replicator>(
        replica::ReplicatorParts{.executor = io_.get_executor(),
                                 .clock = clock_,
                                 .compute = compute_,
                                 .log = {},
                                 .disk = *disk_,
                                 .network = *network_,
                                 .sms = sms_,
                                 .replaced = [] {},
                                 .refused = [](Guid) {},
                                 .wall = [] { return std::int64_t{0}; },
                                 .published = published_},
        replica::ReplicatorOptions{.subnet = "bench", .mode = replica::Mode::async, .peers = peers});
    replicator_->start();
  }
  asio::awaitable<void> stop() { co_await replicator_->stop(); }

  Guid self_;
  std::optional<Guid> master_;
  std::string peer_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{io_.get_executor()};
  mad::RealClock clock_{io_};
  sm::PoolCompute compute_{1};
  store::StoreThread disks_;
  std::unique_ptr<store::Store> disk_;
  std::unique_ptr<replica::TlsNetwork> network_;
  std::shared_ptr<sm::PublishedSms> sms_ = std::make_shared<sm::PublishedSms>();
  std::shared_ptr<replica::PublishedReplica> published_ = std::make_shared<replica::PublishedReplica>();
  std::unique_ptr<replica::Replicator> replicator_;
  std::jthread thread_;
};

void wait_current(const Site& standby) {
  while (!standby.view() || standby.view()->role != replica::ReplicaView::Role::current)
    std::this_thread::sleep_for(1ms);
}

/// Joins and leaves of hosts in turn, at this rate.
void change(Site& master, sa::RegistryPtr& registry, std::uint64_t hosts, unsigned rate, double seconds) {
  const auto began = steady_clock::now();
  std::uint64_t done = 0;
  std::vector<double> lags;
  std::size_t commits = 0;
  auto due = began;
  while (seconds_since(began) < seconds) {
    due += kTick;
    std::this_thread::sleep_until(due);
    const auto wanted = static_cast<std::uint64_t>(rate * seconds_since(began));
    auto next = std::make_shared<sa::Registry>(*registry);
    const auto group = test::replica_group(7);
    for (; done < wanted; ++done) {
      const auto port = host(done % hosts);
      const auto joined = done / hosts % 2 != 0 ? wire::kFullMember : std::uint8_t{2};
      next->put_member({group, port}, {.join_state = joined, .joined_by = port});
    }
    registry = next;
    master.run(master.commit(registry));
    ++commits;
    const auto view = master.view();
    if (!view->standbys.empty())
      lags.push_back(std::chrono::duration<double>(view->standbys.front().lag).count());
  }
  if (lags.empty()) return fmt::print("replica/{} hosts: no standby was connected\n", hosts);
  const auto third = std::max<std::size_t>(1, lags.size() / 3);
  const auto most = [&](std::size_t first) {
    return *std::max_element(lags.begin() + static_cast<std::ptrdiff_t>(first),
                             lags.begin() + static_cast<std::ptrdiff_t>(first + third));
  };
  fmt::print(
      "replica/{} hosts: {} changes a second wanted, {:.0f} made in {} commits; lag at most {:.3f} s in the "
      "first "
      "third, {:.3f} s in the last\n",
      hosts, rate, static_cast<double>(done) / seconds_since(began), commits, most(0),
      most(lags.size() - third));
}

void measure(std::uint64_t hosts, double seconds, const std::vector<unsigned>& rates) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("smd-bench-replica-{}", getpid());
  std::filesystem::create_directories(folder / "a");
  std::filesystem::create_directories(folder / "b");
  {
    Site master(folder / "a", kMaster, std::nullopt, "");
    auto all = std::make_shared<sa::Registry>();
    for (std::uint64_t i = 0; i < hosts; ++i) test::register_all(*all, host(i));
    sa::RegistryPtr registry = all;
    auto began = steady_clock::now();
    master.run(master.commit(registry));
    fmt::print("replica/{} hosts: {} registrations on the master's disk in {:.2f} s\n", hosts, 3 * hosts,
               seconds_since(began));
    began = steady_clock::now();
    Site standby(folder / "b", kStandby, kMaster, master.address());
    wait_current(standby);
    fmt::print("replica/{} hosts: on the standby's disk {:.2f} s after its start\n", hosts,
               seconds_since(began));
    for (const auto rate : rates) change(master, registry, hosts, rate, seconds);
    wait_current(standby);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto hosts = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 43'904U;
  const auto seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 60.0;
  std::vector<unsigned> rates;
  for (int i = 3; i < argc; ++i) rates.push_back(static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)));
  if (rates.empty()) rates = {10'000, 20'000, 40'000};
  smd::bench::measure(std::max<std::uint64_t>(1, hosts), seconds, rates);
  return 0;
}
