// SPDX-License-Identifier: Apache-2.0
// Subnet administration in process: from a request's bytes to the answer's. bench_sa [--benchmark_filter=…],
// or
// ./dev bench sa. SMD_FABRIC names another fabric than ft3:56.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "routing/parallel.h"
#include "smd/decide/decide.h"
#include "smd/offline/offline.h"
#include "smd/sa/answer.h"

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
    const config::SubnetConfig config;
    const routing::Serial serial;
    const auto before = sm::offline_subnet(fabric);
    auto decision = *sm::decide({.subnet = before, .config = config, .stored = {}, .parallel = serial});
    auto settled = std::make_shared<sm::Subnet>(sm::settled(before, decision.decided, config));
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

void path_record(benchmark::State& state) {
  const sa::Directory directory(snapshot());
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
BENCHMARK(path_record);

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

}  // namespace
}  // namespace smd::bench

BENCHMARK_MAIN();
