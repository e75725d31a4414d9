// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/trace.h"

#include <algorithm>

#include "mad/wire/drop_vl.h"
#include "routing/routes.h"

namespace smd::sa {
namespace {

constexpr unsigned kMaxLinks = 64;  ///< hop limit of the verification, which a sound table never reaches

/// A packet on its way through the links.
class Walker {
 public:
  Walker(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid)
      : directory_(directory), to_(to), dlid_(dlid) {
    if (from.sw != kNowhere) {
      at_ = from.sw;
      carried_ = directory.links().of_end(from.place);
    } else {
      cross(directory.links().out_of_end(from.place));
    }
  }

  /// Over one more link; false: it is there, or lost.
  bool step() {
    if (at_ == kNowhere) return false;
    if (at_ == to_.sw) {
      carried_.narrow(directory_.links().of_end(to_.place));
      arrived_ = true;
      at_ = kNowhere;
      return false;
    }
    cross(directory_.links().out_of(at_, directory_.entries(at_)[dlid_]));
    return at_ != kNowhere;
  }

  bool arrived() const { return arrived_; }
  Carried carried() const { return carried_; }

 private:
  void cross(const Link& link) {
    carried_.narrow(link.carried);
    arrived_ = link.to_end && link.to == to_.place;
    at_ = link.to_end || ++links_ > kMaxLinks ? kNowhere : link.to;
  }

  const Directory& directory_;
  const EndPort& to_;
  Lid dlid_;
  std::uint32_t at_ = kNowhere;  ///< a switch
  unsigned links_ = 0;
  bool arrived_ = false;
  Carried carried_;
};

Way way_of(Carried carried) {
  Way way;
  way.mtu = static_cast<Mtu>(std::min(carried.mtu, static_cast<std::uint8_t>(Mtu::m4096)));
  if (carried.rate != Carried::kAny) way.rate = kStaticRates[carried.rate];
  return way;
}

/// The way between adapters where all ways are proven.
std::optional<Way> proven_way(const Directory& directory, const EndPort& from, const EndPort& to) {
  if (!directory.all_is_proven() || from.sw != kNowhere || to.sw != kNowhere) return std::nullopt;
  const auto& links = directory.links();
  const auto &first = links.out_of_end(from.place), &last = links.out_of_end(to.place);
  if (!first.leads() || !last.leads() || first.to_end || last.to_end) return std::nullopt;
  auto carried = first.carried;
  carried.narrow(last.carried);
  if (first.to != last.to) carried.narrow(*links.inner());
  return way_of(carried);
}

/// By the table of the port; nothing where it is not known.
std::optional<Vl> mapped_vl(const sm::Node& node, PortNum in, PortNum out, Sl sl) {
  const auto& held = node.ports[out.value()].held<wire::SlToVl>();
  const std::size_t row = in.value();
  if (!held || row >= held->row.size() || !held->known.test(row)) return std::nullopt;
  return held->row[row].vls[sl.value()];
}

}  // namespace

std::optional<Vl> vl_of(const sm::Node& node, PortNum in, PortNum out, Sl sl) {
  if (const auto vl = mapped_vl(node, in, out, sl)) return vl;
  // A port with one data VL needs no table.
  if (node.ports[out.value()].info.operational_vls == 1) return Vl{0};
  return std::nullopt;
}

RoundTrip round_trip(const Directory& directory, const EndPort& from, const EndPort& to, Lid slid, Lid dlid) {
  if (from.place == to.place) return {way_of(directory.links().of_end(to.place)), true};
  if (const auto way = proven_way(directory, from, to)) return {way, true};
  Walker there(directory, from, to, dlid), back(directory, to, from, slid);
  // Side by side: each waits for memory at every switch, and neither for the other.
  for (bool going = true; going;) {
    const bool one = there.step(), other = back.step();
    going = one || other;
  }
  RoundTrip trip{.there = std::nullopt, .back = back.arrived()};
  if (there.arrived()) trip.there = way_of(there.carried());
  return trip;
}

bool carries(const Directory& directory, const EndPort& from, const EndPort& to, Lid dlid, Sl sl) {
  PortNum in{0};  // a packet of the node's own
  if (from.place == to.place) return mapped_vl(*from.node, in, from.port, sl) != wire::kDropVl;
  for (const auto& step : steps_between(directory, from, to, dlid)) {
    if (mapped_vl(*step.from, in, step.out, sl) == wire::kDropVl) return false;
    in = step.in;
  }
  return true;
}

std::vector<Step> steps_between(const Directory& directory, const EndPort& from, const EndPort& to,
                                Lid dlid) {
  std::vector<Step> steps;
  if (from.place == to.place) return steps;
  const sm::Node* node = from.node;
  auto out = from.port;
  while (steps.size() <= kMaxLinks) {
    if (node->is_switch()) {
      if (node == to.node) return steps;
      out = PortNum{routing::entry(node->lft.row.get(), dlid)};
    }
    if (out.value() == 0 || out.value() >= node->ports.size()) return {};
    const auto& peer = node->ports[out.value()].peer;
    const auto* next = peer ? directory.subnet().find(peer->node) : nullptr;
    if (next == nullptr || peer->port.value() >= next->ports.size()) return {};
    steps.push_back({node, next, out, peer->port});
    node = next;
    if (node->is_switch()) continue;
    if (node != to.node || peer->port != to.port) return {};
    return steps;
  }
  return {};
}

}  // namespace smd::sa
