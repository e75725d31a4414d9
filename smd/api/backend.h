// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API shows and changes, independent of its owner.

#include <chrono>
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
#include "smd/ha/sm_view.h"
#include "smd/log/log.h"
#include "smd/policy/policies.h"
#include "smd/registry/registry.h"
#include "smd/schedule/agenda.h"
#include "smd/snapshot/snapshot.h"
#include "smd/store/trouble.h"

namespace smd::api {

/// Why a subnet's manager cannot go on by itself.
struct Waiting {
  std::string what;  ///< "port", "link", "device", "sm_place", "own_port", "sa", "state"; "master" is seen in
                     ///< the snapshot
  std::string reason;  ///< one line
  std::chrono::system_clock::time_point since;
};

/// What the partitions of a subnet are made of.
struct PolicyGround {
  std::shared_ptr<const config::SubnetConfig> config;  ///< not null
  policy::PoliciesPtr policies;                        ///< of the API
  policy::MergedPtr merged{};                          ///< of both
};
using PolicyGroundPtr = std::shared_ptr<const PolicyGround>;

/// Other partitions of the API.
struct PolicyChange {
  PolicyGroundPtr before;  ///< what it was made from
  policy::PoliciesPtr after;
  policy::MergedPtr merged;  ///< of `after` and the files
  std::string what;          ///< "add members to", for the log
  std::string partition;
  PKey pkey{};
};
enum class PolicyVerdict : std::uint8_t {
  done,      ///< kept in the store; the fabric follows
  stale,     ///< the ground is another one by now: nothing was done
  not_kept,  ///< the store takes nothing: nothing was done
};

/// One subnet as it is now.
struct SubnetView {
  std::string name;  ///< empty as long as it is the GUID of a port that is not there yet
  std::string port;  ///< where: "mlx5_0:1", or as the operator named it as long as nothing is open
  std::optional<Waiting> waiting{};
  std::shared_ptr<const sm::Snapshot> snapshot{};  ///< null before the first sweep
  std::chrono::system_clock::time_point swept{};   ///< when that ended
  std::shared_ptr<const sm::SmView> sms{};         ///< null before there is a port
  sa::RegistryPtr registry{};                      ///< what clients have registered; null before it is known
  PolicyGroundPtr ground{};                        ///< null before the store is open
};

struct DaemonInfo {
  std::string version;
  std::string configuration;                              ///< the file; empty: none
  std::chrono::system_clock::time_point started, loaded;  ///< when smd began, when the file was read last
  std::optional<store::Failure> store{};                  ///< why changes are in memory only at present
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
  /// Requests a sweep of the subnet with this position in subnets().
  virtual void resweep(std::size_t subnet, sm::Resweep kind) = 0;
  /// What is lost there is missing on purpose: of `node`, or (0) all of it.
  virtual void accept_lost(std::size_t subnet, Guid node) = 0;
  /// Keeps the change and then puts it in force. The answer comes within the store's patience.
  virtual std::future<PolicyVerdict> change_policies(std::size_t subnet, PolicyChange change) = 0;
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew.
  virtual void reindex(std::size_t subnet, const std::set<Guid>& ports) = 0;
  /// Hands the fabric over to this SM, where ours is master.
  virtual void hand_over(std::size_t subnet, Guid to) = 0;
  /// Of SMInfo, until the next start; 0 to 15.
  virtual void set_priority(std::size_t subnet, std::uint8_t priority) = 0;
  /// The filter in effect, configured or set.
  virtual log::Filter log_filter() const = 0;
  /// Until the next set_log_filter() or reload of the configuration.
  virtual void set_log_filter(const log::Filter& filter) = 0;
  /// The filter that the configuration says.
  virtual log::Filter configured_log_filter() const = 0;
  /// Threads for computing dumps.
  virtual const routing::Parallel& parallel() const = 0;
  /// Held while a dump is made; owns nothing while another one is: they are large.
  virtual std::unique_lock<std::mutex> dump_turn() = 0;
};

}  // namespace smd::api
