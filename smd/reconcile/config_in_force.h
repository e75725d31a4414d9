// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration that work is done by, and what has been given for the work after it.

#include <cstdint>
#include <memory>
#include <utility>

#include "config/config.h"
#include "mad/asio.h"
#include "smd/base/compute.h"
#include "smd/policy/policies.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/part.h"
#include "smd/store/store.h"

namespace smd::sm::inline reconciling {

/// Takes what was given between two sweeps only: what runs refers to the configuration that it began with.
/// On the io_context's thread.
class ConfigInForce {
 public:
  /// All of it outlives this.
  struct Parts {
    Agenda& agenda;  ///< asked for the work that follows from what is given
    Compute& compute;
    store::Store* store = nullptr;  ///< of the state that other SMs commit; null: there are none
  };
  /// In force is `given` with what `policies` keep of its classes.
  ConfigInForce(Parts parts, std::shared_ptr<const config::SubnetConfig> given, policy::PoliciesPtr policies);
  ConfigInForce(const ConfigInForce&) = delete;
  ConfigInForce& operator=(const ConfigInForce&) = delete;

  /// Never null. The place stays; take() changes what it points to.
  const std::shared_ptr<const config::SubnetConfig>& config() const { return config_; }
  /// Partitions of the files and of the API.
  PolicyPtr partitions() const;
  /// Ports that an operator has disabled, for `loop`.
  void order_disabled(Reconciler* loop) const;

  /// The work after this is done by it. Asks for a heavy sweep, or for less where less can change.
  void give(config::SubnetConfig config, const Decided& decided);
  /// Partitions and orders of the API; where nothing else has changed the fabric is not read again. `merged`:
  /// of the configuration that was given last and `policies`; null: they are merged here.
  void give(policy::PoliciesPtr policies, policy::MergedPtr merged, const Decided& decided);

  /// What take() has come to.
  enum class Taken : std::uint8_t {
    cancelled,
    kept,     ///< nothing was given, or policies alone
    replaced  ///< by another configuration
  };
  /// Takes what was given, and what another SM has committed as master, into force and into `loop`. Thousands
  /// of partitions are merged on a thread of `compute`.
  asio::awaitable<Taken> take(Reconciler* loop);
  /// Once: the state depends on what files say now. Never where a later configuration was given: that has
  /// work of its own, which judges by it.
  bool take_judgement() { return !next_config_ && std::exchange(judge_, false); }

 private:
  const config::SubnetConfig& latest() const { return next_config_ ? *next_config_ : *given_; }
  PartSet partition_parts(const Decided& decided) const;
  void take_replica(Reconciler* loop);
  void take_left_m_keys(Reconciler* loop);

  Parts parts_;
  std::shared_ptr<const config::SubnetConfig> given_;  ///< as it was given
  policy::PoliciesPtr policies_;
  std::shared_ptr<const config::SubnetConfig> config_;       ///< with what `policies_` keep of its classes
  std::shared_ptr<const config::SubnetConfig> next_config_;  ///< null: no other one than given_
  policy::PoliciesPtr next_policies_;                        ///< null: no others than policies_
  /// Of these and the configuration that was given last; null: not merged yet.
  policy::MergedPtr next_merged_;
  bool judge_ = false;
  std::uint64_t replaced_ = 0;                        ///< of store::Following, as it was taken
  std::shared_ptr<const Stored::MKeys> left_m_keys_;  ///< of the store, as they were taken
};

}  // namespace smd::sm::inline reconciling
