// SPDX-License-Identifier: Apache-2.0
// Tables of ports on their way into them.
#include "mad/transactions/ask.h"
#include "smd/apply/applier.h"

namespace smd::sm::inline applying {

Pump::Source Applier::table_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    for (;;) {
      auto index = next++;
      bool exists = false;
      std::optional<Job> job;
      for_each_table([&]<class A>() {
        const auto& items = round.items<A>();
        if (!exists && index < items.size()) {
          exists = true;
          // A key goes from a switch's port once it is gone from the end port.
          const bool waits =
              round.phase == Phase::pkeys_removed && blocked(items[index].node, items[index].port);
          if (!waits) job = table_job<A>(items[index]);
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
               TableAnswer<A> answer{node, port, block, std::nullopt};
               if (result) answer.held = result->template get<A>();
               if (!result) failed(node, port, A::kAttribute, to_string(result.error()));
               applied_.answers<A>().push_back(std::move(answer));
               return std::nullopt;
             }};
}

}  // namespace smd::sm::inline applying
