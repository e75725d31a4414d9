// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/partitions.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "smd/decide/found_defaults.h"
#include "smd/decide/pkey_placement.h"
#include "smd/decide/pkeys.h"
#include "smd/decide/port_keys.h"
#include "smd/decide/port_views.h"
#include "smd/decide/sm_ports.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline decisions {
namespace {

using Keys = std::vector<PKey>;

/// A partition that a port is a member of.
struct Claim {
  std::uint32_t view = 0;
  bool other = true;  ///< not the default partition, nor at index 0: those have room first
  std::uint32_t order = 0;
  PKey pkey{};
  config::Membership membership = config::Membership::limited;
  bool index0 = false;
  auto rank() const { return std::tuple(other, order, pkey); }
};

constexpr auto kPlace = [](const auto& one) { return std::pair(one.at.node, one.at.port); };

/// `list` ascends by kPlace; null where nothing is at `at`.
template <class T>
const T* find_at(const std::vector<T>& list, const PeerPort& at) {
  const auto found = std::ranges::lower_bound(list, std::pair(at.node, at.port), {}, kPlace);
  return found != list.end() && found->at == at ? &*found : nullptr;
}

/// As OpenSM has it: in the order of the end port's table, limited members left out where the port is a full
/// member too.
Keys compact(const Keys& keys) {
  Keys found;
  for (const auto key : keys) {
    if (key == PKey{}) continue;  // most entries of most tables
    const bool twice = !key.full_member() && std::ranges::find(keys, key.full()) != keys.end();
    if (!twice) found.push_back(key);
  }
  return found;
}

/// Of the keys of a table those that there is room for, in their order: that of the default partition first,
/// then those that the port checks already, whichever membership of them.
Keys fitting(const Keys& table, const Keys& held, std::size_t room) {
  const auto rank = [&](PKey key) {
    if (key.same_partition(kDefaultPKey)) return 0;
    return std::ranges::any_of(held, [&](PKey has) { return has.same_partition(key); }) ? 1 : 2;
  };
  Keys chosen, found;
  for (const int now : {0, 1, 2}) {
    for (const auto key : table) {
      if (chosen.size() < room && rank(key) == now) chosen.push_back(key);
    }
  }
  std::ranges::copy_if(table, std::back_inserter(found),
                       [&](PKey key) { return std::ranges::find(chosen, key) != chosen.end(); });
  return found;
}

class Partitions {
 public:
  Partitions(const PartitionInput& in, PartitionDecision& out)
      : in_(in), out_(out), ports_(port_views(in.subnet, &in.stored)), found_(in.subnet, in.stored) {}

  void decide() {
    const config::PortIndex index(ports_.views);
    const auto self = own_port_guid(in_.subnet);
    for (const auto& at : out_.part.sm_ports) sms_.push_back(port_guid(*in_.subnet.find(at.node), at.port));
    auto resolved = config::resolve_partitions(*in_.policy, index, self, sms_);
    for (std::size_t i = 0; i < resolved.size(); ++i) add_members(in_.policy->partitions[i], resolved[i]);
    const auto firsts = sort_claims();
    for (std::uint32_t view = 0; view < ports_.views.size(); ++view)
      decide_port(view, std::span(claims_).subspan(firsts[view], firsts[view + 1] - firsts[view]));
    std::ranges::sort(out_.part.placed);
    std::ranges::sort(out_.part.enforced, {}, kPlace);
    std::ranges::sort(out_.part.not_enforced, {}, kPlace);
    out_.compared = std::make_shared<const ComparedPKeys>(in_.subnet.nodes, std::move(differing_));
  }

