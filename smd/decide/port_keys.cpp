// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/port_keys.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "smd/decide/known_keys.h"
#include "smd/decide/pkeys.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/enforcement.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline decisions {
namespace {

using Keys = std::vector<PKey>;
using PortKeys = Stored::PortKeys;

/// Rows are written anew for the time alone once a day.
constexpr std::int64_t kSeenAgain = std::int64_t{24} * 3600;

/// The switch port that leads to an end port of another node.
const Port* switch_port(const Subnet& subnet, const Node& node, const Port& port) {
  const auto* peer = !node.is_switch() && port.peer ? subnet.find(port.peer->node) : nullptr;
  if (peer == nullptr || !peer->is_switch() || port.peer->port.value() >= peer->ports.size()) return nullptr;
  return &peer->ports[port.peer->port.value()];
}

const Keys kOpen{kDefaultPKey};

bool is_tenants(PKey key) { return key != PKey{} && !key.same_partition(kDefaultPKey); }

/// Every port is a full member of the default partition and has no other key.
bool is_open(const Subnet& subnet, const Stored& stored) {
  for (const auto& [port, row] : stored.port_keys) {
    if (row.keys != kOpen && !row.keys.empty()) return false;
  }
  bool open = true;
  for_each_end_port(subnet, [&](const Node& node, PortNum, const Port& port) {
    if (!open || !is_in_service(node, port)) return;
    const auto keys = known_keys(port);
    open = !keys || keys->empty() || *keys == kOpen;
  });
  return open;
}

class Restorer {
 public:
  Restorer(const Subnet& subnet, const Stored& stored, bool adopting, PartitionPart& part, PKeyPart& tables)
      : subnet_(subnet), stored_(stored), adopting_(adopting), part_(part), tables_(tables) {}

  void run() {
    for_each_end_port(subnet_, [&](const Node& node, PortNum num, const Port& port) {
      if (is_in_service(node, port)) return look_at_its_switch(node, num, port);
      if (!node.is_switch() && !port.linked()) return;
      const auto held = known_keys(port);
      if (!held) return;
      const auto row = stored_.port_keys.find(port_guid(node, num));
      if (row != stored_.port_keys.end()) {
        restore(node, num, *held, row->second);
      } else if (is_as_made(*held) || !adopting_) {
        begin(node, num, *held);
      }
      if (const auto* next = switch_port(subnet_, node, port))
        decide_switch_port(*port.peer, *next, row != stored_.port_keys.end() ? &row->second : nullptr);
    });
    const auto place = [](const auto& one) { return std::pair(one.at.node, one.at.port); };
    std::ranges::sort(part_.enforced, {}, place);
    std::ranges::sort(part_.not_enforced, {}, place);
  }

 private:
  void restore(const Node& node, PortNum num, const Keys& held, const PortKeys& row) {
    const auto keys = with_first(row.keys);
    if (held == keys || keys.size() > pkey_capacity(node, num)) return;
    const PeerPort at{node.guid(), num};
    add_pkey_blocks(at, keys, *node.ports[num.value()].held<wire::PKeyTable>(), tables_);
    part_.restored.push_back({at, keys});
  }

  /// A port in service keeps an index 0 that its key has left; one that begins anew has a key there.
  static Keys with_first(Keys keys) {
    if (keys.empty() || keys.front() != PKey{}) return keys;
    const auto is_default = [](PKey key) { return key.same_partition(kDefaultPKey); };
    auto first = std::ranges::find_if(keys, is_default);
    if (first == keys.end()) first = std::ranges::find_if(keys, [](PKey key) { return key != PKey{}; });
    if (first != keys.end()) std::swap(*first, keys.front());
    while (!keys.empty() && keys.back() == PKey{}) keys.pop_back();
    return keys;
  }

  /// A new port gets what all others have, where that is the same for all; else it can talk to full members
  /// alone. Keys that it brings from elsewhere would be those of tenants here.
  void begin(const Node& node, PortNum num, const Keys& held) {
    if (!open_) open_ = is_open(subnet_, stored_);
    const Keys wanted{*open_ ? kDefaultPKey : PKey{kDefaultPKey.partition()}};
    const bool made = is_as_made(held);
    if (held == wanted || (*open_ && made && !held.empty()) || pkey_capacity(node, num) == 0) return;
    if (!*open_ || !made) {
      Keys had;
      std::ranges::copy_if(held, std::back_inserter(had), is_tenants);
      part_.new_ports.push_back({{node.guid(), num}, wanted.front(), std::move(had)});
    }
    add_pkey_blocks({node.guid(), num}, wanted, *node.ports[num.value()].held<wire::PKeyTable>(), tables_);
  }

