// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that asks for work, merged into one latest value of each kind: a thousand traps make one sweep.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mad/base/enum_set.h"
#include "mad/base/id.h"
#include "mad/suspend.h"
#include "smd/schedule/part.h"

namespace smd::sm::inline scheduling {

/// Kinds of work. Each waits for itself, so that none keeps another from being done; which is done first is
/// the manager's decision. Only a heavy sweep, which looks at every node, does what was asked of single nodes
/// as well.
enum class Work : std::uint8_t {
  vl_tables,    ///< tables that no sweep waits for are read; only when nothing else is due
  inventory,    ///< what is lost is accepted
  trap_gap,     ///< switches are asked that may not send a trap yet
  retraining,   ///< links that train are looked at
  follow,       ///< the fabric was handed over: this SM is a standby from now on; before all else
  light,        ///< a light sweep
  incremental,  ///< a sweep of the suspects
  heavy         ///< a sweep of the whole fabric
};
using WorkSet = base::EnumSet<Work>;

/// What an operator may ask for.
enum class Resweep : std::uint8_t {
  light,
  heavy,
  converge,        ///< tables converge to the engine's own, in steps
  converge_engine  ///< the same, and to another engine's where that is worth it
};

struct Asked {
  WorkSet work;
  PartSet parts;            ///< to be reconciled between two sweeps
  std::string reason;       ///< of the first that asked for it
  std::set<Guid> suspects;  ///< incremental: nodes that are to be looked at again
};

/// A set of kinds of work and a set of parts. On the io_context's thread.
class Agenda {
 public:
  /// `reason` counts where the work is not asked for yet. Wakes changed().
  /// `asked_for`: by an operator, so that it is done while sweeps are off.
  void add(Work work, std::string reason, bool asked_for = false) {
    insisted_ = insisted_ || asked_for;
    auto& first = reasons_[static_cast<std::size_t>(work)];
    if (!work_.contains(work)) first = std::move(reason);
    work_.insert(work);
    waiting_.wake_all();
  }
  /// Adds to what is asked for. Wakes changed().
  void add(PartSet parts) {
    parts_.insert(parts);
    waiting_.wake_all();
  }
  /// The heavy sweep that is asked for waits for nothing.
  void hurry() {
    hurried_ = asks(Work::heavy);
    waiting_.wake_all();
  }
  bool hurried() const { return hurried_; }
  /// What is asked for is to be done while sweeps are off, too.
  bool insisted() const { return insisted_ || hurried_; }
  /// Asks for an incremental sweep of this node too.
  void look_at(Guid node, std::string reason) {
    suspects_.insert(node);
    add(Work::incremental, std::move(reason));
  }

  bool empty() const { return work_.empty() && parts_.empty(); }  ///< neither work nor parts
  /// Nothing is asked for that reading VL tables would hold up.
  bool idle() const {
    return (work_ | WorkSet{Work::vl_tables}) == WorkSet{Work::vl_tables} && parts_.empty();
  }
  bool asks(Work work) const { return work_.contains(work); }  ///< one kind
  /// A sweep of the fabric or of parts of it.
  bool asks_sweep() const { return asks(Work::heavy) || asks(Work::incremental); }
  PartSet parts() const { return parts_; }
  const std::set<Guid>& suspects() const { return suspects_; }

  /// Of `work` what is asked for, with the reason of its last kind. A sweep takes the suspects, and with them
  /// the incremental sweep.
  Asked take(WorkSet work) {
    const bool sweep = work.contains(Work::incremental) || work.contains(Work::heavy);
    Asked taken{.work = work & work_, .parts = {}, .reason = {}, .suspects = {}};
    for (const auto kind : taken.work) taken.reason = std::move(reasons_[static_cast<std::size_t>(kind)]);
    if (sweep) {
      taken.suspects = std::exchange(suspects_, {});
      work_.erase(Work::incremental);
    }
    work_.erase(work);
    insisted_ = insisted_ && asks_sweep();
    hurried_ = hurried_ && asks(Work::heavy);
    return taken;
  }
  /// All parts that are asked for.
  PartSet take_parts() { return std::exchange(parts_, {}); }

  /// Until something is asked, or wake(); false when cancelled.
  asio::awaitable<bool> changed() { return waiting_.wait(); }
  /// changed() returns although nothing was asked.
  void wake() { waiting_.wake_all(); }

 private:
  static constexpr std::size_t kKinds = 8;
  WorkSet work_;
  PartSet parts_;
  bool hurried_ = false, insisted_ = false;
  std::array<std::string, kKinds> reasons_;  ///< by Work
  std::set<Guid> suspects_;
  mad::WaitList waiting_;
};

}  // namespace smd::sm::inline scheduling
