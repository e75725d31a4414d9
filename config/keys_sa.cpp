// SPDX-License-Identifier: Apache-2.0
// The keys of [multicast] and [sa].
#include "config/rows.h"
#include "mad/base/gid.h"
#include "mad/base/parse.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

constexpr auto kMulticast = &SubnetConfig::multicast;
constexpr auto kSa = &SubnetConfig::sa;
constexpr std::string_view kOfPorts = "what every port of the partition can";
constexpr std::string_view kPrefixRouteForm =
    "a subnet's prefix and a router's port GUID, as in \"fec0:0:0:2:: 0x0002c90300001234\"; \"*\" is any";

Codec<std::uint8_t> rate(std::string_view auto_means) {
  std::vector<std::pair<std::string, std::uint8_t>> choices{{"auto", std::uint8_t{0}}};
  for (const auto& one : kStaticRates) choices.emplace_back(fmt::format("{}", one.mbps / 1000.0), one.code);
  return explained(one_of<std::uint8_t>(choices), std::uint8_t{0}, auto_means);
}

std::optional<PrefixRoute> parse_prefix_route(const std::string& text) {
  const auto blank = text.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto subnet = text.substr(0, blank), router = text.substr(text.find_last_of(' ') + 1);
  if (text.find_first_not_of(' ', blank) != text.find_last_of(' ') + 1) return std::nullopt;
  PrefixRoute route;
  if (subnet != "*") {
    const auto gid = base::parse_gid(subnet);
    if (!gid || gid->guid() != Guid{} || gid->prefix() == 0 || gid->multicast()) return std::nullopt;
    route.prefix = gid->prefix();
  }
  if (router != "*") {
    const auto number = base::parse_number(router);
    if (!number || *number == 0) return std::nullopt;
    route.router = Guid{*number};
  }
  return route;
}

std::string show_prefix_route(const PrefixRoute& route) {
  return fmt::format("{} {}", route.prefix ? to_string(Gid::of(*route.prefix, Guid{})) : "*",
                     route.router ? fmt::format("{}", *route.router) : "*");
}

Codec<std::vector<PrefixRoute>> prefix_routes() {
  using Routes = std::vector<PrefixRoute>;
  Codec<Routes> codec;
  codec.form = Form::list;
  codec.allowed = "a list of \"SUBNET ROUTER\", as in \"fec0:0:0:2:: 0x0002c90300001234\"; \"*\" is any";
  codec.read = [allowed = codec.allowed](const Value& value, const Spot& spot) -> std::optional<Routes> {
    if (value.kind != Value::Kind::list) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    Routes found;
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      const auto route = item.kind == Value::Kind::text ? parse_prefix_route(item.text) : std::nullopt;
      if (!route) at.wrong(item, std::string(kPrefixRouteForm));
      found.push_back(route.value_or(PrefixRoute{}));
    });
    return good ? std::optional(std::move(found)) : std::nullopt;
  };
  codec.show = [](const Routes& routes) {
    std::vector<std::string> items;
    for (const auto& route : routes) items.push_back(show_prefix_route(route));
    return show_strings(items);
  };
  return explained(std::move(codec), Routes{}, "other subnets are not reached");
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
          kMulticast, &MulticastConfig::broadcast_rate, rate(kOfPorts)),
      row({.table = "multicast",
           .name = "consolidate_ipv6_snm",
           .opensm = "consolidate_ipv6_snm_req",
           .doc = "Give all IPv6 solicited-node groups of a partition one multicast LID: each host makes one "
                  "such group, and switches have room for few."},
          kMulticast, &MulticastConfig::consolidate_ipv6_snm,
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
      row({.table = "sa",
           .name = "services_per_port",
           .opensm = "",
           .doc = "How many services a port may offer."},
          kSa, &SaConfig::services_per_port, whole<std::uint32_t>(1, 65535)),
      row({.table = "sa",
           .name = "subscriptions_per_port",
           .opensm = "",
           .doc = "How many subscriptions to notices a port may have."},
          kSa, &SaConfig::subscriptions_per_port, whole<std::uint32_t>(1, 65535)),
      row({.table = "sa",
           .name = "keep_silent",
           .opensm = "",
           .doc = "How long what a port has registered is kept while the port, or the switch above it, does "
                  "not answer or cannot be seen. A port whose link is down has left at once."},
          kSa, &SaConfig::keep_silent,
          duration(std::chrono::seconds(1), std::chrono::hours(24), "it ends at once")),
      row({.table = "sa",
           .name = "max_rate",
           .opensm = "",
           .doc = "The highest rate that paths and new groups are told to have, in Gb/s: old kernels do not "
                  "know the codes of newer rates."},
          kSa, &SaConfig::max_rate, rate("paths are told as fast as they are")),
      row({.table = "sa",
           .name = "prefix_routes",
           .opensm = "prefix_routes_file",
           .doc = "By which routers other subnets are reached: the prefix of a subnet and the GUID of a "
                  "router's port. The first that suits counts."},
          kSa, &SaConfig::prefix_routes, prefix_routes()),
  };
}

std::vector<Key> status_keys() {
  return {
      row({.table = "status",
           .name = "hosts_missing",
           .opensm = "",
           .doc =
               "A fabric that works is \"reduced\" where a switch or a link between switches is missing that "
               "was there, or more of its adapters and routers than this. Fewer are counted and listed, and "
               "the fabric is \"up\"."},
          &SubnetConfig::status, &StatusConfig::hosts_missing, percent()),
  };
}

}  // namespace smd::config
