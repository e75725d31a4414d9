// SPDX-License-Identifier: Apache-2.0
// P_Key tables on their way into the ports.
#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "mad/wire/tables.h"
#include "smd/apply/applier.h"

namespace smd::sm {

Pump::Source Applier::pkey_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    while (next < round.pkeys.size()) {
      if (auto job = pkey_job(round.pkeys[next++])) return job;
    }
    return std::nullopt;
  };
}

std::optional<Job> Applier::pkey_job(const PKeyItem& item) {
  const auto& node = *in_.subnet->nodes[item.node];
  const auto path = path_to_port(item.node, item.port);
  if (!path || failed_nodes_[item.node]) {
    ++applied_.skipped;
    return std::nullopt;
  }
  // Of a switch the modifier names the port; a CA's port is the one that the MAD came in by.
  const auto modifier =
      wire::p_key_modifier(static_cast<std::uint32_t>(item.block), node.is_switch() ? item.port : PortNum{0});
  const wire::PKeyTable table{.keys = item.keys};
  return Job{mad::set_request(target(item.node, item.port, *path), table, modifier),
             [this, item](mad::Answer result) -> std::optional<Job> {
               PKeyAnswer answer{item.node, item.port, item.block, std::nullopt};
               if (result) answer.keys = result->get<wire::PKeyTable>().keys;
               if (!result)
                 failed(item.node, item.port, wire::PKeyTable::kAttribute, to_string(result.error()));
               applied_.pkeys.push_back(std::move(answer));
               return std::nullopt;
             }};
}

}  // namespace smd::sm
