// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/lids.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "smd/decide/lid_space.h"
#include "smd/decide/small_tables.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {
namespace {

struct EndPort {
  Guid guid;
  Guid leaf;  ///< switch on the other side; 0: none (back to back) or a switch's own port 0
  PortNum leaf_port;
  bool host = false;
  bool in_service = false;  ///< Armed or Active: its LID may be in use
  std::uint8_t lmc = 0;
  Lid held;
  std::uint8_t held_lmc = 0;
  unsigned base = 0;  ///< 0: none yet
  unsigned count() const { return 1U << lmc; }
};

std::vector<EndPort> end_ports(const Subnet& subnet, const LidOptions& options) {
  std::vector<EndPort> ends;
  const auto add = [&](const NodePtr& node) {
    const unsigned from = node->is_switch() ? 0 : 1;
    const unsigned to = node->is_switch() ? 0 : node->port_count();
    for (unsigned p = from; p <= to && p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node->ports[p];
      if (!is_end_port(*node, num) || !port.known) continue;
      EndPort end;
      end.guid = port_guid(*node, num);
      end.host = !node->is_switch();
      end.lmc = end.host ? options.lmc : std::uint8_t{0};
      end.held = port.info.lid;
      end.held_lmc = port.info.lmc;
      end.in_service = !end.host || port.info.port_state >= PortState::armed;
      if (end.host && port.peer) {
        end.leaf = port.peer->node;
        end.leaf_port = port.peer->port;
      }
      ends.push_back(end);
    }
  };
  std::ranges::for_each(subnet.nodes, add);
  std::ranges::for_each(subnet.silent_hosts, add);
  std::ranges::sort(ends, {}, &EndPort::guid);
  return ends;
}

/// What is stored comes first, then what ports hold, those in service before the others. When we take a
/// fabric over, another SM may have run it meanwhile: then the LIDs in service come first.
void keep_valid(std::vector<EndPort>& ends, const LidOptions& options, const Stored& stored,
                LidSpace& space) {
  const auto keep = [&](EndPort& end, Lid lid) {
    if (end.base != 0 || !lid.unicast() || lid.value() % end.count() != 0) return;
    const auto cap = end.host ? options.cap : options.switch_cap;
    if (lid.value() + end.count() - 1 > cap.value() || !space.free(lid.value(), end.count())) return;
    end.base = lid.value();
    space.take(end.base, end.count());
  };
  const auto keep_held = [&](bool in_service) {
    for (auto& end : ends) {
      if (end.in_service == in_service) keep(end, end.held);
    }
  };
  // A trap may tell of the new links before it is known that there was another master.
  if (options.ours != nullptr) {
    const auto is_ours = [&](const EndPort& end) { return options.ours->find(end.guid) != nullptr; };
    const auto in_part = [&](bool ours) {
      return std::ranges::count_if(
          ends, [&](const EndPort& end) { return end.host && end.in_service && is_ours(end) == ours; });
    };
    const bool first = in_part(true) >= in_part(false);
    for (auto& end : ends) {
      const bool goes_first = options.adopting || !first;
      if (goes_first && end.in_service && is_ours(end) == first) keep(end, end.held);
    }
  }
  if (options.adopting) keep_held(true);
  for (auto& end : ends) {
    const auto it = stored.lids.find(end.guid);
    if (it != stored.lids.end()) keep(end, it->second.base);
  }
  keep_held(true);
  keep_held(false);
}

/// The LIDs that switches can forward.
TableLimit limit_of(const Subnet& subnet, const std::vector<EndPort>& ends, Lid first) {
  std::size_t needed = 0;
  LidsBehind hosts;
  for (const auto& end : ends) {
    needed += end.count();
    if (end.host) hosts[end.leaf] += end.count();
  }
  return table_limit(subnet, hosts, needed, first);
}

/// LIDs of ports that are gone stay theirs while there is room.
void reserve_absent(const std::vector<EndPort>& ends, const Stored& stored, LidSpace& space) {
  for (const auto& [guid, range] : stored.lids) {
    const bool present = std::ranges::binary_search(ends, guid, {}, &EndPort::guid);
    const unsigned count = 1U << range.lmc;
    if (!present && space.free(range.base.value(), count)) space.take(range.base.value(), count);
  }
}

/// LIDs that ports in service have and lose now are not given to others for the time being: a newcomer that
/// got one could have it before it is given up.
void reserve_given_up(const std::vector<EndPort>& ends, LidSpace& space) {
  for (const auto& end : ends) {
    const unsigned count = 1U << end.held_lmc;
    const bool moves = end.in_service && end.held.unicast() && end.base != end.held.value();
    if (moves && end.held.value() % count == 0 && space.free(end.held.value(), count))
      space.take(end.held.value(), count);
  }
}

/// The hosts of one leaf switch, in the order of its ports.
struct Leaf {
  std::vector<EndPort*> hosts;
  unsigned block() const {  ///< LIDs of an aligned block that holds them all
    return std::bit_ceil(static_cast<unsigned>(hosts.size())) * hosts.front()->count();
  }
};

std::vector<Leaf> leaves_of(std::vector<EndPort>& ends) {
  std::map<Guid, Leaf> by_switch;
  for (auto& end : ends) {
    if (end.host) by_switch[end.leaf].hosts.push_back(&end);
  }
  std::vector<Leaf> leaves;
  for (auto& [guid, leaf] : by_switch) {
    std::ranges::sort(leaf.hosts, {}, [](const EndPort* e) { return std::pair{e->leaf_port, e->guid}; });
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

void give(EndPort& end, LidSpace& space, unsigned base) {
  end.base = base;
  space.take(base, end.count());
}

/// Newcomers on a leaf whose other hosts have LIDs already: into the holes of their blocks.
void fill_beside_siblings(Leaf& leaf, LidSpace& space) {
  std::map<unsigned, unsigned> windows;  // start of aligned block: siblings in it
  for (const auto* host : leaf.hosts) {
    if (host->base != 0) ++windows[host->base / leaf.block() * leaf.block()];
  }
  std::vector<std::pair<unsigned, unsigned>> order;  // most siblings first, then lowest
  for (const auto& [start, siblings] : windows) order.emplace_back(~siblings, start);
  std::ranges::sort(order);
  for (auto* host : leaf.hosts) {
    for (const auto& [rank, start] : order) {
      if (host->base != 0) break;
      const unsigned to = std::min(start + leaf.block() - 1, space.last());
      const auto base = space.find(host->count(), host->count(), std::max(start, space.first()), to);
      if (base) give(*host, space, *base);
    }
  }
}

/// Gives a leaf that has no LIDs yet a block of its own; the search goes on where the last one ended.
void allocate_block(Leaf& leaf, LidSpace& space, unsigned align, std::map<unsigned, unsigned>& next) {
  const unsigned per_host = leaf.hosts.front()->count();
  const unsigned count = static_cast<unsigned>(leaf.hosts.size()) * per_host;
  auto& from = next.try_emplace(align, space.first()).first->second;
  const auto base = space.find(count, align, from, space.last());
  if (!base) return;
  from = *base + count;
  for (std::size_t i = 0; i < leaf.hosts.size(); ++i) {
    give(*leaf.hosts[i], space, *base + static_cast<unsigned>(i) * per_host);
  }
}

void allocate_singly(EndPort& end, LidSpace& space, std::map<unsigned, unsigned>& next) {
  auto& from = next.try_emplace(end.count(), space.first()).first->second;
  const auto base = space.find(end.count(), end.count(), from, space.last());
  from = base ? *base + end.count() : space.last() + 1;
  if (base) give(end, space, *base);
}

bool aligned_blocks_fit(const std::vector<Leaf>& leaves, std::size_t switches, const LidSpace& space) {
  std::size_t needed = switches;
  for (const auto& leaf : leaves) needed += leaf.block();
  return needed <= space.last() - space.first() + 1U;
}

/// Who has none yet, of those that are `chosen`.
void allocate_each(std::vector<EndPort>& ends, LidSpace& space, auto&& chosen) {
  std::map<unsigned, unsigned> next;
  for (auto& end : ends) {
    if (end.base == 0 && chosen(end)) allocate_singly(end, space, next);
  }
}

bool is_switch(const EndPort& end) { return !end.host; }

/// Where not all can have one, the SM's own port comes first, then the switches: without them nothing is
/// forwarded. Where it is their tables that are too small, hosts come first: switches are reached without.
void allocate_first(std::vector<EndPort>& ends, Guid sm_port, LidSpace& space, bool hosts_first) {
  std::size_t needed = 0;
  for (const auto& end : ends) needed += end.base == 0 ? end.count() : 0;
  if (needed <= space.free_count()) return;
  allocate_each(ends, space, [&](const EndPort& end) { return end.guid == sm_port; });
  if (!hosts_first) allocate_each(ends, space, is_switch);
}

void allocate_new(std::vector<EndPort>& ends, Guid sm_port, LidSpace& space, bool hosts_first) {
  allocate_first(ends, sm_port, space, hosts_first);
  auto leaves = leaves_of(ends);
  std::size_t hosts = 0;
  for (const auto& leaf : leaves) hosts += leaf.hosts.size();
  const bool aligned = aligned_blocks_fit(leaves, ends.size() - hosts, space);
  std::map<unsigned, unsigned> next;
  for (auto& leaf : leaves) {
    const bool fresh = std::ranges::none_of(leaf.hosts, [](const EndPort* host) { return host->base != 0; });
    if (fresh) allocate_block(leaf, space, aligned ? leaf.block() : leaf.hosts.front()->count(), next);
    if (!fresh) fill_beside_siblings(leaf, space);
  }
  if (hosts_first) allocate_each(ends, space, [](const EndPort& end) { return end.host; });
  allocate_each(ends, space, [](const EndPort&) { return true; });
}

/// Switches that are left take LIDs that no table can hold.
void allocate_beyond(std::vector<EndPort>& ends, const LidOptions& options, LidSpace& space) {
  const unsigned from = std::max(options.first.value(), static_cast<std::uint16_t>(options.cap.value() + 1U));
  for (auto& end : ends) {
    if (end.host || end.base != 0) continue;
    const auto base = space.find(1, 1, from, options.last.value());
    if (!base) return;
    give(end, space, *base);
  }
}

/// LIDs and LMC as decided; `options.cap` bounds what is routed.
LidPart part_of(const std::vector<EndPort>& ends, const LidOptions& options, Guid sm_port) {
  LidPart part;
  part.lmc = options.lmc;
  for (const auto& end : ends) {
    if (end.base == 0) {
      part.without_lid.push_back(end.guid);
      continue;
    }
    part.entries.push_back({end.guid, Lid{static_cast<std::uint16_t>(end.base)}, end.lmc});
    const Lid last{static_cast<std::uint16_t>(end.base + end.count() - 1)};
    if (last <= options.cap) part.top = std::max(part.top, last);
  }
  if (const auto* entry = part.find(sm_port); entry != nullptr) part.sm_lid = entry->base;
  return part;
}

}  // namespace

std::uint8_t kept_lmc(const Subnet& subnet, const LidOptions& options, const Stored& stored) {
  const auto ends = end_ports(subnet, options);
  std::size_t hosts = 0;
  std::optional<std::uint8_t> highest;
  std::uint8_t remembered = 0;
  for (const auto& end : ends) {
    if (!end.host) continue;
    ++hosts;
    if (end.in_service && end.held.unicast()) highest = std::max(highest.value_or(0), end.held_lmc);
    if (const auto it = stored.lids.find(end.guid); it != stored.lids.end())
      remembered = std::max(remembered, it->second.lmc);
  }
  const unsigned last = std::min(options.last.value(), limit_of(subnet, ends, options.first).last.value());
  std::uint8_t lmc = std::min<std::uint8_t>(highest.value_or(remembered), 7);
  while (lmc > 0 && (hosts << lmc) + (ends.size() - hosts) + options.first.value() - 1U > last) --lmc;
  return lmc;
}

LidPart decide_lids(const Subnet& subnet, const LidOptions& given, const Stored& known) {
  const bool anew = given.reassign && given.adopting;  // once: later sweeps keep what this one gave
  const Stored nothing;
  const auto& stored = anew ? nothing : known;
  auto ends = end_ports(subnet, given);
  auto options = given;
  const auto limit = limit_of(subnet, ends, options.first);
  options.cap = std::min(given.cap, limit.last);
  options.switch_cap = limit.all_fit ? options.cap : given.cap;
  LidSpace space(options.first, std::min(options.last, options.cap));
  if (!anew) keep_valid(ends, options, stored, space);
  const auto sm_port = own_port_guid(subnet);
  LidSpace before_reserve = space;
  if (!anew) reserve_given_up(ends, space);
  reserve_absent(ends, stored, space);
  allocate_new(ends, sm_port, space, !limit.all_fit);
  if (std::ranges::any_of(ends, [](const EndPort& end) { return end.base == 0; })) {
    // Too full to keep the absent ones' LIDs: those present come first.
    for (const auto& end : ends) {
      if (end.base != 0) before_reserve.take(end.base, end.count());
    }
    allocate_new(ends, sm_port, before_reserve, !limit.all_fit);
    if (!limit.all_fit) allocate_beyond(ends, options, before_reserve);
  }
  auto part = part_of(ends, options, sm_port);
  if (!limit.all_fit) part.not_held_from = limit.last.value() + 1U;
  return part;
}

const LidPart::Entry* LidPart::find(Guid port) const {
  const auto it = std::ranges::lower_bound(entries, port, {}, &Entry::port);
  return it != entries.end() && it->port == port ? &*it : nullptr;
}

const std::shared_ptr<const routing::LftRow>* RoutePart::find(Guid node) const {
  const auto it = std::ranges::lower_bound(rows, node, {}, &Row::node);
  return it != rows.end() && it->node == node ? &it->row : nullptr;
}

}  // namespace smd::sm::inline decisions
