// SPDX-License-Identifier: Apache-2.0
// The keys of [multicast] and [sa].
#include "config/rows.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

constexpr auto kMulticast = &SubnetConfig::multicast;
constexpr auto kSa = &SubnetConfig::sa;
constexpr std::string_view kOfPorts = "what every port of the partition can";

Codec<std::uint8_t> rate() {
  std::vector<std::pair<std::string, std::uint8_t>> choices{{"auto", std::uint8_t{0}}};
  for (const auto& one : kStaticRates) choices.emplace_back(fmt::format("{}", one.mbps / 1000.0), one.code);
  return explained(one_of<std::uint8_t>(choices), std::uint8_t{0}, kOfPorts);
}

}  // namespace

std::vector<Key> multicast_keys() {
  return {
      row({.table = "multicast",
           .name = "broadcast_mtu",
           .opensm = "",
           .doc = "The MTU of the IPoIB broadcast group, in bytes. \"auto\" is the smallest MTU of the ports "
                  "that are there; it stays as it is while somebody is in the group."},
          kMulticast, &MulticastConfig::broadcast_mtu,
          explained(one_of<Mtu>({{"auto", Mtu::none},
                                 {"256", Mtu::m256},
                                 {"512", Mtu::m512},
                                 {"1024", Mtu::m1024},
                                 {"2048", Mtu::m2048},
                                 {"4096", Mtu::m4096}}),
                    Mtu::none, kOfPorts)),
      row({.table = "multicast",
           .name = "broadcast_rate",
           .opensm = "",
           .doc = "The rate of the IPoIB broadcast group, in Gb/s. \"auto\" is the slowest of the ports that "
                  "are there."},
          kMulticast, &MulticastConfig::broadcast_rate, rate()),
      row({.table = "multicast",
           .name = "share_solicited_nodes",
           .opensm = "consolidate_ipv6_snm_req",
           .doc = "Give all IPv6 solicited-node groups of a partition one multicast LID: each host makes one "
                  "such group, and switches have room for few."},
          kMulticast, &MulticastConfig::share_solicited_nodes,
          flag("one multicast LID for all of them", "each group has its own while there are any")),
  };
}

std::vector<Key> sa_keys() {
  return {
      row({.table = "sa",
           .name = "queue",
           .opensm = "",
           .doc = "How many requests may wait to be looked at. Those behind are answered with BUSY."},
          kSa, &SaConfig::queue, whole<std::uint32_t>(64, 1048576)),
      row({.table = "sa",
           .name = "per_source",
           .opensm = "",
           .doc = "How many of them one LID may have there: nobody keeps others waiting."},
          kSa, &SaConfig::per_source, whole<std::uint32_t>(1, 1048576)),
      row({.table = "sa",
           .name = "groups_per_port",
           .opensm = "",
           .doc = "How many multicast groups a port may be in."},
          kSa, &SaConfig::groups_per_port, whole<std::uint32_t>(1, 65535)),
  };
}

}  // namespace smd::config
