// SPDX-License-Identifier: Apache-2.0
// A boot storm: all hosts of a fabric ask at once, in real time, in process. Each sends PathRecord to the SM,
// joins the broadcast group and one more, and subscribes; who is not answered within 1 s, or is told BUSY,
// sends again, with twice the time, five times at most. Meanwhile snapshots change, as sweeps of a booting
// fabric change them. bench_storm [FABRIC [SECONDS [RULES]]] (ft3:24, all offered within 1 s, no QoS policy),
// or
// ./dev bench storm.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/real_clock.h"
#include "mad/wire/sa/inform_info.h"
#include "mad/wire/sa/member_record.h"
#include "mad/wire/sa/path_record.h"
#include "routing/parallel.h"
#include "smd/decide/decide.h"
#include "smd/decide/qos_policy.h"
#include "smd/offline/offline.h"
#include "smd/sa/server.h"
#include "smd/store/store_thread.h"
#include "tests/bench/qos_rules.h"

namespace {

std::atomic<std::uint64_t> syncs{0};

}  // namespace

/// SQLite's call, counted on its way.
extern "C" int fdatasync(int file) {
  syncs.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

namespace smd::bench {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

std::shared_ptr<const sm::Snapshot> snapshot_of(const std::string& name, unsigned rules) {
  const auto fabric = *base::make_fabric(name);
  const config::SubnetConfig config;
  const routing::Serial serial;
  const auto before = sm::offline_subnet(fabric);
  auto decision = *sm::decide({.subnet = before, .config = config, .stored = {}, .parallel = serial});
  auto settled = std::make_shared<sm::Subnet>(sm::settled(before, decision.decided));
  settled->index();
  auto snapshot = std::make_shared<sm::Snapshot>();
  snapshot->subnet = settled;
  snapshot->decided = std::move(decision.decided);
  snapshot->state = wire::SmState::master;
  if (rules != 0)
    snapshot->decided.qos_policy = std::make_shared<const sm::QosPolicyPart>(
        sm::resolve_qos_policy(*settled, random_qos_policy(*settled, rules, 20), {}, nullptr));
  return snapshot;
}

std::vector<std::uint8_t> request(wire::Method method, std::uint16_t attribute, std::uint64_t mask,
                                  const auto& record) {
  std::vector<std::uint8_t> bytes(wire::kMadBytes);
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                               .class_version = wire::kSaClassVersion,
                               .method = method,
                               .attribute = attribute},
               bytes);
  wire::encode_over(wire::SaHeader{.component_mask = mask}, std::span(bytes).subspan(wire::kSaOffset));
  wire::encode_over(record, std::span(bytes).subspan(wire::kSaDataOffset));
  return bytes;
}

/// What a client wants, until it has it.
struct Request {
  std::vector<std::uint8_t> mad;
  Lid from;
  steady_clock::time_point first{}, again{};
  unsigned tries = 0;
  bool done = false;
};

/// All clients, and the wire between them and the server.
class Clients final : public mad::Transport {
 public:
  explicit Clients(const sa::Directory& directory) {
    const auto& ends = directory.end_ports();
    for (const auto& end : ends) {
      if (!end.node->is_switch()) add(directory, end, ends.front());
    }
  }

  void on_receive(Sink sink) override { sink_ = std::move(sink); }
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& /*to*/,
                                                std::chrono::milliseconds /*give_up*/) override {
    const auto header = *wire::decode<wire::MadHeader>(mad);
    if (!wire::is_response(header.method)) return {};
    auto& each = requests_[header.tid.value()];
    if (each.done) return {};
    if (header.status == wire::kStatusBusy) {
      ++busy_;
      return {};
    }
    each.done = true;
    ++done_;
    if (header.status != 0) ++refused_;
    waits_.push_back(duration<double, std::milli>(steady_clock::now() - each.first).count());
    return {};
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return mad::LocalPort{}; }

  /// Those whose turn it is, `part` (0 to 1) of them offered by now.
  void offer(double part) {
    const auto now = steady_clock::now();
    std::vector<mad::Received> batch;
    const auto until = static_cast<std::size_t>(part * static_cast<double>(requests_.size()));
    for (; offered_ < until; ++offered_) give(offered_, now, batch);
    while (open_ < offered_ && requests_[open_].done) ++open_;
    for (std::size_t i = open_; i < offered_; ++i) {
      auto& each = requests_[i];
      if (each.done || each.again > now || each.tries == kTries) continue;
      ++retried_;
      give(i, now, batch);
    }
    if (!batch.empty()) sink_(batch);
  }
  bool all_done() const { return done_ == requests_.size(); }

  void print(double seconds) {
    std::ranges::sort(waits_);
    const auto at = [&](double part) {
      return waits_.empty() ? 0
                            : waits_[static_cast<std::size_t>(part * static_cast<double>(waits_.size() - 1))];
    };
    std::printf(
        "requests=%zu done=%zu refused=%zu busy=%zu retried=%zu (%.2f %%) seconds=%.2f per_second=%.0f\n",
        requests_.size(), done_, refused_, busy_, retried_,
        100.0 * static_cast<double>(retried_) / static_cast<double>(requests_.size()), seconds,
        static_cast<double>(done_) / seconds);
    std::printf("wait_ms: median=%.2f p99=%.2f longest=%.2f\n", at(0.5), at(0.99), at(1));
  }

 private:
  static constexpr unsigned kTries = 5;

  void add(const sa::Directory& directory, const sa::EndPort& end, const sa::EndPort& sm) {
    using Path = wire::PathRecord;
    using Member = wire::McMemberRecord;
    const auto own = directory.gid_of(end);
    const auto ask = [&](std::vector<std::uint8_t> mad) {
      auto header = *wire::decode<wire::MadHeader>(mad);
      header.tid = Tid{requests_.size()};
      wire::encode(header, mad);
      requests_.push_back({.mad = std::move(mad), .from = end.lid});
    };
    ask(request(wire::Method::get, Path::kRecord,
                1U << Path::kDgid | 1U << Path::kSgid | 1U << Path::kReversible | 1U << Path::kPaths,
                Path{.dgid = directory.gid_of(sm), .sgid = own, .reversible = true, .paths = 1}));
    Member member;
    member.mgid = *base::parse_mgid("ff12:401b:ffff::ffff:ffff");
    member.port_gid = own;
    member.join_state = wire::kFullMember;
    const auto joins = 1U << Member::kMgid | 1U << Member::kPortGid | 1U << Member::kJoinState;
    ask(request(wire::Method::set, Member::kRecord, joins, member));
    member.mgid = *base::parse_mgid("ff12:401b:ffff::1");
    member.qkey = 0x0b1b;
    member.pkey = PKey{0xffff};
    ask(request(wire::Method::set, Member::kRecord,
                joins | 1U << Member::kQKey | 1U << Member::kPKey | 1U << Member::kSl |
                    1U << Member::kFlowLabel | 1U << Member::kTrafficClass,
                member));
    ask(request(wire::Method::set, wire::InformInfo::kAttribute, 0,
                wire::InformInfo{.gid = {},
                                 .lid_begin = Lid{0xFFFF},
                                 .lid_end = {},
                                 .is_generic = 1,
                                 .subscribe = 1,
                                 .type = 0xFFFF,
                                 .trap = 66,
                                 .qp = 1,
                                 .producer = 0xFFFFFF}));
  }

  void give(std::size_t index, steady_clock::time_point now, std::vector<mad::Received>& batch) {
    auto& each = requests_[index];
    if (each.tries == 0) each.first = now;
    each.again = now + 1s * (1U << each.tries);
    ++each.tries;
    batch.push_back({.bytes = each.mad, .from = {.lid = each.from}, .error = 0});
  }

  Sink sink_;
  std::vector<Request> requests_;
  std::vector<double> waits_;
  std::size_t open_ = 0;  ///< those before are done
  std::size_t offered_ = 0, done_ = 0, refused_ = 0, busy_ = 0, retried_ = 0;
};