  /// Table and bits belong to the node behind the port: they come with it, and are cleared for another one. A
  /// table that was not answered is written all the same: the port would let everything pass.
  void decide_switch_port(const PeerPort& at, const Port& port, const PortKeys* row) {
    const auto& table = port.held<wire::PKeyTable>();
    const auto held = known_keys(port);
    const auto& node = *subnet_.find(at.node);
    const bool for_another = enforces_for_another(subnet_, node, at.port);
    if (row != nullptr && !node.switch_info && (for_another || lets_more_pass(port.info, *row)))
      return hold_back(at, port, *row);
    const std::size_t capacity = pkey_capacity(node, at.port);
    if (row != nullptr && node.switch_info && (row->in || row->out) && row->at_switch.size() > capacity)
      leave_open(at, capacity, *row, false);
    if (!table || table->row.empty() || (row == nullptr && !for_another)) return;
    static const PortKeys kNothing;
    const auto& wanted = row != nullptr ? *row : kNothing;
    const bool matters = wanted.in || wanted.out || for_another || (held && !is_as_made(*held)) ||
                         !is_as_made(wanted.at_switch);
    if (!matters || wanted.at_switch.size() > capacity) return;
    part_.enforced.push_back({at, wanted.in, wanted.out});
    if (held == wanted.at_switch) return;
    add_pkey_blocks(at, wanted.at_switch, *table, tables_);
    if (!wanted.at_switch.empty()) part_.restored.push_back({at, wanted.at_switch});
  }

  /// Of a link in service: the switch port has lost its table by a restart, and a Set that was to bring it
  /// back was not answered or refused. What another program has changed stays.
  void look_at_its_switch(const Node& node, PortNum num, const Port& port) {
    const auto* next = adopting_ ? nullptr : switch_port(subnet_, node, port);
    const auto row = stored_.port_keys.find(port_guid(node, num));
    if (next == nullptr || row == stored_.port_keys.end() || !lets_more_pass(next->info, row->second)) return;
    const auto held = known_keys(*next);
    const bool is_known = subnet_.find(port.peer->node)->switch_info.has_value();
    if (is_known && held && is_as_made(*held)) decide_switch_port(*port.peer, *next, &row->second);
  }

  static bool lets_more_pass(const wire::PortInfo& info, const PortKeys& row) {
    return (row.in && !info.partition_enforce_in) || (row.out && !info.partition_enforce_out);
  }

  /// Without SwitchInfo no table can be written. Once the link is in service nothing would be given back. Our
  /// own port goes on: the fabric has no other SM.
  void hold_back(const PeerPort& at, const Port& port, const PortKeys& row) {
    const bool is_ours =
        port.peer && port.peer->node == subnet_.sm_node && port.peer->port == subnet_.sm_port;
    if (is_ours || !(row.in || row.out)) return;
    leave_open(at, 0, row, true);
  }

  void leave_open(const PeerPort& at, std::size_t capacity, const PortKeys& row, bool held_back) {
    part_.not_enforced.push_back(
        {.at = at, .capacity = capacity, .keys = row.at_switch.size(), .held_back = held_back});
  }

  const Subnet& subnet_;
  const Stored& stored_;
  bool adopting_;
  PartitionPart& part_;
  PKeyPart& tables_;
  std::optional<bool> open_;
};

/// What the port of a switch has that leads to the end port. False, and nothing is noted: it enforces by a
/// table that is not known.
bool note_switch_port(const Subnet& subnet, const Node& node, const Port& port, PortKeys& row) {
  const auto* next = switch_port(subnet, node, port);
  if (next == nullptr) return true;
  auto keys = known_keys(*next);
  if (!keys && enforces(next->info)) return false;
  row.at_switch = std::move(keys).value_or(Keys{});
  row.in = next->info.partition_enforce_in;
  row.out = next->info.partition_enforce_out;
  return true;
}

}  // namespace

