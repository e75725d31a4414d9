// SPDX-License-Identifier: Apache-2.0
// Subnet administration in process: from a request's bytes to the answer's. bench_sa [--benchmark_filter=…],
// or
// ./dev bench sa. SMD_FABRIC names another fabric than ft3:56, SMD_LMC an LMC.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "routing/parallel.h"
#include "smd/decide/decide.h"
#include "smd/decide/qos_policy.h"
#include "smd/offline/offline.h"
#include "smd/sa/answer.h"
#include "smd/sa/record_kind.h"
#include "tests/bench/qos_rules.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace smd::bench {
namespace {

/// A fabric that is as it should be, without the way there.
std::shared_ptr<const sm::Snapshot> snapshot() {
  static const auto made = [] {
    const auto* name = std::getenv("SMD_FABRIC");
    const auto fabric = *base::make_fabric(name != nullptr ? name : "ft3:56");
    config::SubnetConfig config;
    const auto* lmc = std::getenv("SMD_LMC");
    config.lids.lmc = static_cast<std::uint8_t>(lmc != nullptr ? std::atoi(lmc) : 0);
    const routing::Serial serial;
    const auto before = sm::offline_subnet(fabric);
    auto decision = *sm::decide({.subnet = before, .config = config, .stored = {}, .parallel = serial});
    auto settled = std::make_shared<sm::Subnet>(sm::settled(before, decision.decided));
    settled->index();
    auto snapshot = std::make_shared<sm::Snapshot>();
    snapshot->subnet = settled;
    snapshot->decided = std::move(decision.decided);
    snapshot->state = wire::SmState::master;
    return std::shared_ptr<const sm::Snapshot>(snapshot);
  }();
  return made;
}

std::vector<std::uint8_t> question(wire::Method method, std::uint16_t attribute, std::uint64_t mask) {
  std::vector<std::uint8_t> bytes(wire::kMadBytes);
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                               .class_version = wire::kSaClassVersion,
                               .method = method,
                               .attribute = attribute},
               bytes);
  wire::encode_over(wire::SaHeader{.component_mask = mask}, std::span(bytes).subspan(wire::kSaOffset));
  return bytes;
}

/// Between random pairs of hosts, by GIDs, as the kernel asks.
std::vector<std::vector<std::uint8_t>> path_questions(const sa::Directory& directory) {
  using Path = wire::PathRecord;
  std::vector<const sa::EndPort*> hosts;
  for (const auto& port : directory.end_ports()) {
    if (!port.node->is_switch()) hosts.push_back(&port);
  }
  std::mt19937_64 random(1);
  std::vector<std::vector<std::uint8_t>> all;
  for (unsigned i = 0; i < 100'000; ++i) {
    const Path path{.dgid = directory.gid_of(*hosts[random() % hosts.size()]),
                    .sgid = directory.gid_of(*hosts[random() % hosts.size()]),
                    .reversible = true,
                    .paths = 1,
                    .pkey = PKey{0xFFFF}};
    auto bytes = question(wire::Method::get, Path::kRecord,
                          1U << Path::kDgid | 1U << Path::kSgid | 1U << Path::kReversible |
                              1U << Path::kPaths | 1U << Path::kPKey);
    wire::encode_over(path, std::span(bytes).subspan(wire::kSaDataOffset));
    all.push_back(std::move(bytes));
  }
  return all;
}

std::shared_ptr<const sm::Snapshot> snapshot_with_rules(unsigned rules) {
  auto with = std::make_shared<sm::Snapshot>(*snapshot());
  with->decided.qos_policy = std::make_shared<const sm::QosPolicyPart>(
      sm::resolve_qos_policy(*with->subnet, random_qos_policy(*with->subnet, rules, 20), {}, nullptr));
  return with;
}

