// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of discovery: waves of reads and probes as tasks of one group.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "smd/sweep/discover.h"
#include "smd/sweep/found.h"

namespace smd::sm {

/// P_Key tables by content: nearly all are equal.
class PKeyPool {
 public:
  std::shared_ptr<const PKeyRows> share(PKeyRows&& rows);

 private:
  std::vector<std::shared_ptr<const PKeyRows>> pool_;
};

class Discovery {
 public:
  Discovery(mad::Transactions& tx, mad::Clock& clock, asio::any_io_executor executor, const Subnet* before,
            DiscoverOptions options, std::set<std::pair<Guid, PortNum>> excluded);

 private:
  // Tasks. Each answers for its own failures by `trouble`.
  asio::awaitable<void> visit(std::optional<PeerPort> from, mad::DirectedPath path);
  asio::awaitable<void> read_description(FoundNode* found);
  asio::awaitable<void> read_switch(FoundNode* found);
  asio::awaitable<void> read_lft_block(FoundNode* found, std::shared_ptr<routing::LftRow> row,
                                       std::size_t block);
  asio::awaitable<void> read_lft(FoundNode* found);
  asio::awaitable<void> read_port(FoundNode* found, PortNum port, mad::DirectedPath path);
  asio::awaitable<void> read_pkeys(FoundNode* found, PortNum port, mad::DirectedPath path);
  asio::awaitable<void> read_fdr10(FoundNode* found, PortNum port, mad::DirectedPath path);
  asio::awaitable<void> read_sm_info(FoundNode* found, PortNum port, mad::DirectedPath path);

  // Waves.
  void start(asio::awaitable<void> task);
  asio::awaitable<void> counted(asio::awaitable<void> task);
  bool begin_reads();
  bool begin_probes();
  asio::awaitable<bool> settle();
  asio::awaitable<bool> explore();

  bool tables_stand(const FoundNode& found, const Node& before) const;
  void trouble(const FoundNode& found, PortNum port, const mad::RequestError& error);
  /// Asks a node for an attribute. On the io_context only; nothing outlives this object.
  template <wire::Layout A>
  asio::awaitable<mad::Asked<A>> ask(const FoundNode& found, const mad::DirectedPath& path,
                                     std::uint32_t modifier) {
    return mad::get<A>(tx_, {.route = path, .node = found.node.guid()}, modifier);
  }
  std::set<std::pair<Guid, PortNum>> newcomers() const;
  Subnet finish();

  mad::Transactions& tx_;
  mad::Clock& clock_;
  const Subnet* before_;
  DiscoverOptions options_;
  Findings findings_;
  PKeyPool pkeys_;
  std::vector<ToRead> to_read_;
  std::vector<FoundNode*> may_probe_;  ///< switches (and ourselves) whose ports may lead on
  std::set<std::pair<Guid, PortNum>> probed_;
  std::vector<Unresponsive> unresponsive_;
  std::vector<OtherSm> other_sms_;
  std::optional<PeerPort> self_;
  std::string own_port_error_;
  std::uint64_t completed_ = 0;
  std::size_t running_ = 0;
  mad::WaitList waiters_;
  mad::TaskGroup group_;

  friend asio::awaitable<std::expected<Subnet, std::string>> discover(mad::Transactions*, mad::Clock*,
                                                                      const Subnet*, DiscoverOptions);
};

}  // namespace smd::sm