 private:
  void add_members(const config::PolicyPartition& partition, config::ResolvedPartition& resolved) {
    auto& part = out_.part.partitions.emplace_back();
    part.pkey = partition.pkey;
    part.pending = std::move(resolved.pending);
    const bool is_default = partition.pkey == config::kDefaultPartition;
    for (const auto& member : resolved.members) {
      const auto& view = ports_.views[member.port];
      const bool as_found = is_default && in_.policy->default_as_found && member.rule == 0 &&
                            std::ranges::find(sms_, view.port_guid) == sms_.end();
      const auto membership = as_found ? found_.membership(ports_.places[member.port]) : member.membership;
      part.members.push_back({view.port_guid, ports_.places[member.port], membership, member.index0});
      const auto order = member.rule == config::kBuiltInRule ? 0 : partition.order_of(member.rule);
      claims_.push_back({.view = member.port,
                         .other = !is_default && !member.index0,
                         .order = order,
                         .pkey = partition.pkey,
                         .membership = membership,
                         .index0 = member.index0});
    }
    std::ranges::sort(part.members, {}, &PartitionPart::Member::port);
  }

  /// By port, then by rank. Where those of each port begin, and the end of all.
  std::vector<std::size_t> sort_claims() {
    std::vector<std::size_t> firsts(ports_.views.size() + 1);
    for (const auto& claim : claims_) ++firsts[claim.view + 1U];
    std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
    std::vector<Claim> sorted(claims_.size());
    auto place = firsts;
    for (const auto& claim : claims_) sorted[place[claim.view]++] = claim;
    claims_ = std::move(sorted);
    for (std::size_t view = 0; view < ports_.views.size(); ++view)
      std::ranges::sort(std::span(claims_).subspan(firsts[view], firsts[view + 1] - firsts[view]), {},
                        &Claim::rank);
    return firsts;
  }

  /// Of both keys opensm has the limited one at index 0.
  static void add_keys(const Claim& claim, std::vector<WantedKey>& keys) {
    using enum config::Membership;
    if (claim.membership == full) keys.push_back({claim.pkey.full(), claim.index0});
    if (claim.membership == both) keys.push_back({claim.pkey.full(), false});
    if (claim.membership != full) keys.push_back({claim.pkey, claim.index0});
  }

  bool is_foreign(Guid port, PKey key) const {
    return out_.part.keeps_foreign && is_foreign_key(*in_.policy, in_.stored, port, key);
  }

  /// A table that was lost has the default key at index 0. Where a foreign key was there this key gets its
  /// index back, and the default key the one that it had. `row`: what is stored of the port.
  void free_index0(Guid guid, const Keys& row, PlacementInput& input) const {
    if (row.empty() || !is_foreign(guid, row[0]) || input.held.empty()) return;
    const bool told = std::ranges::find(input.keys, true, &WantedKey::index0) != input.keys.end();
    const bool ours =
        std::ranges::find(input.stored, 0, &std::pair<PKey, std::uint16_t>::second) != input.stored.end();
    if (told || ours || !input.held[0].same_partition(kDefaultPKey)) return;
    input.held[0] = PKey{};
    const auto is_default = [](PKey key) { return key.same_partition(kDefaultPKey); };
    const auto at = std::ranges::find_if(row, is_default);
    if (at != row.end() &&
        std::ranges::none_of(input.stored, is_default, &std::pair<PKey, std::uint16_t>::first))
      input.stored.emplace_back(*at, static_cast<std::uint16_t>(at - row.begin()));
  }

  /// A port that has lost its table gets foreign keys back, at their indexes where these are free.
  Keys give_back(Guid guid, PlacementInput& input) const {
    Keys given;
    const auto row = in_.stored.port_keys.find(guid);
    if (input.in_service || row == in_.stored.port_keys.end()) return given;
    free_index0(guid, row->second.keys, input);
    const auto is_free = [&](std::size_t index) {
      return input.held[index] == PKey{} &&
             std::ranges::find(input.stored, index, &std::pair<PKey, std::uint16_t>::second) ==
                 input.stored.end();
    };
    for (std::size_t i = 0; i < row->second.keys.size(); ++i) {
      const auto key = row->second.keys[i];
      if (key == PKey{} || !is_foreign(guid, key) || std::ranges::find(input.held, key) != input.held.end())
        continue;
      auto index = i;
      if (index >= input.held.size() || !is_free(index)) {
        for (index = 1; index < input.held.size() && !is_free(index);) ++index;
      }
      if (index >= input.held.size()) break;
      input.held[index] = key;
      input.kept.push_back(static_cast<std::uint16_t>(index));
      given.push_back(key);
    }
    std::ranges::sort(input.kept);
    return given;
  }

