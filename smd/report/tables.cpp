// SPDX-License-Identifier: Apache-2.0
#include "smd/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "mad/wire/mad.h"
#include "mad/wire/tables.h"
#include "smd/apply/table_baseline.h"
#include "smd/report/description.h"
#include "smd/sweep/enforcement.h"

namespace smd::sm::inline reports {
namespace {

/// Lines of one kind at a time: a whole fabric may restart.
constexpr std::size_t kLines = 10;
constexpr std::size_t kKeys = 8;

using Lines = std::vector<const AlteredTable*>;

/// Those of `some` that are not in `others`: the same table with the same entries.
Lines without(const std::vector<AlteredTable>& some, const std::vector<AlteredTable>& others, bool by_place) {
  Lines found;
  for (const auto& one : some) {
    const auto same = [&](const AlteredTable& other) {
      const bool place = other.at == one.at && other.attribute == one.attribute;
      return place && (by_place || other.entries == one.entries);
    };
    const auto near = std::ranges::equal_range(others, one.at.node, {},
                                               [](const AlteredTable& table) { return table.at.node; });
    if (std::ranges::none_of(near, same)) found.push_back(&one);
  }
  return found;
}

bool loses_keys(const AlteredTable& table) {
  return table.restarted && table.attribute == wire::PKeyTable::kAttribute;
}

void log_changed(const log::Log& log, const Subnet& subnet, const Lines& tables, bool keys) {
  const auto* event = keys ? "partition.keys_lost" : "node.changed";
  std::size_t lines = 0;
  for (const auto* table : tables) {
    if (loses_keys(*table) != keys || ++lines > kLines) continue;
    log.warn(event)
        .port(table->at.node, description_of(subnet, table->at.node), table->at.port)
        .kv("table", wire::attribute_name(table->attribute))
        .kv("entries", table->entries)
        .kv("reason", reason_of(*table))
        .kv("action",
            keys ? "its keys are written again if they are known, else the state is degraded until they are"
                 : "the state is degraded until they are as before; smd does not set them");
  }
  if (lines > kLines) log.warn(event).kv("tables", lines).kv("not_named", lines - kLines);
}

}  // namespace

void log_altered(const log::Log& log, const Subnet* before, const Subnet& now) {
  static const std::vector<AlteredTable> kNone;
  const auto& old = before != nullptr ? before->altered : kNone;
  if (old == now.altered) return;
  const auto fresh = without(now.altered, old, false);
  log_changed(log, now, fresh, true);
  log_changed(log, now, fresh, false);
  auto ended = without(old, now.altered, true);
  std::erase_if(ended, [&](const AlteredTable* table) { return now.find(table->at.node) == nullptr; });
  for (std::size_t i = 0; i < std::min(ended.size(), kLines); ++i) {
    log.info("node.restored")
        .port(ended[i]->at.node, description_of(now, ended[i]->at.node), ended[i]->at.port)
        .kv("table", wire::attribute_name(ended[i]->attribute));
  }
  if (ended.size() > kLines)
    log.info("node.restored").kv("tables", ended.size()).kv("not_named", ended.size() - kLines);
}

void log_foreign_keys(const log::Log& log, const Subnet& subnet, const config::PartitionPolicy* policy,
                      const Stored& stored) {
  const auto found = foreign_keys(subnet, policy, &stored);
  if (found.ports == 0) return;
  log.warn("partition.foreign_keys")
      .kv("ports", found.ports)
      .kv("pkeys", listed(found.keys, kKeys))
      .kv("reason", policy != nullptr && policy->configured ? "no partition has these P_Keys"
                                                            : "no partition is configured")
      .kv("action", policy != nullptr && policy->configured
                        ? "[adopt] foreign_pkeys says whether they stay"
                        : "they stay; a port that loses them by a restart gets them back")
      .always();
}

void log_enforcement(const log::Log& log, const Subnet& before, const Subnet& after, const Applied& applied) {
  std::size_t lines = 0;
  for (const auto& answer : applied.ports) {
    const auto& node = *after.nodes[answer.node];
    const auto num = answer.port.value();
    const auto &was = before.nodes[answer.node]->ports[num], &now = node.ports[num];
    if (!answer.sent || !node.is_switch() || !now.peer) continue;
    if (!enforces(was.info) || enforces(now.info) || ++lines > kLines) continue;
    const auto* peer = after.find(now.peer->node);
    const bool between = peer != nullptr && peer->is_switch();
    const bool other = enforces_for_another(before, *before.nodes[answer.node], answer.port);
    log.warn("partition.enforcement_cleared")
        .port(node.guid(), node.description, answer.port)
        .kv("peer_guid", now.peer->node)
        .kv("peer_name", description_of(after, now.peer->node))
        .kv("reason", between ? "the link leads to a switch"
                      : other ? "another node is there than the P_Keys were set for"
                              : "the port did not enforce P_Keys when this node was in service behind it")
        .kv("action",
            between ? "the port lets packets of all partitions pass; its P_Key table stays as it is"
            : other ? "the port lets packets of all partitions pass; its P_Key table is emptied"
                    : "the port lets packets of all partitions pass; its P_Key table is as it was then");
  }
  if (lines > kLines)
    log.warn("partition.enforcement_cleared").kv("ports", lines).kv("not_named", lines - kLines);
}

}  // namespace smd::sm::inline reports
