// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a standby without a copy of the master's state does for multicast groups: it asks the master's subnet
// administration for them, so that they keep their multicast LIDs when the fabric falls to it.

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/gsi/sa_client.h"
#include "smd/log/log.h"
#include "smd/registry/groups_read.h"
#include "smd/sa/registry/prior_groups.h"
#include "smd/sa/settings.h"
#include "smd/snapshot/snapshot.h"

namespace smd::sa {

/// Where the master's SA is: our own port's MasterSMLID and MasterSMSL, as the standby's last look at the
/// fabric has them. Nothing where we are no standby, or no SM has given the port its LID. Pure.
std::optional<mad::LidRoute> masters_sa(const sm::Snapshot& snapshot);

/// On the io_context's thread.
class GroupReader {
 public:
  /// All of it outlives the reader.
  struct Parts {
    mad::SaClient& client;
    mad::Clock& clock;
    log::Log log;
    std::function<std::shared_ptr<const sm::Snapshot>()> source;  ///< the latest; null before the first
    std::function<bool()> copied;  ///< the master's state is here by another way: it is not asked
    std::function<std::uint64_t()>
        sm_key;  ///< shown to the master's SA: members are shown to those who have it
    std::function<void(PriorGroupsPtr)> found;   ///< gets what is known of the master now; null: nothing is
    std::function<std::int64_t()> wall;          ///< Unix time in seconds
    std::shared_ptr<PublishedGroupsRead> shown;  ///< for people; null: it is not shown
  };
  explicit GroupReader(Parts parts) : parts_(std::move(parts)) {}
  GroupReader(const GroupReader&) = delete;
  GroupReader& operator=(const GroupReader&) = delete;

  /// Until cancelled. While we are standby of a master whose state is not copied: asks once, then each
  /// minute, and where the standby's picture of the fabric has changed. What another master said is
  /// forgotten. Where an SA refuses, does not answer, or its answer cannot be read, what it said before
  /// stays until the next time.
  asio::awaitable<void> run();
  /// Before run() has found us standby or master: what the SM at `to` says is kept if the fabric comes to us
  /// from it, or at once. 2 s at most; nothing is known where it does not answer.
  asio::awaitable<void> read_before(mad::LidRoute to);

 private:
  bool is_due(const sm::Snapshot& now);
  asio::awaitable<void> read(mad::LidRoute to, std::shared_ptr<const sm::Subnet> subnet);
  asio::awaitable<std::expected<mad::SaRecords, mad::SaError>> ask(mad::LidRoute to,
                                                                   std::chrono::milliseconds wait);
  void know(const mad::SaRecords& records, Lid from);
  void forget();
  void show(const PriorGroups& groups);
  void say(const PriorGroups& groups);

  Parts parts_;
  Lid master_{};  ///< whose groups are read; 0: none are
  bool standby_ = false;
  bool fresh_ = true;                       ///< neither standby nor master since the start
  std::optional<mad::TimePoint> asked_;     ///< this master, last
  std::shared_ptr<const sm::Subnet> seen_;  ///< when it was asked
  PriorGroupsPtr groups_;                   ///< that it has; null: not known
};

}  // namespace smd::sa
