// SPDX-License-Identifier: Apache-2.0
#include "smd/report/partitions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/decide/known_keys.h"
#include "smd/decide/sm_ports.h"
#include "smd/report/description.h"

namespace smd::sm::inline reports {
namespace {

/// Lines of one kind at a time, and keys in one of them.
constexpr std::size_t kPartitionLines = 10, kKeysOfLine = 16;

void log_sm_ports(const log::Log& log, const Subnet& subnet, const std::vector<PeerPort>& sms,
                  const PKeyPart& part) {
  const auto is_of_sm = [&](const PeerPort& at) {
    return std::ranges::any_of(
        sms, [&](const PeerPort& sm) { return sm == at || switch_port_of(subnet, sm) == at; });
  };
  for (const auto& block : part.blocks) {
    if (!is_of_sm(block.at)) continue;
    log.info("partition.sm_port")
        .port(block.at.node, description_of(subnet, block.at.node), block.at.port)
        .kv("action",
            "becomes a full member of the default partition: limited members reach the SM by it alone");
  }
  for (const auto& at : part.no_room) {
    log.warn("partition.no_room")
        .port(at.node, description_of(subnet, at.node), at.port)
        .kv("pkey", kDefaultPKey)
        .kv("reason", "its P_Key table is full: limited members may not reach the SM");
  }
}

void log_managed(const log::Log& log, const PartitionPart& part) {
  std::size_t members = 0, pending = 0;
  for (const auto& partition : part.partitions) {
    members += partition.members.size();
    pending += partition.pending.size();
  }
  log.info("partition.managed")
      .kv("partitions", part.partitions.size())
      .kv("members", members)
      .kv("pending", pending)
      .kv("default", part.policy->default_as_found ? "as found" : "as configured")
      .always();
}

/// A line for each of `now` that is not in `before`; `add` says what is wrong with it.
template <class T, class Add>
void log_new(const log::Log& log, std::string_view event, const Subnet& subnet, const std::vector<T>& before,
             const std::vector<T>& now, Add add) {
  std::size_t lines = 0;
  for (const auto& one : now) {
    if (std::ranges::find(before, one) != before.end() || ++lines > kPartitionLines) continue;
    auto&& line = log.error(event);
    line.port(one.at.node, description_of(subnet, one.at.node), one.at.port).kv("capacity", one.capacity);
    add(line, one);
    line.always();  // the one before may have named other keys
  }
  if (lines > kPartitionLines) log.error(event).kv("ports", lines).kv("not_named", lines - kPartitionLines);
}

void log_foreign_lost(const log::Log& log, const Subnet& subnet, const Stored& stored,
                      const PartitionPart& before, const PartitionPart& now) {
  const auto lost = lost_foreign_keys(subnet, stored, &before, now);
  for (const auto& one : lost | std::views::take(kPartitionLines)) {
    log.warn("partition.takes_foreign_key")
        .kv("partition", one.partition)
        .kv("pkey", one.pkey)
        .kv("by", one.source)
        .kv("ports", one.ports.size() + one.off.size())
        .kv("reason", to_string(one, subnet))
        .always();
  }
  if (lost.size() > kPartitionLines)
    log.warn("partition.takes_foreign_key")
        .kv("partitions", lost.size())
        .kv("not_named", lost.size() - kPartitionLines);
}

void log_no_room(const log::Log& log, const Subnet& subnet, const PartitionPart& before,
                 const PartitionPart& now) {
  log_new(log, "partition.no_room", subnet, before.no_room, now.no_room,
          [](auto& line, const PartitionPart::NoRoom& one) {
            line.kv("left_out", listed(one.left_out, kKeysOfLine)).kv("reason", "its P_Key table is full");
          });
}

std::string_view not_enforced_reason(const Subnet& subnet, const PartitionPart::NotEnforced& one) {
  const auto* node = subnet.find(one.at.node);
  if (node != nullptr && !node->switch_info) return "the switch does not answer SwitchInfo";
  return one.capacity == 0 ? "the switch does not enforce partitions"
                           : "the switch's P_Key table is too small";
}

std::string_view not_enforced_action(const PartitionPart::NotEnforced& one, bool managed) {
  if (!one.held_back) return "the switch port lets packets of all partitions pass";
  if (!managed)
    return "the link stays in Init until the port can have back what another SM has told it to check";
  return one.capacity == 0 ? "a link that is not Active yet stays Armed; an Active one lets packets of all "
                             "partitions pass"
                           : "a link that is not Active yet stays Armed; at an Active one the switch passes "
                             "packets of the keys alone that fit";
}

void log_not_enforced(const log::Log& log, const Subnet& subnet, const PartitionPart& before,
                      const PartitionPart& now) {
  log_new(log, "partition.not_enforced", subnet, before.not_enforced, now.not_enforced,
          [&](auto& line, const PartitionPart::NotEnforced& one) {
            line.kv("pkeys", one.keys)
                .kv("reason", not_enforced_reason(subnet, one))
                .kv("action", not_enforced_action(one, now.managed));
          });
}

/// Partitions of the API whose members are a file's now, and those that are the API's again.
void log_taken_over(const log::Log& log, const config::PartitionPolicy* before,
                    const config::PartitionPolicy& now) {
  const auto had = before != nullptr ? before->taken_over : std::vector<config::TakenOver>{};
  for (const auto& one : now.taken_over) {
    if (std::ranges::find(had, one) != had.end()) continue;
    log.warn("partition.taken_over")
        .kv("partition", one.name)
        .kv("pkey", one.pkey)
        .kv("by", to_string(one.by, now))
        .kv("action", "its members are those of the file; those of the API are kept")
        .always();
  }
  for (const auto& one : had) {
    if (std::ranges::find(now.taken_over, one.name, &config::TakenOver::name) != now.taken_over.end())
      continue;
    if (const auto* there = now.find(one.pkey); there != nullptr && there->name == one.name)
      log.info("partition.given_back").kv("partition", one.name).kv("pkey", one.pkey).always();
  }
}

void log_shared_names(const log::Log& log, const config::PartitionPolicy* before,
                      const config::PartitionPolicy& now) {
  const auto had = before != nullptr ? shared_names(*before) : std::vector<SharedName>{};
  for (const auto& one : shared_names(now)) {
    if (std::ranges::find(had, one) != had.end()) continue;
    log.warn("partition.name_shared")
        .kv("partition", one.name)
        .kv("pkey", one.of_api)
        .kv("of_file", one.of_file)
        .kv("by", one.source)
        .kv("action", "that of the API can only be deleted until one of the two has another name")
        .always();
  }
}

void log_sls_of_class(const log::Log& log, const config::PartitionPolicy* before,
                      const config::PartitionPolicy& now) {
  const auto had = before != nullptr ? before->sls_of_class : std::vector<config::SlOfClass>{};
  for (const auto& one : now.sls_of_class) {
    if (std::ranges::find(had, one) != had.end()) continue;
    log.warn("partition.sl_of_class")
        .kv("partition", one.name)
        .kv("pkey", one.pkey)
        .kv("asked", one.asked)
        .kv("sl", one.sl)
        .kv("action", "it has the SL of its traffic class; put it without an SL, or list it in a class")
        .always();
  }
}

bool is_switch(const Subnet& subnet, Guid guid) {
  const auto* node = subnet.find(guid);
  return node != nullptr && node->is_switch();
}

/// Its link was down, and nothing was lost by that: it has all these keys, and none at index 0.
bool gets_index0_alone(const Subnet& subnet, const PeerPort& at, std::span<const PKey> keys) {
  const auto* node = subnet.find(at.node);
  if (node == nullptr || !is_end_port(*node, at.port)) return false;
  const auto held = known_keys(node->ports[at.port.value()]);
  if (!held || held->empty() || held->front() != PKey{}) return false;
  return std::ranges::all_of(
      keys, [&](PKey key) { return key == PKey{} || std::ranges::find(*held, key) != held->end(); });
}

void log_restored_port(const log::Log& log, const Subnet& subnet, const PartitionPart::Restored& one) {
  const auto name = description_of(subnet, one.at.node);
  if (gets_index0_alone(subnet, one.at, one.keys)) {
    log.info("partition.index0")
        .port(one.at.node, name, one.at.port)
        .kv("was", PKey{})
        .kv("is", one.keys.front())
        .kv("reason", "index 0 was empty, and the link comes up anew")
        .always();
    return;
  }
  log.info("partition.restored")
      .port(one.at.node, name, one.at.port)
      .kv("pkeys", listed(one.keys, kKeysOfLine))
      .kv("reason", one.at.port != PortNum{0} && is_switch(subnet, one.at.node)
                        ? "table and enforcement bits belong to the node behind the port"
                        : "its table was lost by a restart");
}

/// Ports that get back what another SM had given them, and new ones.
void log_restored(const log::Log& log, const Subnet& subnet, const PartitionPart& before,
                  const PartitionPart& now) {
  std::size_t restored = 0, fresh = 0;
  for (const auto& one : now.restored) {
    if (std::ranges::find(before.restored, one) != before.restored.end() || ++restored > kPartitionLines)
      continue;
    log_restored_port(log, subnet, one);
  }
  if (restored > kPartitionLines)
    log.info("partition.restored").kv("ports", restored).kv("not_named", restored - kPartitionLines);
  for (const auto& one : now.new_ports) {
    if (std::ranges::find(before.new_ports, one) != before.new_ports.end() || ++fresh > kPartitionLines)
      continue;
    auto line = log.warn("partition.new_port");
    line.port(one.at.node, description_of(subnet, one.at.node), one.at.port).kv("pkey", one.pkey);
    if (!one.had.empty()) line.kv("removed", listed(one.had, kKeysOfLine));
    line.kv("reason", one.had.empty() ? "the fabric is partitioned, and the port is new"
                                      : "the port is new, and came with P_Keys that it was not given here")
        .kv("action", one.pkey.full_member()
                          ? "it is a full member of the default partition, as all ports are"
                          : "it is a limited member of the default partition; partitions give it more");
  }
  if (fresh > kPartitionLines)
    log.warn("partition.new_port").kv("ports", fresh).kv("not_named", fresh - kPartitionLines);
}

/// `keys`: those of the first block as they are to be.
std::string_view reason_of_index0(PKey was, PKey now, std::span<const PKey> keys) {
  if (now == PKey{}) return "the port is no member of that partition any more, nor of the default one";
  const bool keeps_both = std::ranges::find(keys, was) != keys.end();
  if (was.same_partition(now) && !keeps_both)
    return "of both keys of the partition the port keeps this one alone";
  const bool stays = std::ranges::any_of(keys, [&](PKey key) { return key.same_partition(was); });
  return stays || was == PKey{} ? "index0 or a reindex is asked for"
                                : "the port is no member of that partition any more";
}

/// Programs that use the key at index 0 notice.
void log_index0(const log::Log& log, const Subnet& subnet, const PKeyPart& part) {
  std::size_t lines = 0;
  for (const auto& block : part.blocks) {
    const auto* node = subnet.find(block.at.node);
    if (block.block != 0 || node == nullptr || (node->is_switch() && block.at.port != PortNum{0})) continue;
    const auto& port = node->ports[block.at.port.value()];
    const auto& held = port.held<wire::PKeyTable>();
    if (port.info.port_state <= PortState::init || !held || !held->known.test(0)) continue;
    const auto was = held->row[0].keys[0], now = block.content.keys[0];
    // Full and limited in place are one entry.
    const bool moved = was != now && std::ranges::find(held->row[0].keys, now) != held->row[0].keys.end();
    if ((was.partition() == now.partition() && !moved) || ++lines > kPartitionLines) continue;
    log.info("partition.index0")
        .port(block.at.node, node->description, block.at.port)
        .kv("was", was)
        .kv("is", now)
        .kv("reason", reason_of_index0(was, now, block.content.keys))
        .always();
  }
  if (lines > kPartitionLines)
    log.info("partition.index0").kv("ports", lines).kv("not_named", lines - kPartitionLines);
}

/// The port is in service, and has keys without one at index 0, now and by what is decided.
bool keeps_empty_index0(const Port& port, const PeerPort& at, const PKeyPart& tables) {
  const auto keys = port.info.port_state > PortState::init ? known_keys(port) : std::nullopt;
  if (!keys || keys->empty() || keys->front() != PKey{}) return false;
  const auto first = [&](const PKeyPart::Block& block) { return block.at == at && block.block == 0; };
  const auto block = std::ranges::find_if(tables.blocks, first);
  return block == tables.blocks.end() || block->content.keys[0] == PKey{};
}

/// As an SM before us may have left it: smd does not move a key that is in use.
void log_empty_index0(const log::Log& log, const Subnet& subnet, const PKeyPart& tables) {
  std::size_t ports = 0;
  PeerPort first;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; !node->is_switch() && p < node->ports.size(); ++p) {
      const PeerPort at{node->guid(), PortNum{static_cast<std::uint8_t>(p)}};
      if (keeps_empty_index0(node->ports[p], at, tables) && ++ports == 1) first = at;
    }
  }
  if (ports == 0) return;
  log.warn("partition.index0_empty")
      .port(first.node, description_of(subnet, first.node), first.port)
      .kv("ports", ports)
      .kv("reason", "programs that use the key at index 0, as saquery does, reach no SA")
      .kv("action", "smd partitions reindex gives them a key there");
}

}  // namespace

