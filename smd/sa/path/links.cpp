// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/links.h"

#include <algorithm>
#include <array>

#include "mad/wire/capability.h"
#include "smd/sa/directory.h"

namespace smd::sa {
namespace {

constexpr std::size_t kWidths = 32, kSpeeds = 16;  ///< codes are below

/// static_rate() of every width and speed: a large fabric has half a million ports.
constexpr auto make_rates() {
  std::array<std::array<StaticRate, kSpeeds>, kWidths> rates{};
  for (std::size_t width = 0; width < kWidths; ++width) {
    for (std::size_t speed = 0; speed < kSpeeds; ++speed) {
      rates[width][speed] = static_rate(static_cast<LinkWidth>(width), static_cast<LinkSpeed>(speed));
    }
  }
  return rates;
}
constexpr auto kRates = make_rates();

StaticRate rate_at(const sm::Port& port) {
  const auto width = static_cast<std::size_t>(wire::link_width(port.info));
  const auto speed = static_cast<std::size_t>(wire::link_speed(port.info, port.mlnx));
  return width < kWidths && speed < kSpeeds ? kRates[width][speed] : StaticRate{};
}

void narrow(Link& link, Mtu mtu, StaticRate rate) {
  if (mtu != Mtu::none && (link.mtu == Mtu::none || mtu < link.mtu)) link.mtu = mtu;
  if (rate.code != 0 && (link.rate.code == 0 || rate.mbps < link.rate.mbps)) link.rate = rate;
}

}  // namespace

Link carried(const sm::Port& here, const sm::Port& there) {
  Link link;
  narrow(link, here.info.neighbor_mtu, rate_at(here));
  narrow(link, there.info.neighbor_mtu, rate_at(there));
  return link;
}

/// Lookups go to the switches alone, which are few: links of hosts are found from the hosts' side.
Links::Links(const sm::Subnet& subnet, std::span<const EndPort> ends) : ends_(ends.size()) {
  std::vector<const sm::Node*> switches;
  std::unordered_map<Guid, std::uint32_t> by_guid;
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch()) continue;
    by_guid.emplace(node->guid(), static_cast<std::uint32_t>(switches.size()));
    switches.push_back(node.get());
    first_.push_back(static_cast<std::uint32_t>(links_.size()));
    links_.resize(links_.size() + std::max<std::size_t>(node->ports.size(), 1));  // port 0 leads nowhere
  }
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
  for (std::uint32_t sw = 0; sw < switches.size(); ++sw) {
    const auto& ports = switches[sw]->ports;
    for (std::size_t p = 1; p < ports.size(); ++p) {
      const auto found = ports[p].peer ? by_guid.find(ports[p].peer->node) : by_guid.end();
      if (found == by_guid.end()) continue;
      const auto& there = switches[found->second]->ports;
      if (ports[p].peer->port.value() >= there.size()) continue;
      auto& link = links_[first_[sw] + p];
      link = carried(ports[p], there[ports[p].peer->port.value()]);
      link.sw = found->second;
    }
  }
  for (std::uint32_t e = 0; e < ends.size(); ++e) {
    const auto& peer = ends[e].info().peer;
    if (ends[e].node->is_switch() || !peer) continue;
    const auto found = by_guid.find(peer->node);
    if (found == by_guid.end()) {  // an adapter at an adapter
      const auto other = std::ranges::find_if(
          ends, [&](const EndPort& end) { return end.node->guid() == peer->node && end.port == peer->port; });
      if (other == ends.end()) continue;
      ends_[e] = carried(ends[e].info(), other->info());
      ends_[e].end = other->place;
      continue;
    }
    const auto& there = switches[found->second]->ports;
    if (peer->port.value() >= there.size()) continue;
    ends_[e] = carried(ends[e].info(), there[peer->port.value()]);
    auto& down = links_[first_[found->second] + peer->port.value()];
    down = ends_[e];
    down.end = e;
    ends_[e].sw = found->second;
  }
}

}  // namespace smd::sa
