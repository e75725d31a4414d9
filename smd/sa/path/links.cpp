// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/links.h"

#include <algorithm>
#include <array>

#include "mad/wire/capability.h"
#include "smd/sa/directory.h"

namespace smd::sa {
namespace {

constexpr std::size_t kWidths = 32, kSpeeds = 16;  ///< codes are below

/// Places in kStaticRates of every width and speed: a large fabric has half a million ports.
constexpr auto make_rates() {
  std::array<std::array<std::uint8_t, kSpeeds>, kWidths> places{};
  for (std::size_t width = 0; width < kWidths; ++width) {
    for (std::size_t speed = 0; speed < kSpeeds; ++speed) {
      const auto rate = static_rate(static_cast<LinkWidth>(width), static_cast<LinkSpeed>(speed));
      places[width][speed] = Carried::kAny;
      for (std::size_t i = 0; i < kStaticRates.size(); ++i) {
        if (kStaticRates[i].code == rate.code) places[width][speed] = static_cast<std::uint8_t>(i);
      }
    }
  }
  return places;
}
constexpr auto kRates = make_rates();

/// A link with these two ends.
Carried between(const sm::Port& here, const sm::Port& there) {
  auto both = carried_by(here, here.info.neighbor_mtu);
  both.narrow(carried_by(there, there.info.neighbor_mtu));
  return both;
}

/// Where switches are by their GUIDs; the nodes' order is ascending.
class Switches {
 public:
  void add(const sm::Node& node) {
    guids_.push_back(node.guid());
    nodes_.push_back(&node);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const sm::Node& operator[](std::uint32_t place) const { return *nodes_[place]; }
  /// kNowhere: it is no switch, or has no such port.
  std::uint32_t find(const sm::PeerPort& at) const {
    const auto found = std::ranges::lower_bound(guids_, at.node);
    if (found == guids_.end() || *found != at.node) return kNowhere;
    const auto place = static_cast<std::uint32_t>(found - guids_.begin());
    return at.port.value() < nodes_[place]->ports.size() ? place : kNowhere;
  }

 private:
  std::vector<Guid> guids_;
  std::vector<const sm::Node*> nodes_;
};

}  // namespace

Carried carried_by(const sm::Port& port, Mtu mtu) {
  const auto width = static_cast<std::size_t>(wire::link_width(port.info));
  const auto speed = static_cast<std::size_t>(wire::link_speed(port.info, port.mlnx));
  return {.mtu = mtu == Mtu::none ? Carried::kAny : static_cast<std::uint8_t>(mtu),
          .rate = width < kWidths && speed < kSpeeds ? kRates[width][speed] : Carried::kAny};
}

/// Lookups go to the switches alone, which are few: links of hosts are found from the hosts' side.
Links::Links(const sm::Subnet& subnet, std::span<const EndPort> ends)
    : ends_(ends.size()), own_(ends.size()) {
  Switches switches;
  std::size_t count = 0;
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch()) continue;
    switches.add(*node);
    first_.push_back(static_cast<std::uint32_t>(count));
    count += std::max<std::size_t>(node->ports.size(), 1);  // port 0 leads nowhere
  }
  first_.push_back(static_cast<std::uint32_t>(count));
  links_.resize(count);
  for (std::uint32_t sw = 0; sw < switches.size(); ++sw) {
    const auto& ports = switches[sw].ports;
    for (std::size_t p = 1; p < ports.size(); ++p) {
      const auto to = ports[p].peer ? switches.find(*ports[p].peer) : kNowhere;
      if (to == kNowhere) continue;
      const auto& there = switches[to].ports[ports[p].peer->port.value()];
      links_[first_[sw] + p] = {.to = to, .carried = between(ports[p], there)};
    }
  }
  look_at_inner();
  for (std::uint32_t e = 0; e < ends.size(); ++e) {
    const auto& port = ends[e].info();
    const bool is_switch = ends[e].node->is_switch();
    // Port 0 has no link: what it says of itself counts, as OpenSM has it.
    own_[e] = carried_by(port, is_switch ? port.info.mtu_cap : port.info.neighbor_mtu);
    if (is_switch || !port.peer) continue;
    const auto& peer = *port.peer;
    const auto to = switches.find(peer);
    if (to == kNowhere) {  // an adapter at an adapter
      const auto other = std::ranges::find_if(
          ends, [&](const EndPort& end) { return end.node->guid() == peer.node && end.port == peer.port; });
      if (other == ends.end() || other->node->is_switch()) continue;
      ends_[e] = {.to = other->place, .to_end = true, .carried = between(port, other->info())};
      continue;
    }
    const auto carried = between(port, switches[to].ports[peer.port.value()]);
    ends_[e] = {.to = to, .carried = carried};
    ++outer_links_;
    links_[first_[to] + peer.port.value()] = {.to = e, .to_end = true, .carried = carried};
  }
}

/// Before the links of end ports are among them.
void Links::look_at_inner() {
  std::optional<Carried> common;
  std::vector<std::uint32_t> reached{0};
  std::vector<bool> seen(first_.size() - 1);
  for (const auto& link : links_) {
    if (!link.leads()) continue;
    ++inner_links_;
    if (!common) common = link.carried;
    if (*common != link.carried) inner_.reset();
  }
  inner_links_ /= 2;  // each was seen from both its ends
  if (inner_ && common) inner_ = common;
  if (!seen.empty()) seen[0] = true;
  for (std::size_t i = 0; i < reached.size() && !seen.empty(); ++i) {
    for (auto at = first_[reached[i]]; at < first_[reached[i] + 1]; ++at) {
      const auto to = links_[at].to;
      if (to == kNowhere || seen[to]) continue;
      seen[to] = true;
      reached.push_back(to);
    }
  }
  connected_ = seen.empty() || reached.size() == seen.size();
}

}  // namespace smd::sa
