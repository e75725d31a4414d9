// SPDX-License-Identifier: Apache-2.0
// ARInfo on its way into the switches.
#include "mad/transactions/ask.h"
#include "smd/apply/applier.h"
#include "smd/sweep/not_sent.h"

namespace smd::sm::inline applying {

RequestPipeline::Source Applier::adaptive_source(const Round& round) {
  return [this, &round, next = std::size_t{0}]() mutable -> std::optional<Job> {
    while (next < round.ar_infos.size()) {
      if (auto job = adaptive_job(round.ar_infos[next++])) return job;
    }
    return std::nullopt;
  };
}

/// Where it fails the other Sets to the switch go on: no table waits for a vendor's attribute.
std::optional<Job> Applier::adaptive_job(NodeIndex index) {
  const auto sent = desired_ar_info(plan_input(), *in_.subnet->nodes[index]);
  const auto path = path_to(index);
  if (!sent || !path || failed_nodes_[index]) {
    ++applied_.skipped;
    return std::nullopt;
  }
  return Job{
      mad::set_request(target(index, PortNum{0}, *path), *sent),
      [this, index, sent = *sent](mad::Answer result) -> std::optional<Job> {
        if (result) {
          applied_.adaptive.push_back({index, sent, result->get<wire::ArInfo>()});
        } else if (!was_dropped(result.error())) {
          applied_.failed.push_back({index, PortNum{0}, wire::ArInfo::kAttribute, to_string(result.error())});
        }
        return std::nullopt;
      }};
}

}  // namespace smd::sm::inline applying