  /// The key of ours that was at this index, and is nowhere now; PKey{}: there is none.
  static PKey overwritten(const PlacementInput& input, std::size_t index) {
    for (const auto& [key, at] : input.stored) {
      const bool wanted = std::ranges::find(input.keys, key, &WantedKey::key) != input.keys.end();
      if (at == index && wanted && std::ranges::find(input.held, key) == input.held.end()) return key;
    }
    return {};
  }

  PlacementInput placement_input(const Node& node, PortNum num, std::span<const Claim> claims) const {
    const auto& port = node.ports[num.value()];
    const auto guid = port_guid(node, num);
    PlacementInput input;
    for (const auto& claim : claims) add_keys(claim, input.keys);
    input.held = keys_of(*port.held<wire::PKeyTable>());
    input.held.resize(pkey_capacity(node, num));
    for (auto row = in_.stored.pkeys.lower_bound({guid, PKey{}});
         row != in_.stored.pkeys.end() && row->first.first == guid; ++row)
      input.stored.emplace_back(row->first.second, row->second);
    for (std::size_t i = 0; i < input.held.size(); ++i) {
      if (!is_foreign(guid, input.held[i])) continue;
      const auto ours = in_.adopting ? PKey{} : overwritten(input, i);
      if (ours == PKey{}) input.kept.push_back(static_cast<std::uint16_t>(i));
      if (ours != PKey{}) input.held[i] = ours;
    }
    input.in_service = port.info.port_state > PortState::init;
    input.held_first = in_.adopting && input.in_service;
    input.reindex = in_.reindex != nullptr && in_.reindex->contains(guid);
    return input;
  }

  /// The port did not show its table, and may go Active with the keys that its reset left: what passes is up
  /// to the switch. One in service may have foreign keys, and the port before it stays as it is.
  void decide_unread(const Node& node, const Port& port, std::span<const Claim> claims) {
    if (node.is_switch() || !port.peer || port.info.port_state > PortState::init) return;
    std::vector<WantedKey> wanted;
    for (const auto& claim : claims) add_keys(claim, wanted);
    Keys keys;
    std::ranges::transform(wanted, std::back_inserter(keys), &WantedKey::key);
    decide_peer(*port.peer, keys);
  }

  void decide_port(std::uint32_t view, std::span<const Claim> claims) {
    const auto& at = ports_.places[view];
    const auto& node = *in_.subnet.find(at.node);
    const auto& port = node.ports[at.port.value()];
    const auto& held = port.held<wire::PKeyTable>();
    if (!held || held->known.empty()) return decide_unread(node, port, claims);
    auto input = placement_input(node, at.port, claims);
    const auto guid = port_guid(node, at.port);
    if (auto given = give_back(guid, input); !given.empty())
      out_.part.restored.push_back({at, std::move(given)});
    auto placed = place_keys(input);
    while (!placed.table.empty() && placed.table.back() == PKey{}) placed.table.pop_back();
    if (!placed.left_out.empty())
      out_.part.no_room.push_back({at, input.held.size(), std::move(placed.left_out)});
    for (std::size_t i = 0; i < placed.table.size(); ++i) {
      const auto key = placed.table[i];
      if (key != PKey{} && std::ranges::find(input.keys, key, &WantedKey::key) != input.keys.end())
        out_.part.placed.push_back({guid, key, static_cast<std::uint16_t>(i)});
    }
    add_blocks(at, placed.table, *held);
    if (!node.is_switch() && port.peer) decide_peer(*port.peer, placed.table);
  }