std::vector<LostForeignKey> lost_foreign_keys(const Subnet& subnet, const Stored& stored,
                                              const PartitionPart* before, const PartitionPart& now) {
  const auto* was = before != nullptr && before->managed ? before->policy.get() : nullptr;
  std::map<PKey, LostForeignKey> taken;
  if (!now.managed || !now.policy || !now.keeps_foreign) return {};
  for (const auto& one : now.policy->partitions) {
    if (one.pkey == config::kDefaultPartition || (was != nullptr && was->find(one.pkey) != nullptr)) continue;
    taken.emplace(one.pkey, LostForeignKey{.pkey = one.pkey,
                                           .partition = one.name,
                                           .source = to_string(one.sources.front(), *now.policy),
                                           .automatic = one.automatic});
  }
  if (taken.empty()) return {};
  const auto is_in = [](const auto& rows, Guid port, PKey key) {
    return rows.contains({port, key.full()}) || rows.contains({port, PKey{key.partition()}});
  };
  std::set<std::pair<Guid, PKey>> placed;
  for (const auto& one : now.placed) placed.emplace(one.port, one.key);
  const auto lose = [&](Guid guid, const std::vector<PKey>& keys, auto list, const auto& port) {
    for (const auto key : keys) {
      const auto partition = taken.find(PKey{key.partition()});
      if (partition == taken.end() || is_in(stored.pkeys, guid, key) || is_in(placed, guid, key)) continue;
      auto& losers = partition->second.*list;
      if (losers.empty() || losers.back() != port) losers.push_back(port);
    }
  };
  std::set<Guid> there;
  for_each_end_port(subnet, [&](const Node& node, PortNum num, const Port& port) {
    const auto guid = port_guid(node, num);
    there.insert(guid);
    const PeerPort at{node.guid(), num};
    lose(guid, known_keys(port).value_or(std::vector<PKey>{}), &LostForeignKey::ports, at);
    const auto row = stored.port_keys.find(guid);  // a host that begins anew gets these back
    if (row != stored.port_keys.end() && !is_in_service(node, port))
      lose(guid, row->second.keys, &LostForeignKey::ports, at);
  });
  for (const auto& [guid, row] : stored.port_keys) {
    if (!there.contains(guid)) lose(guid, row.keys, &LostForeignKey::off, guid);
  }
  std::vector<LostForeignKey> lost;
  for (auto& [pkey, one] : taken) {
    if (!one.ports.empty() || !one.off.empty()) lost.push_back(std::move(one));
  }
  return lost;
}

