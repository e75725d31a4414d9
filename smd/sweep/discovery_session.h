// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a sweep asks nodes and what it has found: reads and probes as tasks of one group, in waves that
// heavy_sweep() and incremental_sweep() order.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "smd/sweep/discovery_state.h"
#include "smd/sweep/heavy_sweep.h"

namespace smd::sm::inline sweeping {

class DiscoverySession {
 public:
  /// `before` may be null. With `adopt` a node of `before` that is met is taken as it was until it is read.
  DiscoverySession(mad::Transactions& tx, mad::Clock& clock, asio::any_io_executor executor,
                   const Subnet* before, SweepOptions options, DiscoveryState findings);

  // Tasks. Each answers for its own failures by `report_error`.
  /// Probes with NodeInfo along `path`, which leaves `from`; nothing: our own port.
  asio::awaitable<void> visit(std::optional<PeerPort> from, mad::DirectedPath path);
  /// A node without an answer keeps the description that it had in `before`.
  asio::awaitable<void> read_description(FoundNode* found);
  /// Once more, of a node that is known: what it says of itself may have changed, or another may answer.
  asio::awaitable<void> read_node_info(FoundNode* found);
  /// SwitchInfo, then clear_change() and read_switch_rest(), also where SwitchInfo is not answered.
  asio::awaitable<void> read_switch(FoundNode* found);
  /// Clears PortStateChange where it is set and `clear_changes` says so.
  asio::awaitable<void> clear_change(FoundNode* found);
  /// What depends on SwitchInfo: ports and tables.
  asio::awaitable<void> read_switch_rest(FoundNode* found);
  /// `hint`: not asked for its own sake; it is not waited for long, and no answer means nothing.
  asio::awaitable<void> read_port(FoundNode* found, PortNum port, mad::DirectedPath path, bool hint = false);

  // Waves.
  /// Begins a task of the group at once; it counts for settle().
  void start(asio::awaitable<void> task);
  /// Waits until no more than `left` tasks are going on, or until nothing has ended for as long as we have
  /// patience. False when cancelled.
  asio::awaitable<bool> settle(std::size_t left = 0);
  /// The same, of the tasks begun since a wait ended without patience: each straggler is waited for once.
  asio::awaitable<bool> settle_new();
  /// How many tasks have ended so far.
  std::uint64_t completed() const { return completed_; }
  /// Begins to read what the probes have found; false: there was nothing.
  bool begin_reads();
  /// Every port of `may_probe` that has a link whose other end was not seen.
  bool begin_probes();
  /// Cancels the tasks and waits until they have ended.
  asio::awaitable<void> stop() { return group_.stop(); }
  bool idle() const { return running_ == 0; }  ///< no task is going on

  /// The request was not answered; ignored where it was dropped because the node is silent anyway.
  void report_error(const FoundNode& found, PortNum port, const mad::RequestError& error);

  // What came of it.
  DiscoveryState findings;
  std::vector<FoundNode*> may_probe;  ///< switches (and ourselves) whose ports may lead on
  std::vector<Unresponsive> unresponsive;
  std::vector<OtherSm> other_sms;
  std::optional<PeerPort> self;
  std::string own_port_error;
  std::string other_node;  ///< says where another node answers than the one that was there

 private:
  asio::awaitable<void> counted(asio::awaitable<void> task, std::uint64_t wave);
  asio::awaitable<mad::Asked<wire::NodeInfo>> ask_who(std::optional<PeerPort> from, mad::DirectedPath path,
                                                      std::uint64_t* m_key);
  asio::awaitable<void> find_m_key(FoundNode* found, PortNum port, mad::Target target);
  asio::awaitable<void> read_lft(FoundNode* found);
  void read_unknown_blocks(FoundNode* node);
  void keep_port(FoundNode& found, PortNum port) const;
  /// Blocks of a switch's LFT, `next` the first that was not asked for.
  struct LftReading {
    FoundNode* node = nullptr;
    std::shared_ptr<routing::LftRow> row;
    std::vector<std::size_t> blocks;
    std::size_t next = 0;
  };
  void read_blocks(LftReading reading);
  asio::awaitable<void> read_next_blocks(std::shared_ptr<LftReading> reading);
  asio::awaitable<void> read_pkeys(FoundNode* found, PortNum port, mad::DirectedPath path);
  asio::awaitable<void> read_fdr10(FoundNode* found, PortNum port, mad::DirectedPath path);
  asio::awaitable<void> read_sm_info(FoundNode* found, PortNum port, mad::DirectedPath path);
  Lid own_master() const;
  bool tables_stand(const FoundNode& found, const Node& before) const;
  const Port* port_before(const FoundNode& found, PortNum port) const;
  bool pkeys_stand(const FoundNode& found, PortNum port) const;
  bool may_have_further_pkeys(const Node& node, PortNum port) const;
  void keep_tables_that_stand(FoundNode& found, PortNum port) const;
  asio::awaitable<bool> may_ask(FoundNode* found, std::uint16_t attribute);
  static void asked(FoundNode& found, std::uint16_t attribute, const mad::RequestError* error);
  /// Asks a node for an attribute. `port`: of a CA or router, where `path` leads to. On the io_context only;
  /// nothing outlives this object. Fault::closed where it has shown that it does not answer such questions.
  template <wire::Layout A>
  asio::awaitable<mad::Asked<A>> ask(FoundNode* found, PortNum port, mad::DirectedPath path,
                                     std::uint32_t modifier) {
    const bool may = co_await may_ask(found, A::kAttribute);
    if (!may) co_return std::unexpected(mad::RequestError{.fault = mad::Fault::closed});
    auto answer = co_await mad::get<A>(tx_, target_of(found->node, port, path), modifier);
    asked(*found, A::kAttribute, answer ? nullptr : &answer.error());
    co_return answer;
  }

  mad::Transactions& tx_;
  mad::Clock& clock_;
  const Subnet* before_;
  SweepOptions options_;
  TablePool<wire::PKeyTable> pkeys_;
  std::vector<ToRead> to_read_;
  std::set<std::pair<Guid, PortNum>> probed_;
  std::uint64_t completed_ = 0;  ///< tasks, and blocks of LFTs
  std::size_t running_ = 0, left_ = 0;
  std::uint64_t wave_ = 0;      ///< of the tasks that are begun now
  std::size_t stragglers_ = 0;  ///< running tasks of earlier waves
  mad::WaitList waiters_;
  mad::TaskGroup group_;
};

/// LIDs are lost by a restart: a node that has them still is the one we left.
bool same_incarnation(const Node& before, const Node& now);

}  // namespace smd::sm::inline sweeping
