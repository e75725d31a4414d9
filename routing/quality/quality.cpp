// SPDX-License-Identifier: Apache-2.0
#include "routing/quality/quality.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "routing/quality/load.h"
#include "routing/quality/trace.h"

namespace smd::routing::inline quality {
namespace {

constexpr std::size_t kShifts = 1024, kFewShifts = 64;
constexpr std::size_t kRandom = 100;
constexpr std::size_t kHottest = 10;

/// A host as source and as destination.
struct Host {
  SwitchIndex sw = 0;
  Lid lid;
};

struct Job {
  const Topology& topology;
  const LidMap& lids;
  const Routes& routes;
  const Parallel& parallel;
  std::vector<Host> hosts;
};

Job make_job(const Topology& topology, const LidMap& lids, const Routes& routes,
             std::span<const EndIndex> numbering, const Parallel& parallel) {
  Job job{topology, lids, routes, parallel, {}};
  for (const auto e : numbering) {
    const auto& end = topology.end_ports()[e];
    const auto range = lids.of_end(e);
    if (end.sw != kNoSwitch && range.count() != 0) job.hosts.push_back({end.sw, range.base});
  }
  return job;
}

/// Link loads of one pattern after another.
class Loads {
 public:
  explicit Loads(std::size_t channels) : load_(channels) {}

  void add(std::span<const std::uint32_t> way) {
    for (const auto channel : way) {
      if (load_[channel]++ == 0) used_.push_back(channel);
      max_ = std::max(max_, load_[channel]);
    }
  }
  std::uint32_t max() const { return max_; }
  std::uint32_t max_on(std::span<const std::uint32_t> way) const {
    std::uint32_t most = 1;  // the host's own cable
    for (const auto channel : way) most = std::max(most, load_[channel]);
    return most;
  }
  void clear() {
    for (const auto channel : used_) load_[channel] = 0;
    used_.clear();
    max_ = 0;
  }