std::string to_string(const LostForeignKey& lost, const Subnet& subnet) {
  constexpr std::size_t kNamed = 3;
  const auto count = lost.ports.size() + lost.off.size();
  std::vector<std::string> names;
  for (const auto& at : lost.ports | std::views::take(kNamed))
    names.push_back(fmt::format("\"{}\" port {}", description_of(subnet, at.node), at.port));
  for (const auto guid : lost.off | std::views::take(kNamed - names.size()))
    names.push_back(fmt::format("{} (off)", guid));
  return fmt::format("{} the P_Key {} from another SM, {} of {} and {} it: {}{}{}",
                     count == 1 ? std::string("1 port has") : fmt::format("{} ports have", count), lost.pkey,
                     count == 1 ? "is no member" : "are no members", lost.partition,
                     count == 1 ? "loses" : "lose", fmt::join(names, ", "),
                     count > kNamed ? fmt::format(" and {} more", count - kNamed) : std::string(),
                     lost.automatic ? "; smd chose the number: its pkey may name another" : "");
}

std::vector<SharedName> shared_names(const config::PartitionPolicy& policy) {
  using enum config::PolicyOrigin;
  const auto source_in = [](const config::PolicyPartition& partition, auto... origins) {
    return std::ranges::find_if(partition.sources,
                                [&](const auto& source) { return ((source.origin == origins) || ...); });
  };
  std::map<std::string_view, const config::PolicyPartition*> of_files;
  for (const auto& partition : policy.partitions) {
    if (source_in(partition, toml, file) != partition.sources.end())
      of_files.emplace(partition.name, &partition);
  }
  std::vector<SharedName> shared;
  for (const auto& partition : policy.partitions) {
    if (source_in(partition, api) == partition.sources.end()) continue;
    const auto same = of_files.find(partition.name);
    if (same == of_files.end() || same->second == &partition) continue;
    const auto& of_file = *same->second;
    shared.push_back({.name = partition.name,
                      .of_api = partition.pkey,
                      .of_file = of_file.pkey,
                      .source = to_string(*source_in(of_file, toml, file), policy)});
  }
  return shared;
}

