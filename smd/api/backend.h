// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API shows and changes, independent of its owner.

#include <chrono>
#include <expected>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "routing/parallel.h"
#include "smd/access/access.h"
#include "smd/access/guard.h"
#include "smd/api/answered.h"
#include "smd/api/try_lock.h"
#include "smd/events/ring.h"
#include "smd/ha/sm_view.h"
#include "smd/log/log.h"
#include "smd/policy/policies.h"
#include "smd/registry/groups_read.h"
#include "smd/registry/registry.h"
#include "smd/registry/request_counts.h"
#include "smd/replica/call.h"
#include "smd/replica/view.h"
#include "smd/schedule/agenda.h"
#include "smd/snapshot/activity.h"
#include "smd/snapshot/snapshot.h"
#include "smd/store/event_log.h"
#include "smd/store/ongoing_failure.h"

namespace smd::api {

/// Why a subnet's manager cannot go on by itself.
struct Waiting {
  std::string what;  ///< "port", "link", "device", "sm_place", "own_port", "sa", "state"; "master" is seen in
                     ///< the snapshot
  std::string reason;  ///< one line
  std::chrono::system_clock::time_point since;
};

/// What the partitions of a subnet are made of.
struct PolicyState {
  std::shared_ptr<const config::SubnetConfig> config;  ///< not null
  policy::PoliciesPtr policies;                        ///< of the API
  policy::MergedPtr merged{};                          ///< of both
};
using PolicyStatePtr = std::shared_ptr<const PolicyState>;

/// Other partitions or tokens of the API.
struct PolicyChange {
  PolicyStatePtr before;  ///< what it was made from
  policy::PoliciesPtr after;
  policy::MergedPtr merged;  ///< of `after` and the files
  std::string what;          ///< "add members to", for the log
  std::string partition;
  PKey pkey{};
  std::string token{};  ///< of this one instead of a partition
  /// Of this port instead; `what` is the event.
  struct PortChange {
    policy::PortAt at{};
    std::string name{}, by{};
  };
  std::optional<PortChange> port{};
};
enum class PolicyVerdict : std::uint8_t {
  done,        ///< kept in the store; the fabric follows
  not_copied,  ///< done, but no standby has it, and [ha] mode is "sync-strict"
  stale,       ///< the policy has changed meanwhile: nothing was done
  not_kept,    ///< the store takes nothing: nothing was done
  not_master,  ///< another SM is master now, or may be: nothing was done
  maybe_lost,  ///< the mastership has ended, or may have, while it was kept: the next master has it, or not
};

/// One subnet as it is now.
struct SubnetView {
  std::string name;  ///< empty as long as it is the GUID of a port that is not there yet
  std::string port;  ///< where: "mlx5_0:1", or as the operator named it as long as nothing is open
  std::optional<Waiting> waiting{};
  std::shared_ptr<const sm::Snapshot> snapshot{};   ///< null before the first sweep
  std::chrono::system_clock::time_point swept{};    ///< when that ended
  std::shared_ptr<const sm::Activity> activity{};   ///< null before the first sweep
  std::shared_ptr<const sa::SaCounts> sa_counts{};  ///< of what clients ask; goes on. Null: not known
  std::shared_ptr<const sm::SmView> sms{};          ///< null before there is a port
  sa::RegistryPtr registry{};                       ///< what clients have registered; null before it is known
  /// What this standby has read of the master's groups; null: nothing.
  std::shared_ptr<const sa::GroupsRead> groups_read{};
  PolicyStatePtr policy_state{};  ///< null before the store is open and there is a port
  /// What the store held when it was opened, while there is no policy_state; null: it is not open.
  policy::PoliciesPtr kept{};
  /// How the state is copied to or from other SMs; null where it is not.
  std::shared_ptr<const replica::ReplicaView> replica{};
  /// Keys whose values in the files are not in force, because the policy of the master before is.
  std::vector<std::string> config_differs{};
  std::chrono::system_clock::time_point sweeps_off_until{};  ///< of an operator; long ago: they are on
  /// Goes up with each change of snapshot, policy and registry; another number after a restart.
  std::uint64_t epoch = 0;
};

/// Whose tokens count now; null: the store is not open yet.
inline const policy::Policies* known_policies(const SubnetView& view) {
  return view.policy_state ? view.policy_state->policies.get() : view.kept.get();
}

/// Its tokens are not known yet, and may come: a store that was refused is not opened later.
inline bool tokens_may_come(const SubnetView& view) {
  return known_policies(view) == nullptr && !(view.waiting && view.waiting->what == "state");
}

/// All 0 before the first sweep.
inline sm::Activity activity_of(const SubnetView& view) {
  return view.activity ? *view.activity : sm::Activity{};
}

/// A configuration that a reload has not taken: the one before stays in force.
struct RefusedFile {
  std::vector<std::string> errors;  ///< a line each; at least one
  std::chrono::system_clock::time_point at;
};

struct DaemonInfo {
  std::string version;
  std::string configuration;                              ///< the file; empty: none
  std::chrono::system_clock::time_point started, loaded;  ///< when smd began, when the file was read last
  std::uint64_t reloads = 0, reloads_failed = 0;  ///< since the start; all, and those that were refused
  std::optional<store::Failure> store{};          ///< why changes are in memory only at present
  std::optional<RefusedFile> refused{};           ///< the last reload was not taken
  /// What the last reload that was taken has found changed, and only a restart brings into force.
  std::vector<std::string> needs_restart{};
  std::string not_on_network{};  ///< why nothing listens at [api] listen now; empty: it does, or is not to
};

/// A call that changes something, or was to.
struct Audit {
  std::string by;       ///< the token's name, or the local user
  std::string address;  ///< empty: local
  std::string via{};    ///< port GUID of the standby that was asked; empty: this SM was
  std::string method, path;
  unsigned status = 0;
  std::string subnet{};  ///< that it is of; empty: of the process, or UFM's call
  bool dry_run = false;  ///< nothing was done
};

/// What the files say of a subnet now.
struct NextConfig {
  std::optional<config::SubnetConfig> subnet;  ///< nothing: it is not in them any more
  /// What they said before, of a subnet that has no policy_state yet; null: not known.
  std::shared_ptr<const config::SubnetConfig> before{};
};
/// The configuration files as they are now.
struct NextConfigs {
  std::vector<NextConfig> subnets;    ///< as Backend::subnets()
  std::vector<std::string> warnings;  ///< certificates that cannot be used, or not for long; a line each
};

/// All of it is called from any thread and returns at once.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Version, process and configuration, as they are now.
  virtual DaemonInfo info() const = 0;
  /// All subnets as they are now, in the order of the configuration.
  virtual std::vector<std::shared_ptr<const SubnetView>> subnets() const = 0;
  /// Reads the configuration, as reload() would, for all of subnets() and in their order. The error is a line
  /// for each mistake.
  virtual std::expected<NextConfigs, std::vector<std::string>> next_configuration() const = 0;
  /// Reads it and puts it in force, soon.
  virtual void reload() = 0;
  /// Requests a sweep of the subnet with this position in subnets().
  virtual void resweep(std::size_t subnet, sm::Resweep kind) = 0;
  /// What is lost there is missing on purpose: of `node`, or (0) all of it.
  virtual void accept_lost(std::size_t subnet, Guid node) = 0;
  /// Keeps the change and then puts it in force. The answer comes within the store's patience.
  virtual std::future<PolicyVerdict> change_policies(std::size_t subnet, PolicyChange change) = 0;
  /// The master of the subnet does it, over the link that copies its state.
  virtual void hand_on(std::size_t subnet, replica::Call call, replica::CallDone done) = 0;
  /// No sweeps until then, but those that are asked for; a time that has passed: again. Ends by itself, with
  /// the process and with the mastership.
  virtual void sweeps_off(std::size_t subnet, std::chrono::system_clock::time_point until) = 0;
  /// Trains the link of this port anew; one that is disabled is enabled.
  virtual void train(std::size_t subnet, const PolicyChange::PortChange& port, std::string_view event) = 0;
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew.
  virtual void reindex(std::size_t subnet, const std::set<Guid>& ports) = 0;
  /// Hands the fabric over to this SM, where ours is master.
  virtual void hand_over(std::size_t subnet, Guid to) = 0;
  /// Of SMInfo, until the next start; 0 to 15.
  virtual void set_priority(std::size_t subnet, std::uint8_t priority) = 0;
  /// What has happened.
  virtual events::EventRing& events() = 0;
  /// The same with what happened before the start.
  virtual store::EventLog& event_log() = 0;
  /// Answers to requests that may come again.
  virtual Answered& answered() = 0;
  /// Of addresses with wrong tokens.
  virtual access::Guard& guard() = 0;
  /// One line in the log.
  virtual void audit(const Audit& call) = 0;
  /// One line a minute in the log for all of them: a client of UFM wants what is not there.
  virtual void unknown_ufm(const std::string& call) = 0;
  /// Why nothing listens at [api] listen now; empty: it does, or is not to.
  virtual void not_on_network(std::string reason) = 0;
  /// A wrong token came from there. `first`: the first one in a while.
  virtual void login_failed(const std::string& address, bool first) = 0;
  /// To be kept in the store, at some time; `now` are seconds since 1970.
  virtual void token_used(const access::Use& use, std::int64_t now) = 0;
  /// The filter in effect, configured or set.
  virtual log::Filter log_filter() const = 0;
  /// Until the next set_log_filter() or reload of the configuration.
  virtual void set_log_filter(const log::Filter& filter) = 0;
  /// The filter that the configuration says.
  virtual log::Filter configured_log_filter() const = 0;
  /// Threads for computing dumps.
  virtual const routing::Parallel& parallel() const = 0;
  /// Held while metrics are sent; null while others are: they are large.
  virtual std::shared_ptr<void> scrape_lock() = 0;
  /// Held while a dump is made; owns nothing while another one is: they are large.
  virtual std::unique_lock<std::mutex> dump_turn() = 0;
};

}  // namespace smd::api