bool note_port_keys(Stored& stored, const Subnet& subnet, bool adopting, std::int64_t now) {
  bool changed = false;
  std::set<Guid> there;
  for_each_end_port(subnet, [&](const Node& node, PortNum num, const Port& port) {
    const auto guid = port_guid(node, num);
    there.insert(guid);
    const auto keys = known_keys(port);
    if (!keys || !is_in_service(node, port)) return;
    const auto at = stored.port_keys.find(guid);
    const bool known = at != stored.port_keys.end();
    if (known && !adopting) {
      if (now - at->second.seen < kSeenAgain) return;
      at->second.seen = now;
      changed = true;
      return;
    }
    PortKeys row{.keys = *keys, .at_switch = {}, .in = false, .out = false, .seen = now};
    if (!note_switch_port(subnet, node, port, row)) return;  // it is noted when it is known
    if (known && now - at->second.seen < kSeenAgain) row.seen = at->second.seen;
    if (known && at->second == row) return;
    stored.port_keys.insert_or_assign(guid, std::move(row));
    changed = true;
  });
  const auto forgotten = std::erase_if(stored.port_keys, [&](const auto& row) {
    return now - row.second.seen > kPortKeysKept && !there.contains(row.first);
  });
  return changed || forgotten != 0;
}

bool is_foreign_key(const config::PartitionPolicy& policy, const Stored& stored, Guid port, PKey key) {
  if (key == PKey{} || policy.find(key) != nullptr) return false;
  const auto& rows = stored.pkeys;
  return !rows.contains({port, key}) && !rows.contains({port, key.full()}) &&
         !rows.contains({port, PKey{key.partition()}});
}

namespace {

/// Rows as they are to be while partitions are managed.
class ForeignKeys {
 public:
  ForeignKeys(const Stored& stored, const config::PartitionPolicy& policy)
      : stored_(stored), policy_(policy) {}

  bool has_any(Guid port, const Keys& keys) const {
    return std::ranges::any_of(keys, [&](PKey key) { return is_foreign_key(policy_, stored_, port, key); });
  }
  /// Those of partitions are decided, and would come back when their partition is gone.
  Keys without_ours(Guid port, Keys keys) const {
    for (auto& key : keys) {
      if (!key.same_partition(kDefaultPKey) && !is_foreign_key(policy_, stored_, port, key)) key = PKey{};
    }
    while (!keys.empty() && keys.back() == PKey{}) keys.pop_back();
    return keys;
  }

 private:
  const Stored& stored_;
  const config::PartitionPolicy& policy_;
};

}  // namespace

bool note_foreign_keys(Stored& stored, const Subnet& subnet, const PartitionPart& part, bool adopting,
                       std::int64_t now) {
  std::map<Guid, PortKeys> rows;
  if (part.keeps_foreign && part.policy) {
    const ForeignKeys foreign(stored, *part.policy);
    for (const auto& [port, row] : stored.port_keys) {
      auto keys = foreign.without_ours(port, row.keys);
      if (!keys.empty() && now - row.seen <= kPortKeysKept)
        rows.emplace(port, PortKeys{.keys = std::move(keys),
                                    .at_switch = foreign.without_ours(port, row.at_switch),
                                    .in = row.in,
                                    .out = row.out,
                                    .seen = row.seen});
    }
    for_each_end_port(subnet, [&](const Node& node, PortNum num, const Port& port) {
      const auto guid = port_guid(node, num);
      const auto held = known_keys(port);
      if (!held || !is_in_service(node, port)) return;
      const auto at = rows.find(guid);
      const bool anew = adopting || at == rows.end();
      const auto& keys = anew ? *held : at->second.keys;
      if (!foreign.has_any(guid, keys)) {
        rows.erase(guid);
        return;
      }
      const bool seen_lately = at != rows.end() && now - at->second.seen < kSeenAgain;
      auto row = at != rows.end() ? at->second : PortKeys{};
      if (!seen_lately) row.seen = now;
      row.keys = foreign.without_ours(guid, keys);
      note_switch_port(subnet, node, port, row);  // it counts when no partition is left
      row.at_switch = foreign.without_ours(guid, std::move(row.at_switch));
      rows.insert_or_assign(guid, std::move(row));
    });
  }
  if (rows == stored.port_keys) return false;
  stored.port_keys = std::move(rows);
  return true;
}

void restore_port_keys(const Subnet& subnet, const Stored& stored, bool adopting, PartitionPart& part,
                       PKeyPart& tables) {
  Restorer(subnet, stored, adopting, part, tables).run();
}

}  // namespace smd::sm::inline decisions
