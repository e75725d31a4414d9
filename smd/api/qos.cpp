// SPDX-License-Identifier: Apache-2.0
// Quality of service: what becomes of each SL in use.
#include "smd/api/qos.h"

#include <fmt/format.h>

#include <utility>

#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/not_master.h"
#include "smd/sa/registry/group_terms.h"

namespace smd::api {

sm::QosExplanation qos_of(const SubnetView& view) {
  if (!view.snapshot) return {};
  const auto* policy_state = view.policy_state.get();
  return qos_of(view, view.snapshot->decided, policy_state != nullptr ? policy_state->merged.get() : nullptr,
                policy_state != nullptr ? policy_state->config->qos.refused : std::string{});
}

sm::QosExplanation qos_of(const SubnetView& view, const sm::Decided& decided,
                          const config::PartitionPolicy* partitions, std::string refused) {
  return sm::explain_qos({.subnet = *view.snapshot->subnet,
                          .decided = decided,
                          .partitions = partitions,
                          .refused = std::move(refused),
                          .groups = view.registry ? sa::groups_on_other_sls(*view.registry, partitions,
                                                                            decided.service_levels.get())
                                                  : sm::GroupSls{}});
}

namespace {

/// QoS is on, and this SM has decided nothing, as a standby without a copy of its master's state.
std::string why_not_decided(const SubnetView& view) {
  if (sm_state(view) != wire::SmState::standby) return "QoS is on, and nothing of it is decided yet";
  return fmt::format("QoS is on, and this SM is a standby that decides nothing: ask the master{}",
                     master_words(view));
}

}  // namespace

Answer get_qos(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  if (!view.snapshot) return not_read(view);
  auto found = qos_of(view);
  if (!found.enabled && view.policy_state && view.policy_state->config->qos.enabled) {
    found.enabled = true;
    found.warnings.push_back(why_not_decided(view));
  }
  auto json = sm::qos_json(found);
  json.as_object().emplace("subnet", text(view.name));
  return answer_of(json);
}

}  // namespace smd::api
