// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/reference_topology.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace smd::routing::inline repair {
namespace {

using Switch = ReferenceTopology::Switch;
using Link = ReferenceTopology::Link;
using End = ReferenceTopology::End;

/// Sorted: switches are in the order of GUIDs, and each cable is listed at its smaller end.
std::vector<Link> links_of(const Topology& now) {
  std::vector<Link> links;
  links.reserve(now.cables());
  for (SwitchIndex s = 0; s < now.switches(); ++s) {
    for (unsigned p = 1; p <= now.ports(s); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = now.peer(s, port);
      if (peer.sw == kNoSwitch || peer.sw == s) continue;
      const End here{now.guid(s), port}, there{now.guid(peer.sw), peer.port};
      if (here < there) links.push_back({here, there});
    }
  }
  if (!std::ranges::is_sorted(links)) std::ranges::sort(links);  // two switches of one GUID
  return links;
}

/// Whether the port has a cable now: older cables at it no longer count.
bool taken(const Topology& now, const End& end) {
  const auto s = now.find(end.guid);
  if (s == kNoSwitch) return false;
  const auto peer = now.peer(s, end.port);
  return peer.sw != kNoSwitch || peer.end != kNoEnd;
}

std::vector<Switch> merged(const std::vector<Switch>& before, const Topology& now) {
  std::vector<Switch> all;
  auto old = before.begin();
  for (SwitchIndex s = 0; s < now.switches(); ++s) {
    const auto guid = now.guid(s);
    if (s != 0 && now.guid(s - 1) == guid) continue;  // two switches with one GUID: the first counts
    for (; old != before.end() && old->guid < guid; ++old) all.push_back(*old);
    Switch entry{guid, static_cast<std::uint8_t>(now.ports(s)), static_cast<std::uint8_t>(now.hosts(s))};
    if (old != before.end() && old->guid == guid) {
      entry.ports = std::max(entry.ports, old->ports);
      entry.hosts = std::max(entry.hosts, old->hosts);
      ++old;
    }
    all.push_back(entry);
  }
  all.insert(all.end(), old, before.end());
  return all;
}

/// Takes out switches that are gone, and in the ports that led to them other cables are: they were replaced.
/// `gone`: the cables that are not there.
void drop_replaced(std::vector<Switch>& switches, std::vector<Link>& gone, const Topology& now) {
  std::set<Guid> attached;  // of those that are gone
  const auto is_in = [&](Guid guid) { return now.find(guid) != kNoSwitch || attached.contains(guid); };
  const auto is_out = [&](const Switch& entry) { return !is_in(entry.guid); };
  for (bool more = std::ranges::any_of(switches, is_out); more;) {
    more = false;
    for (const auto& [a, b] : gone) {
      const bool from = is_in(a.guid), to = is_in(b.guid);
      if (from == to) continue;
      attached.insert(from ? b.guid : a.guid);
      more = true;
    }
  }
  std::erase_if(switches, is_out);
  std::erase_if(gone, [&](const Link& link) { return !is_in(link.a.guid); });
}

}  // namespace

ReferenceTopology merge(const ReferenceTopology& reference, const Topology& now) {
  ReferenceTopology result{merged(reference.switches, now), links_of(now)};
  std::vector<Link> gone;
  if (!std::ranges::includes(result.links, reference.links))
    std::ranges::set_difference(reference.links, result.links, std::back_inserter(gone));
  std::erase_if(gone, [&](const Link& link) { return taken(now, link.a) || taken(now, link.b); });
  drop_replaced(result.switches, gone, now);
  if (gone.empty()) return result;
  std::vector<Link> all;
  all.reserve(result.links.size() + gone.size());
  std::ranges::merge(result.links, gone, std::back_inserter(all));
  result.links = std::move(all);
  return result;
}

bool covers(const ReferenceTopology& reference, const Topology& topology) {
  return reference == ReferenceTopology{merged({}, topology), links_of(topology)};
}

TopologyInput to_input(const ReferenceTopology& reference) {
  TopologyInput input;
  const auto& switches = reference.switches;
  std::vector<std::vector<bool>> taken;
  for (const auto& entry : switches) {
    input.switches.push_back({entry.guid, entry.ports});
    taken.emplace_back(entry.ports + std::size_t{1});
  }
  const auto index_of = [&](Guid guid) {
    const auto at = std::ranges::lower_bound(switches, guid, {}, &Switch::guid);
    return at != switches.end() && at->guid == guid ? static_cast<SwitchIndex>(at - switches.begin())
                                                    : kNoSwitch;
  };
  const auto take = [&](SwitchIndex s, PortNum port) {
    if (s != kNoSwitch && port.value() < taken[s].size()) taken[s][port.value()] = true;
  };
  for (const auto& [a, b] : reference.links) {
    input.links.push_back({index_of(a.guid), a.port, index_of(b.guid), b.port});
    take(input.links.back().a, a.port);
    take(input.links.back().b, b.port);
  }
  for (SwitchIndex s = 0; s < switches.size(); ++s) {
    unsigned left = switches[s].hosts;
    for (unsigned p = 1; p < taken[s].size() && left != 0; ++p) {
      if (taken[s][p]) continue;
      EndPortSpec end;
      end.sw = s;
      end.port = PortNum{static_cast<std::uint8_t>(p)};
      input.end_ports.push_back(end);
      --left;
    }
  }
  return input;
}

}  // namespace smd::routing::inline repair
