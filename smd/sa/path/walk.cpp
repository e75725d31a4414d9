// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/walk.h"

#include <algorithm>

#include "mad/wire/capability.h"
#include "routing/routes.h"

namespace smd::sa {
namespace {

constexpr unsigned kMaxLinks = 64;  ///< hop limit of the verification, which a sound table never reaches

StaticRate rate_of(const sm::Port& port) {
  return static_rate(wire::link_width(port.info), wire::link_speed(port.info, port.mlnx));
}

void narrow(Way& way, Mtu mtu, StaticRate rate) {
  if (mtu != Mtu::none) way.mtu = std::min(way.mtu, mtu);
  if (rate.code != 0 && (way.rate.code == 0 || rate.mbps < way.rate.mbps)) way.rate = rate;
}

/// Both ends of the link say what it carries.
void cross(Way& way, const sm::Port& here, const sm::Port& there) {
  narrow(way, here.info.neighbor_mtu, rate_of(here));
  narrow(way, there.info.neighbor_mtu, rate_of(there));
  ++way.links;
}

void finish(Way& way, const EndPort& end) {
  const auto& port = end.info();
  if (end.node->is_switch()) {
    // Port 0 has no link: what it says of itself counts, as OpenSM has it.
    narrow(way, port.info.mtu_cap, rate_of(port));
  } else if (way.links == 0) {
    narrow(way, port.info.neighbor_mtu, rate_of(port));
  }
}

/// The same as walk(), by the links alone.
std::optional<Way> walk_links(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid) {
  const auto& links = directory.links();
  Way way;
  auto sw = from.sw;
  const Link* link = nullptr;
  while (sw == kNowhere || sw != to.sw) {
    if (sw != kNowhere) {
      link = links.out_of(sw, routing::entry(directory.row(sw), dlid));
    } else {
      link = &links.out_of_end(from.place);
    }
    if (link == nullptr || !link->leads() || way.links > kMaxLinks) return std::nullopt;
    narrow(way, link->mtu, link->rate);
    ++way.links;
    sw = link->sw;
    if (sw != kNowhere) continue;
    if (link->end != to.place) return std::nullopt;
    break;
  }
  finish(way, from);
  finish(way, to);
  return way;
}

}  // namespace

std::optional<Way> walk(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid,
                        std::vector<Step>* steps) {
  Way way;
  if (from.node == to.node && from.port == to.port) {
    finish(way, to);
    return way;
  }
  if (steps == nullptr) return walk_links(directory, from, to, dlid);
  const sm::Node* node = from.node;
  auto out = from.port;
  for (unsigned i = 0; i <= kMaxLinks; ++i) {
    if (node->is_switch()) {
      if (node == to.node) break;
      out = PortNum{routing::entry(node->lft.row.get(), dlid)};
    }
    if (out.value() == 0 || out.value() >= node->ports.size()) return std::nullopt;
    const auto& here = node->ports[out.value()];
    if (!here.peer) return std::nullopt;
    const auto* next = directory.subnet().find(here.peer->node);
    if (next == nullptr || here.peer->port.value() >= next->ports.size()) return std::nullopt;
    cross(way, here, next->ports[here.peer->port.value()]);
    if (steps != nullptr) steps->push_back({node, next, out, here.peer->port});
    node = next;
    if (!node->is_switch()) {
      if (node != to.node || here.peer->port != to.port) return std::nullopt;
      break;
    }
  }
  if (node != to.node) return std::nullopt;
  finish(way, from);
  finish(way, to);
  return way;
}

}  // namespace smd::sa