class CountedStore final : public store::Store {
 public:
  explicit CountedStore(store::Store& to) : to_(to) {}
  sm::StoredPtr loaded() const override { return to_.loaded(); }
  asio::awaitable<bool> commit(sm::StoredPtr now) override { return to_.commit(std::move(now)); }
  sa::RegistryPtr registry() const override { return to_.registry(); }
  asio::awaitable<bool> commit_registry(sa::RegistryPtr now) override {
    ++commits;
    return to_.commit_registry(std::move(now));
  }

  std::uint64_t commits = 0;

 private:
  store::Store& to_;
};

long peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

asio::awaitable<void> storm(asio::io_context* io, std::string name, double within, unsigned rules) {
  auto snapshot = snapshot_of(name, rules);
  mad::RealClock clock(*io);
  sm::PoolCompute answering(1, sm::PoolCompute::Priority::same), indexing(0);
  const auto folder = std::filesystem::temp_directory_path() / ("smd-storm-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  {
    store::StoreThread stores({.place = {.directory = folder}}, {});
    auto store = co_await stores.open("storm");
    CountedStore counted(**store);
    Clients clients{sa::Directory(snapshot)};
    sm::Published<sa::Registry> registry;
    sa::Server server(sa::ServerParts{.executor = io->get_executor(),
                                      .gsi = clients,
                                      .compute = answering,
                                      .indexing = indexing,
                                      .source = [&] { return snapshot; },
                                      .registry = registry,
                                      .store = &counted,
                                      .log = {},
                                      .clock = clock,
                                      .wall = [] { return std::int64_t{1}; }},
                      {.queue = 65536});
    server.refresh();
    co_await clock.sleep(1s);
    const auto idle = peak_kb();
    const auto synced = syncs.load();
    const auto committed = counted.commits;
    const auto began = steady_clock::now();
    const auto passed = [&] { return duration<double>(steady_clock::now() - began).count(); };
    auto sweep = began;
    while (!clients.all_done() && passed() < 60) {
      clients.offer(std::min(1.0, passed() / within));
      if (steady_clock::now() - sweep > 200ms) {
        sweep = steady_clock::now();
        auto next = std::make_shared<sm::Snapshot>(*snapshot);
        auto subnet = std::make_shared<sm::Subnet>(*snapshot->subnet);
        subnet->index();  // an own copy: the directory is computed again
        next->subnet = std::move(subnet);
        snapshot = std::move(next);
        server.refresh();
      }
      co_await clock.sleep(1ms);
    }
    const auto seconds = passed();
    std::printf("%s, %u rules: ", name.c_str(), rules);
    clients.print(seconds);
    std::printf("store: commits=%llu fdatasync=%llu\n",
                static_cast<unsigned long long>(counted.commits - committed),
                static_cast<unsigned long long>(syncs.load() - synced));
    std::printf("memory: %.0f MB above idle\n", static_cast<double>(peak_kb() - idle) / 1024);
    co_await server.stop();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  boost::asio::io_context io;
  const std::string fabric = argc > 1 ? argv[1] : "ft3:24";
  const double within = argc > 2 ? std::atof(argv[2]) : 1;
  const auto rules = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0U;
  boost::asio::co_spawn(io, smd::bench::storm(&io, fabric, within, rules),
                        [](const std::exception_ptr& error) {
                          if (error) std::rethrow_exception(error);
                        });
  io.run();
  return 0;
}
