// SPDX-License-Identifier: Apache-2.0
// What smd makes of OpenSM's partitions.conf: partition_members CONF SELF both|one, ports as "GUID TYPE NAME"
// a line of the standard input. Prints "GUID P_KEY[@0]" a line; exit 2 with the errors where the file is
// refused.
#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/partitions_conf.h"
#include "config/load.h"
#include "config/partitions.h"
#include "mad/base/parse.h"

namespace {

using namespace smd::config;
using smd::Guid;
using smd::NodeType;
using smd::PKey;
using smd::PortNum;

NodeType type_of(std::string_view word) {
  if (word == "switch") return NodeType::switch_;
  return word == "router" ? NodeType::router : NodeType::ca;
}

/// `names` owns the names.
std::vector<PortView> read_ports(std::deque<std::string>& names) {
  std::vector<PortView> ports;
  std::string guid, type, name;
  while (std::cin >> guid >> type >> name) {
    const auto number = smd::base::parse_guid(guid).value_or(Guid{});
    const auto kind = type_of(type);
    const PortNum port{static_cast<std::uint8_t>(kind == NodeType::switch_ ? 0 : 1)};
    ports.push_back({number, number, names.emplace_back(name), port, kind, {}, {}, false, {}});
  }
  return ports;
}

int refuse(const std::vector<ConfigError>& errors) {
  for (const auto& error : errors) fmt::print(stderr, "{}\n", to_string(error));
  return 2;
}

}  // namespace

int main(int count, char** given) {
  if (count != 4) return 1;
  const auto text = read_file(given[1]);
  if (!text) return 1;
  std::deque<std::string> names;
  const auto ports = read_ports(names);
  auto conf = read_partitions_conf(*text, given[1]);
  if (!conf) return refuse(conf.error());
  PartitionSources sources{.conf_file = given[1]};
  sources.conf = std::move(conf->definitions);
  sources.allow_both_pkeys = std::string_view(given[3]) == "both";
  const auto merged = merge_partitions(sources);
  if (!merged) return refuse(merged.error());
  const auto self = smd::base::parse_guid(given[2]).value_or(Guid{});
  for (const auto& partition : resolve_partitions(merged->policy, PortIndex(ports), self)) {
    for (const auto& member : partition.members) {
      const auto show = [&](PKey key) {
        fmt::print("{} {}{}\n", ports[member.port].port_guid, key, member.index0 ? "@0" : "");
      };
      if (member.membership != Membership::limited) show(partition.pkey.full());
      if (member.membership != Membership::full) show(partition.pkey);
    }
  }
  return 0;
}
