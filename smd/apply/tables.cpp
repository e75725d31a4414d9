// SPDX-License-Identifier: Apache-2.0
// Tables of ports on their way into them.
#include <algorithm>

#include "mad/transactions/ask.h"
#include "smd/apply/applier.h"

namespace smd::sm::inline applying {

RequestPipeline::Source Applier::table_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    for (;;) {
      auto index = next++;
      bool exists = false;
      std::optional<Job> job;
      for_each_table([&]<class A>() {
        const auto& items = round.items<A>();
        if (!exists && index < items.size()) {
          exists = true;
          // An end port that has failed keeps its keys; the switch's port is narrowed so much the more.
          const bool waits =
              round.phase == Phase::pkeys_removed && has_failed(items[index].node, items[index].port);
          const bool held_back = !waits && vl_tables_.waits(items[index], round.phase);
          if (held_back) applied_.held_back.push_back({items[index].node, items[index].port, A::kAttribute});
          if (!waits && !held_back) job = table_job<A>(items[index]);
          if (waits) ++applied_.skipped;
        }
        if (!exists) index -= items.size();
      });
      if (!exists || job) return job;
    }
  };
}

template <class A>
std::optional<Job> Applier::table_job(const TableItem<A>& item) {
  const auto& node = *in_.subnet->nodes[item.node];
  const auto path = path_to_port(item.node, item.port);
  if (!path || failed_nodes_[item.node]) {
    ++applied_.skipped;
    return std::nullopt;
  }
  const auto modifier = TableKind<A>::modifier(node, item.port, item.block);
  return Job{mad::set_request(target(item.node, item.port, *path), item.content, modifier),
             [this, node = item.node, port = item.port,
              block = item.block](mad::Answer result) -> std::optional<Job> {
               TableAnswer<A> answer{.node = node, .port = port, .block = block, .held = std::nullopt};
               if (result) answer.held = result->template get<A>();
               answer.refused = !result && refuses(node, A::kAttribute, result.error());
               if (!result) failed_port_table(node, port, A::kAttribute, result.error(), answer.refused);
               vl_tables_.note(answer);
               applied_.answers<A>().push_back(std::move(answer));
               return std::nullopt;
             }};
}

/// With a status; or it was asked for P_Key tables, and has answered neither a Get nor a Set of one.
bool Applier::refuses(NodeIndex index, std::uint16_t attribute, const mad::RequestError& error) const {
  if (error.fault == mad::Fault::refused) return true;
  if (error.fault != mad::Fault::timeout || attribute != wire::PKeyTable::kAttribute) return false;
  const auto shown = [](const Port& port) {
    const auto& held = port.held<wire::PKeyTable>();
    return held && !held->known.empty();
  };
  return std::ranges::none_of(in_.subnet->nodes[index]->ports, shown) &&
         std::ranges::none_of(applied_.answers<wire::PKeyTable>(),
                              [&](const auto& answer) { return answer.node == index && answer.held; });
}

/// A link is worth more than the order of its VLs. A switch's port that refuses its P_Key table, or whose
/// switch answers none, lets all packets pass, unless it must not; what else has no answer may hold either
/// table.
void Applier::failed_port_table(NodeIndex index, PortNum port, std::uint16_t attribute,
                                const mad::RequestError& error, bool refused) {
  const auto& node = *in_.subnet->nodes[index];
  const bool keys = attribute == wire::PKeyTable::kAttribute;
  const bool may_pass = in_.decided.partitions && !in_.decided.partitions->enforcement_required;
  const bool passes = keys && node.is_switch() && (port == PortNum{0} || may_pass);
  if (!refused || (keys && !passes))
    return failed(index, port, attribute, to_string(error), is_given_up(error));
  if (keys) unenforced_.insert({node.guid(), port});
  applied_.failed.push_back({index, port, attribute, to_string(error), false});
}

}  // namespace smd::sm::inline applying