 private:
  std::vector<std::uint32_t> load_;
  std::vector<std::uint32_t> used_;
  std::uint32_t max_ = 0;
};

/// std::shuffle differs between libraries; this does not.
std::vector<std::uint32_t> permutation(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

std::uint64_t seed_of(std::uint64_t seed, std::size_t pattern) {
  return seed * 0x9E3779B97F4A7C15U + pattern;
}

/// Calls fn(pattern number, tracer, loads) for each pattern, in parallel.
template <class Fn>
void for_patterns(const Job& job, std::size_t count, const Fn& fn) {
  const std::size_t grain = std::max<std::size_t>(1, count / (std::size_t{job.parallel.threads()} * 4));
  for_ranges(job.parallel, count, grain, [&](std::size_t begin, std::size_t end) {
    RouteTracer tracer(job.topology, job.lids, job.routes);
    Loads loads(job.topology.channels());
    for (std::size_t i = begin; i < end; ++i) {
      fn(i, tracer, loads);
      loads.clear();
    }
  });
}

double mean(std::span<const double> values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ShiftLoad measure_shifts(const Job& job, std::size_t most = kShifts) {
  const std::size_t n = job.hosts.size();
  const std::size_t all = n == 0 ? 0 : n - 1;
  const std::size_t count = std::min(all, most);
  std::vector<double> loads_of(count);
  for_patterns(job, count, [&](std::size_t i, RouteTracer& tracer, Loads& loads) {
    const std::size_t shift = 1 + i * all / count;
    for (std::size_t from = 0; from < n; ++from) {
      const std::size_t to = from + shift < n ? from + shift : from + shift - n;
      loads.add(tracer.trace(job.hosts[from].sw, job.hosts[to].lid));
    }
    loads_of[i] = loads.max();
  });
  return {loads_of.empty() ? 0 : static_cast<std::uint32_t>(std::ranges::max(loads_of)), mean(loads_of)};
}

void measure_permutations(const Job& job, std::uint64_t seed, Quality& quality) {
  const std::size_t n = job.hosts.size();
  std::vector<double> most(n == 0 ? 0 : kRandom);
  for_patterns(job, most.size(), [&](std::size_t i, RouteTracer& tracer, Loads& loads) {
    const auto to = permutation(n, seed_of(seed, i));
    for (std::size_t from = 0; from < n; ++from) {
      loads.add(tracer.trace(job.hosts[from].sw, job.hosts[to[from]].lid));
    }
    most[i] = loads.max();
  });
  quality.random_permutation_mean = mean(most);
}

void measure_bisections(const Job& job, std::uint64_t seed, Quality& quality) {
  const std::size_t half = job.hosts.size() / 2;
  std::vector<double> share(half == 0 ? 0 : kRandom);
  for_patterns(job, share.size(), [&](std::size_t i, RouteTracer& tracer, Loads& loads) {
    const auto order = permutation(job.hosts.size(), seed_of(seed, kRandom + i));
    const auto way = [&](std::size_t pair) {
      return tracer.trace(job.hosts[order[pair]].sw, job.hosts[order[half + pair]].lid);
    };
    for (std::size_t pair = 0; pair < half; ++pair) loads.add(way(pair));
    double sum = 0;
    for (std::size_t pair = 0; pair < half; ++pair) {
      const auto channels = way(pair);
      if (tracer.arrived()) sum += 1.0 / loads.max_on(channels);
    }
    share[i] = sum / static_cast<double>(half);
  });
  quality.ebb = mean(share);
}

std::vector<std::uint64_t> link_paths_of(const Job& job) {
  std::vector<std::uint64_t> sources(job.topology.switches());
  for (const auto& host : job.hosts) ++sources[host.sw];
  // Neighbouring LIDs are in the same cache lines.
  auto by_lid = job.hosts;
  std::ranges::sort(by_lid, {}, &Host::lid);
  const std::size_t grain =
      std::max<std::size_t>(64, by_lid.size() / (std::size_t{job.parallel.threads()} * 4));
  std::vector<std::vector<std::uint64_t>> pieces((by_lid.size() + grain - 1) / grain);
  for_ranges(job.parallel, by_lid.size(), grain, [&](std::size_t begin, std::size_t end) {
    auto& paths = pieces[begin / grain];
    paths.resize(job.topology.channels());
    RouteTracer tracer(job.topology, job.lids, job.routes);
    for (std::size_t block = begin; block < end; block += 64) {
      for (SwitchIndex s = 0; s < sources.size(); ++s) {
        if (sources[s] == 0) continue;
        for (std::size_t i = block; i < std::min(end, block + 64); ++i) {
          for (const auto channel : tracer.trace(s, by_lid[i].lid)) paths[channel] += sources[s];
        }
      }
    }
  });
  std::vector<std::uint64_t> total(job.topology.channels());
  for (const auto& piece : pieces) {
    for (std::size_t c = 0; c < piece.size(); ++c) total[c] += piece[c];
  }
  return total;
}

/// The rate of the fastest cable between switches.
std::uint32_t fastest_rate(const Topology& topology) {
  std::uint32_t fastest = 1;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports) fastest = std::max(fastest, topology.rate(s, port));
    }
  }
  return fastest;
}

double max_time(const Topology& topology, std::span<const std::uint64_t> paths) {
  const auto fastest = static_cast<double>(fastest_rate(topology));
  double most = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports) {
        const auto load = static_cast<double>(paths[topology.channel(s, port)]);
        most = std::max(most, load * fastest / topology.rate(s, port));
      }
    }
  }
  return most;
}

