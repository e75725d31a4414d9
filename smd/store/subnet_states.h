// SPDX-License-Identifier: Apache-2.0
#pragma once
// The store of one state directory without its thread: which subnets are open, what each should hold, what
// the file is known to hold, and what happens when it cannot be written.

#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "smd/decide/stored.h"
#include "smd/log/log.h"
#include "smd/store/database.h"
#include "smd/store/kept.h"
#include "smd/store/lock.h"
#include "smd/store/ongoing_failure.h"

namespace smd::store {

/// Every failure is one line when it begins and one when it is over; between them the subnets live from
/// memory. Used by one thread at a time.
class SubnetStates {
 public:
  /// Nothing is opened or made yet.
  SubnetStates(Place place, log::Log log);

  /// Locks the subnet's state and reads it. Refused, with the reason, where another process has it or it is
  /// open already. Where it cannot be had for another reason it is empty, and written when that becomes
  /// possible.
  std::expected<sm::StoredPtr, std::string> open(const std::string& subnet);
  /// Unlocks it and forgets what was not written. Ignored where it is not open.
  void close(const std::string& subnet);

  /// What it held when it was opened, or is to hold now; nothing where it is not open.
  Kept kept(const std::string& subnet) const;

  /// What the subnet should hold from now on of one kind of state; write() brings it to the disk.
  void put(const std::string& subnet, sm::StoredPtr now) { put_state(subnet, std::move(now)); }
  void put(const std::string& subnet, sa::RegistryPtr now) { put_state(subnet, std::move(now)); }
  void put(const std::string& subnet, policy::PoliciesPtr now) { put_state(subnet, std::move(now)); }
  void put(const std::string& subnet, ReplicaStatePtr now) { put_state(subnet, std::move(now)); }
  /// One transaction for all subnets. True: all that was put is on the disk.
  bool write();
  /// Something that was put is not on the disk.
  bool behind() const;
  /// What keeps it from writing; may be asked from any thread.
  const std::shared_ptr<OngoingFailure>& ongoing_failure() const { return failure_; }

 private:
  struct SubnetState {
    std::optional<FileLock> lock;
    Kept wanted = nothing_kept();
    Kept held;  ///< on the disk; null: not known
    bool behind() const { return wanted != held; }
  };
  template <class Ptr>
  void put_state(const std::string& subnet, Ptr now) {
    const auto it = states_.find(subnet);
    if (it != states_.end()) std::get<Ptr>(it->second.wanted) = std::move(now);
  }
  std::expected<void, std::string> peek(const std::string& subnet, SubnetState& state);
  std::expected<void, std::string> lock(const std::string& subnet, SubnetState& state, bool& taken);
  bool ready();
  bool load(const std::string& subnet, SubnetState& state);
  bool set_aside(const std::string& reason);
  void say_set_aside(const SetAside& aside);
  SqlResult<void> write_once();
  void forget_file();
  void failed(const std::string& reason);

  Place place_;
  log::Log log_;
  std::optional<Database> database_;
  std::map<std::string, SubnetState> states_;
  std::shared_ptr<OngoingFailure> failure_;
};

}  // namespace smd::store