/// 1,000 rules and 100 groups for the fabric.
void qos_resolve(benchmark::State& state) {
  const auto policy = random_qos_policy(*snapshot()->subnet, 1'000, 100);
  for (auto _ : state) {
    const auto part = sm::resolve_qos_policy(*snapshot()->subnet, policy, {}, nullptr);
    benchmark::DoNotOptimize(part.matcher.rules());
  }
}
BENCHMARK(qos_resolve)->Unit(benchmark::kMillisecond);

/// `rules` of a QoS policy; none: QoS is off.
void path_record(benchmark::State& state, unsigned rules) {
  const sa::Directory directory(rules != 0 ? snapshot_with_rules(rules) : snapshot());
  const auto questions = path_questions(directory);
  const sa::Registry registry;
  const sa::Settings settings;
  std::vector<std::uint8_t> out;
  sa::TableCache tables;
  std::size_t next = 0;
  const auto before = allocations.load();
  for (auto _ : state) {
    const auto& asked = questions[next++ % questions.size()];
    if (!sa::answer(&directory, registry, settings, asked, {}, tables, out) || out[5] != 0)
      return state.SkipWithError("no path");
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["allocations"] = benchmark::Counter(static_cast<double>(allocations.load() - before),
                                                     benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(path_record, plain, 0U);
BENCHMARK_CAPTURE(path_record, qos_50_rules, 50U);
BENCHMARK_CAPTURE(path_record, qos_1000_rules, 1000U);

/// The whole table of NodeRecords; the first after a sweep, or a later one.
void node_table(benchmark::State& state, bool first) {
  const sa::Directory directory(snapshot());
  const sa::Registry registry;
  const sa::Settings settings;
  const auto asked = question(wire::Method::get_table, wire::NodeRecordId::kRecord, 0);
  std::vector<std::uint8_t> out;
  sa::TableCache tables;
  sa::answer(&directory, registry, settings, asked, {}, tables, out);
  for (auto _ : state) {
    if (first) tables.clear();
    sa::answer(&directory, registry, settings, asked, {}, tables, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["records"] = static_cast<double>((out.size() - wire::kSaDataOffset) / 112);
}
BENCHMARK_CAPTURE(node_table, first, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(node_table, again, false)->Unit(benchmark::kMillisecond);

/// What a new Snapshot costs before the first answer.
void directory(benchmark::State& state, bool after_a_sweep) {
  const sa::Directory before(snapshot());
  for (auto _ : state) {
    const sa::Directory made(snapshot(), after_a_sweep ? nullptr : &before);
    benchmark::DoNotOptimize(made.end_ports().data());
  }
}
BENCHMARK_CAPTURE(directory, after_a_sweep, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(directory, after_a_join, false)->Unit(benchmark::kMillisecond);

/// Of this thread: what else the machine does is not the SA's.
double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// A question that takes long, as the server answers it: how long the longest of its slices is, and how many
/// there are.
void slices(benchmark::State& state, const std::vector<std::uint8_t>& asked) {
  const sa::Directory directory(snapshot());
  const sa::Registry registry;
  const sa::Settings settings{.sm_key = 1};
  const auto request = *sa::Request::parse(asked);
  double longest = 0, count = 0;
  for (auto _ : state) {
    sa::TableCache tables;
    auto begun = sa::search_for({&directory, registry, settings, tables}, request, {});
    auto* search = std::get_if<std::unique_ptr<sa::Search>>(&begun);
    if (search == nullptr) return state.SkipWithError("no search");
    count = 0;
    for (bool done = false; !done; ++count) {
      const auto from = processor_ms();
      sa::Slice slice(sa::kSliceWork);
      done = (*search)->go_on(slice);
      longest = std::max(longest, processor_ms() - from);
    }
  }
  state.counters["slices"] = count;
  state.counters["longest_ms"] = longest;
}

/// 255 GIDs to 255, for paths that there are not, or that share few links.
std::vector<std::uint8_t> multi_path(bool independent) {
  using Multi = wire::MultiPathRecord;
  const sa::Directory directory(snapshot());
  const auto what = independent ? Multi::kIndependence : Multi::kSl;
  auto bytes = question(wire::Method::get_multi, Multi::kRecord,
                        1U << Multi::kSources | 1U << Multi::kDestinations | 1U << what);
  wire::encode_over(Multi{.sl = Sl{9}, .independence = 1, .sources = 255, .destinations = 255},
                    std::span(bytes).subspan(wire::kSaDataOffset));
  bytes.resize(wire::kSaDataOffset + Multi::kGidsAt);
  for (std::size_t i = 0; i < 510; ++i) {
    const auto gid = directory.gid_of(directory.end_ports()[i % directory.end_ports().size()]);
    bytes.insert(bytes.end(), gid.bytes.begin(), gid.bytes.end());
  }
  return bytes;
}

void register_slices() {
  const auto add = [](std::string_view name, std::vector<std::uint8_t> asked) {
    benchmark::RegisterBenchmark(fmt::format("slices/{}", name).c_str(), [asked](benchmark::State& state) {
      slices(state, asked);
    })->Unit(benchmark::kMillisecond);
  };
  for (const auto& kind : sa::record_kinds()) {
    auto asked = question(wire::Method::get_table, kind.attribute, 0);
    wire::encode_over(wire::SaHeader{.sm_key = 1}, std::span(asked).subspan(wire::kSaOffset));
    add(kind.name, std::move(asked));
  }
  add("PathRecord", question(wire::Method::get, wire::PathRecord::kRecord, 0));
  add("MultiPathRecord/none", multi_path(false));
  add("MultiPathRecord/independent", multi_path(true));
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  smd::bench::register_slices();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