std::vector<HotLink> hottest(const Topology& topology, std::span<const std::uint64_t> paths) {
  std::vector<HotLink> all;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 1; p <= topology.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = topology.peer(s, port);
      if (peer.sw == kNoSwitch) continue;
      all.push_back({s, peer.sw, port, peer.port, paths[topology.channel(s, port)]});
    }
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(std::min(kHottest, all.size()));
  std::ranges::partial_sort(all, middle, std::ranges::greater{}, [](const HotLink& link) {
    return std::tuple(link.paths, ~link.from, 255 - link.out.value());
  });
  all.erase(middle, all.end());
  std::erase_if(all, [](const HotLink& link) { return link.paths == 0; });
  return all;
}

}  // namespace

std::vector<std::uint64_t> link_paths(const RoutingContext& in, const Routes& routes,
                                      std::span<const EndIndex> hosts) {
  return link_paths_of(make_job(in.topology, in.lids, routes, hosts, in.parallel));
}

RouteLoad measure_load(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts,
                       LoadOfShifts shifts) {
  const auto job = make_job(in.topology, in.lids, routes, hosts, in.parallel);
  const auto paths = link_paths_of(job);
  const auto pairs = static_cast<double>(job.hosts.size()) * static_cast<double>(job.hosts.size());
  const auto shift = shifts == LoadOfShifts::yes ? measure_shifts(job, kFewShifts) : ShiftLoad{};
  return {
      .max_link_time = paths.empty() ? 0 : max_time(in.topology, paths),
      .shift_max = shift.max,
      .mean_hops =
          pairs == 0
              ? 0
              : static_cast<double>(std::accumulate(paths.begin(), paths.end(), std::uint64_t{0})) / pairs,
      .shift_mean = shift.mean};
}

ShiftLoad measure_few_shifts(const RoutingContext& in, const Routes& routes,
                             std::span<const EndIndex> hosts) {
  return measure_shifts(make_job(in.topology, in.lids, routes, hosts, in.parallel), kFewShifts);
}

double leaf_bound(const Topology& topology, std::span<const EndIndex> hosts) {
  std::vector<std::uint64_t> here(topology.switches()), all(topology.components());
  for (const auto e : hosts) {
    const auto sw = topology.end_ports()[e].sw;
    if (sw == kNoSwitch) continue;
    ++here[sw];
    ++all[topology.component(sw)];
  }
  const auto fastest = static_cast<double>(fastest_rate(topology));
  double bound = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::uint64_t rates = 0;
    for (std::size_t g = 0; here[s] != 0 && g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports) rates += topology.rate(s, port);
    }
    if (rates == 0) continue;
    const auto routes = static_cast<double>(here[s] * (all[topology.component(s)] - here[s]));
    bound = std::max(bound, routes * fastest / static_cast<double>(rates));
  }
  return bound;
}

Quality measure(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts,
                std::uint64_t seed, std::span<const EndIndex> rank_order) {
  const auto& topology = in.topology;
  const auto job = make_job(topology, in.lids, routes, hosts, in.parallel);
  Quality quality;
  const auto paths = link_paths_of(job);
  if (!paths.empty()) quality.max_link_paths = std::ranges::max(paths);
  quality.hottest = hottest(topology, paths);
  if (topology.cables() != 0) {
    quality.mean_link_paths =
        static_cast<double>(std::accumulate(paths.begin(), paths.end(), std::uint64_t{0})) /
        static_cast<double>(2 * topology.cables());
  }
  quality.max_link_time = paths.empty() ? 0 : max_time(topology, paths);
  quality.leaf_bound = leaf_bound(topology, hosts);
  const auto shifts = measure_shifts(job);
  quality.shift_max = shifts.max;
  quality.shift_mean = shifts.mean;
  const auto by_rank = rank_order.empty()
                           ? shifts
                           : measure_shifts(make_job(topology, in.lids, routes, rank_order, in.parallel));
  quality.shift_rank_max = by_rank.max;
  quality.shift_rank_mean = by_rank.mean;
  measure_permutations(job, seed, quality);
  measure_bisections(job, seed, quality);
  return quality;
}

}  // namespace smd::routing::inline quality