std::string to_string(const SharedName& shared) {
  return fmt::format(
      "partition {} of the API (P_Key {}) and {} of {} have one name: that of the API can only be "
      "deleted until one of the two has another",
      shared.name, shared.of_api, shared.of_file, shared.source);
}

std::string to_string(const config::SlOfClass& other) {
  return fmt::format(
      "partition {} of the API (P_Key {}) asks for SL {} and has SL {}, that of its traffic class: put it "
      "without an SL, or list it in a [[qos.class]] with SL {}",
      other.name, other.pkey, other.asked, other.sl, other.asked);
}

void log_partitions(const log::Log& log, const Subnet& subnet, const Stored& stored, const Decided& before,
                    const Decided& now) {
  static const PartitionPart kNone;
  if (!now.partitions) return;
  const auto& tables = *now.part<wire::PKeyTable>();
  const bool same_tables = before.part<wire::PKeyTable>() == now.part<wire::PKeyTable>();
  const auto& was = before.partitions ? *before.partitions : kNone;
  log_restored(log, subnet, was, *now.partitions);
  if (!now.partitions->managed) {
    if (!same_tables) log_sm_ports(log, subnet, now.partitions->sm_ports, tables);
    log_not_enforced(log, subnet, was, *now.partitions);
    return;
  }
  if (before.partitions != now.partitions) {
    log_taken_over(log, was.policy.get(), *now.partitions->policy);
    log_shared_names(log, was.policy.get(), *now.partitions->policy);
    log_sls_of_class(log, was.policy.get(), *now.partitions->policy);
    if (was.partitions != now.partitions->partitions) log_managed(log, *now.partitions);
    if (!was.managed) log_empty_index0(log, subnet, tables);
    log_foreign_lost(log, subnet, stored, was, *now.partitions);
    log_no_room(log, subnet, was, *now.partitions);
    log_not_enforced(log, subnet, was, *now.partitions);
  }
  if (!same_tables) log_index0(log, subnet, tables);
}

}  // namespace smd::sm::inline reports
