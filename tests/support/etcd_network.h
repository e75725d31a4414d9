// SPDX-License-Identifier: Apache-2.0
#pragma once
// A site whose SMs copy their state through an etcd in memory.

#include <memory>
#include <string>

#include "smd/etcd/network.h"
#include "tests/support/memory_etcd.h"
#include "tests/support/replica_site.h"

namespace smd::test {

/// For SMs that start from now on. `lines`: what their networks log. All of it outlives the SMs.
inline void copy_through(MemoryEtcd& etcd, ReplicaSite& site, Lines& lines) {
  site.network_of = [&](const std::string& host) {
    const auto output = [&lines](const log::Record&, std::string_view line) { lines.all.emplace_back(line); };
    return std::make_unique<etcd::EtcdNetwork>(
        etcd::NetworkParts{.executor = site.world.io().get_executor(),
                           .clock = site.world.clock(),
                           .log = log::Log({}, output,
                                           {.steady = [&site] { return site.world.now().time_since_epoch(); },
                                            .wall = [] { return std::chrono::system_clock::time_point{}; }}),
                           .clients = etcd.clients(),
                           .prefix = "/smd",
                           .subnet = "test",
                           .self = [&site, host] { return site.port_of(host); }});
  };
}

}  // namespace smd::test
