// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/config_in_force.h"

#include <utility>

#include "smd/decide/stored_m_keys.h"

namespace smd::sm::inline reconciling {
namespace {

/// Tables of ports follow from classes, and classes from partitions.
bool has_classes(const config::QosConfig& qos) {
  return !qos.traffic_classes.empty() || qos.preset != config::QosPreset::none ||
         (qos.accepted && !qos.accepted->classes.empty());
}

/// What is said of files that are wrong.
void take_refusals(config::SubnetConfig& before, const config::SubnetConfig& after) {
  before.partitions.refused = after.partitions.refused;
  before.qos.refused = after.qos.refused;
}

bool refusals_differ(const config::SubnetConfig& before, const config::SubnetConfig& after) {
  return before.partitions.refused != after.partitions.refused || before.qos.refused != after.qos.refused;
}

/// Or the QoS policy. Then the fabric need not be read again.
bool partitions_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  if (before == after || has_classes(before.qos) || has_classes(after.qos)) return false;
  before.partitions = after.partitions;
  before.partition = after.partition;
  before.groups = after.groups;
  before.qos.policy_file = after.qos.policy_file;
  before.qos.conf = after.qos.conf;
  before.qos.level = after.qos.level;
  before.qos.rule = after.qos.rule;
  before.qos.ulp = after.qos.ulp;
  before.qos.accepted = after.qos.accepted;
  take_refusals(before, after);
  return before == after;
}

/// Files that are wrong change nothing but what is said of them.
bool refusals_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  take_refusals(before, after);
  return before == after;
}

}  // namespace

ConfigInForce::ConfigInForce(Parts parts, std::shared_ptr<const config::SubnetConfig> given,
                             policy::PoliciesPtr policies)
    : parts_(parts),
      given_(std::move(given)),
      policies_(std::move(policies)),
      config_(policy::with_kept(given_, *policies_)) {}

PolicyPtr ConfigInForce::partitions() const { return policy::merged_policy(*given_, *policies_); }

void ConfigInForce::order_disabled(Reconciler* loop) const {
  if (policies_->disabled_ports != *loop->disabled())
    loop->disable(std::make_shared<const policy::DisabledPorts>(policies_->disabled_ports));
}

void ConfigInForce::give(config::SubnetConfig config, const Decided& decided) {
  const bool routed = decided.routes != nullptr;
  const bool judged = routed && refusals_differ(latest(), config);
  const bool refusals_alone = judged && refusals_alone_differ(latest(), config);
  const bool parts_alone = routed && !refusals_alone && partitions_alone_differ(latest(), config);
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  next_merged_ = nullptr;
  judge_ = judge_ || judged;
  if (!refusals_alone && !parts_alone) return parts_.agenda.add(Work::heavy, "reload", true);
  if (judged) parts_.agenda.add(Work::inventory, "reload");
  if (parts_alone) parts_.agenda.add(partition_parts(decided));
}

void ConfigInForce::give(policy::PoliciesPtr policies, policy::MergedPtr merged, const Decided& decided) {
  next_policies_ = std::move(policies);
  next_merged_ = std::move(merged);
  if (!decided.routes) return;
  auto parts = partition_parts(decided);
  parts.insert(Part::ports);
  parts_.agenda.add(parts);
}

/// Where clients ask for SLs, that of a partition is a class, which needs VLs; so does a class for each
/// tenant. Tables may be those of a partition's members.
PartSet ConfigInForce::partition_parts(const Decided& decided) const {
  PartSet parts{Part::partitions};
  const auto& qos = decided.qos_policy;
  if (decided.service_levels || (qos && qos->policy->tenants_equal) || !latest().qos.ports.empty())
    parts.insert(Part::qos);
  return parts;
}

/// What another SM has committed as master is what we go on from, its policy included. Ports of our part of a
/// fabric that was cut may have M_Keys of ours which it does not know.
void ConfigInForce::take_replica(Reconciler* loop) {
  if (parts_.store == nullptr) return;
  take_left_m_keys(loop);
  const auto replaced = parts_.store->following().replaced;
  if (std::exchange(replaced_, replaced) == replaced) return;
  auto stored = parts_.store->loaded();
  if (auto former = former_m_keys(*loop->stored(), stored->m_keys); former != stored->former_m_keys) {
    auto with_former = std::make_shared<Stored>(*stored);
    with_former->former_m_keys = std::move(former);
    stored = std::move(with_former);
  }
  loop->set_stored(std::move(stored));
  next_policies_ = parts_.store->policies();
  next_merged_ = nullptr;
}

/// Ports of the other part that do not answer to our keys are read with these.
void ConfigInForce::take_left_m_keys(Reconciler* loop) {
  const auto left = parts_.store->left_m_keys();
  if (!left || std::exchange(left_m_keys_, left) == left) return;
  auto stored = with_left_m_keys(*loop->stored(), *left);
  if (!stored) return;
  loop->set_stored(std::make_shared<const Stored>(*std::move(stored)));
  parts_.agenda.add(Work::heavy, "M_Keys of another SM");
}

asio::awaitable<ConfigInForce::Taken> ConfigInForce::take(Reconciler* loop) {
  take_replica(loop);
  if (!next_config_ && !next_policies_) co_return Taken::kept;
  const auto given = next_config_ ? next_config_ : given_;
  const auto policies = next_policies_ ? next_policies_ : policies_;
  PolicyPtr policy = std::exchange(next_merged_, nullptr);
  std::shared_ptr<const config::SubnetConfig> in_force;
  const bool merged = co_await parts_.compute.execute([&] {
    in_force = policy::with_kept(given, *policies);
    if (!policy) policy = policy::merged_policy(*given, *policies);
  });
  if (!merged) co_return Taken::cancelled;
  const bool configured = given != given_;
  given_ = given;
  config_ = in_force;
  policies_ = policies;
  if (next_config_ == given) next_config_ = nullptr;  // else there is a later one already
  if (next_policies_ == policies) next_policies_ = nullptr;
  loop->configure(config_, std::move(policy));
  order_disabled(loop);
  co_return configured ? Taken::replaced : Taken::kept;
}

}  // namespace smd::sm::inline reconciling
