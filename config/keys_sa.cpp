// SPDX-License-Identifier: Apache-2.0
// The keys of [multicast] and [sa].
#include "config/blocks.h"
#include "config/lines.h"
#include "config/rows.h"
#include "config/scalars.h"
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

/// "fec0:0:0:2::" as its upper 64 bits; nothing inside: "*". Nothing at all: neither of them.
std::optional<std::optional<std::uint64_t>> parse_prefix(const std::string& text) {
  if (text == "*") return std::optional<std::uint64_t>();
  const auto gid = base::parse_gid(text);
  if (!gid || gid->guid() != Guid{} || gid->prefix() == 0 || gid->multicast()) return std::nullopt;
  return std::optional(gid->prefix());
}

std::string show_prefix(const std::optional<std::uint64_t>& prefix) {
  return prefix ? to_string(Gid::of(*prefix, Guid{})) : "*";
}

std::string show_router(const std::optional<Guid>& router) {
  return router ? fmt::format("{}", *router) : "*";
}

/// A line of OpenSM's prefix routes file.
std::optional<PrefixRoute> parse_prefix_route(const std::string& text) {
  const auto blank = text.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto subnet = text.substr(0, blank), router = text.substr(text.find_last_of(' ') + 1);
  if (text.find_first_not_of(' ', blank) != text.find_last_of(' ') + 1) return std::nullopt;
  const auto prefix = parse_prefix(subnet);
  if (!prefix) return std::nullopt;
  PrefixRoute route{.prefix = *prefix, .router = {}};
  if (router != "*") {
    const auto number = base::parse_number(router);
    if (!number || *number == 0) return std::nullopt;
    route.router = Guid{*number};
  }
  return route;
}

/// Text that `parse` takes, in quotes.
template <class T>
Codec<T> quoted(std::string allowed, std::optional<T> (*parse)(const std::string&),
                std::string (*show)(const T&), std::string_view form = {}) {
  Codec<T> codec;
  codec.allowed = std::move(allowed);
  codec.read = [parse, wanted = form.empty() ? codec.allowed : std::string(form)](
                   const Value& value, const Spot& spot) -> std::optional<T> {
    auto found = value.kind == Value::Kind::text ? parse(value.text) : std::nullopt;
    if (!found) spot.wrong(value, wanted);
    return found;
  };
  codec.show = [show](const T& value) { return toml_quoted(show(value)); };
  return codec;
}

Codec<std::vector<PrefixRoute>> prefix_routes() {
  using Prefix = std::optional<std::uint64_t>;
  using Router = std::optional<Guid>;
  const auto prefix = explained(
      quoted<Prefix>("the prefix of a subnet, as in \"fec0:0:0:2::\", or \"*\"", parse_prefix, show_prefix),
      Prefix{}, "any subnet");
  const auto router = explained(quoted<Router>(
                                    fmt::format("{} in quotes, or \"*\"", kGuidForm),
                                    [](const std::string& text) -> std::optional<Router> {
                                      if (text == "*") return Router{};
                                      const auto guid = parse_guid(text);
                                      return guid ? std::optional<Router>(guid) : std::nullopt;
                                    },
                                    show_router),
                                Router{}, "the first router that is there");
  auto in_one_line = quoted<PrefixRoute>(
      "\"SUBNET ROUTER\", as in \"fec0:0:0:2:: 0x0002c90300001234\"; \"*\" is any", parse_prefix_route,
      [](const PrefixRoute& route) {
        return fmt::format("{} {}", show_prefix(route.prefix), show_router(route.router));
      },
      kPrefixRouteForm);
  return explained(
      blocks<PrefixRoute>({block_key({.name = "prefix",
                                      .doc = "The prefix of the other subnet's GIDs; \"*\" is any prefix.",
                                      .example = "\"fec0:0:0:2::\"",
                                      .required = true},
                                     &PrefixRoute::prefix, prefix),
                           block_key({.name = "router",
                                      .doc = "The port GUID of the router that leads there; \"*\" is the "
                                             "first router that is there.",
                                      .example = "\"0x0002c90300001234\"",
                                      .required = true},
                                     &PrefixRoute::router, router)},
                          {.check = {}, .short_form = std::move(in_one_line)}),
      std::vector<PrefixRoute>{}, "other subnets are not reached");
}

}  // namespace

std::vector<Key> multicast_keys() {
  return {
      row({.table = "multicast",
           .name = "broadcast_mtu",
           .opensm = "",
           .doc = "The MTU of the IPoIB broadcast group, in bytes. \"auto\" is the smallest MTU of the ports "
                  "that are there; it is fixed while the group has members."},
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
           .doc = "How many requests may wait. Further ones are answered with BUSY."},
          kSa, &SaConfig::queue, whole<std::uint32_t>(64, 1048576)),
      row({.table = "sa",
           .name = "per_source",
           .opensm = "",
           .doc = "How many of them one LID may have there, so that no client delays the others."},
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
          kSa, &SaConfig::max_rate, rate("paths have the rate of their links")),
      row({.table = "sa",
           .name = "prefix_routes",
           .opensm = "prefix_routes_file",
           .doc = "By which routers other subnets are reached: the prefix of a subnet and the GUID of a "
                  "router's port. The first match counts."},
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