  /// The port of a switch that leads to an end port with these keys.
  void decide_peer(const PeerPort& at, const Keys& keys) {
    const auto* node = in_.subnet.find(at.node);
    if (node == nullptr || !node->is_switch() || at.port.value() >= node->ports.size()) return;
    const auto mode = in_.config.partitions.enforcement;
    if (mode == config::Enforcement::off) return enforce(at, false, false);
    const bool required = in_.config.partitions.enforcement_required;
    if (!node->switch_info) {  // it was not answered: a port in service goes on as it is
      const auto& info = node->ports[at.port.value()].info;
      const bool held_back = required && info.port_state != PortState::active;
      if (held_back || !enforces(info))
        out_.part.not_enforced.push_back(
            {.at = at, .capacity = 0, .keys = compact(keys).size(), .held_back = held_back});
      return;
    }
    const auto& info = *node->switch_info;
    const bool can = !required || !forgets_enforcement(*node, at.port);
    const bool in = can && mode != config::Enforcement::out && info.inbound_enforcement;
    const bool out = can && mode != config::Enforcement::in && info.outbound_enforcement;
    auto table = compact(keys);
    const auto& port = node->ports[at.port.value()];
    const auto& held = port.held<wire::PKeyTable>();
    const std::size_t capacity = in || out ? pkey_capacity(*node, at.port) : 0;
    if (table.size() > capacity || !(in || out)) {
      out_.part.not_enforced.push_back(
          {.at = at, .capacity = capacity, .keys = table.size(), .held_back = required});
      // A link that is Active cannot wait in Armed: what does not fit is left out.
      const bool narrows = required && capacity != 0 && port.info.port_state == PortState::active;
      if (!narrows) return enforce(at, false, false);
      table = fitting(table, held ? keys_of(*held) : Keys{}, capacity);
    }
    if (!held || held->row.empty()) return;  // lost with a Set: the next sweep reads it
    // One that was not answered is written all the same: the port would let everything pass.
    add_blocks(at, table, *held);
    enforce(at, in, out);
  }

  void add_blocks(const PeerPort& at, const Keys& keys, const HeldBlocks<wire::PKeyTable>& held) {
    const auto first = out_.tables.blocks.size();
    add_pkey_blocks(at, keys, held, out_.tables);
    if (!holds(held, std::span(out_.tables.blocks).subspan(first))) differing_.push_back(at.node);
  }

  void enforce(const PeerPort& at, bool in, bool out) { out_.part.enforced.push_back({at, in, out}); }

  const PartitionInput& in_;
  PartitionDecision& out_;
  PortViews ports_;
  FoundDefaults found_;
  std::vector<Guid> sms_;  ///< port GUIDs of PartitionPart::sm_ports
  std::vector<Claim> claims_;
  std::vector<Guid> differing_;
};

}  // namespace

PartitionDecision decide_partitions(const PartitionInput& in) {
  PartitionDecision decision;
  decision.part.policy = in.policy;
  decision.part.managed = in.policy && (in.policy->configured || in.was_managed);
  decision.part.enforcement_required = in.config.partitions.enforcement_required;
  decision.part.keeps_foreign = in.config.adopt.foreign_pkeys == config::ForeignPKeys::keep;
  decision.part.sm_ports = sm_ports(in.subnet, in.config.sm);
  if (decision.part.managed) {
    Partitions(in, decision).decide();
  } else {
    restore_port_keys(in.subnet, in.stored, in.adopting, decision.part, decision.tables);
    decide_sm_pkeys(in.subnet, decision.part.sm_ports, decision.tables);
    // The blocks of a port stand together.
    std::ranges::sort(decision.tables.blocks, {},
                      [](const auto& one) { return std::tuple(one.at.node, one.at.port, one.block); });
  }
  return decision;
}

const PartitionPart::Enforced* PartitionPart::find_enforced(const PeerPort& at) const {
  return find_at(enforced, at);
}

bool PartitionPart::holds_back(const PeerPort& at) const {
  const auto* found = find_at(not_enforced, at);
  return found != nullptr && found->held_back;
}

}  // namespace smd::sm::inline decisions
