// SPDX-License-Identifier: Apache-2.0
#pragma once
// One plan being written: makes the requests of each round and keeps what came of them.

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "mad/transactions/ask.h"
#include "smd/apply/apply.h"
#include "smd/apply/request_pipeline.h"
#include "smd/apply/vl_table_order.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline applying {

/// One apply(); see apply.h.
class Applier {
 public:
  /// Sends nothing yet. References outlive run().
  Applier(mad::Transactions& tx, mad::Clock& clock, ApplyInput&& in);
  /// Once. Carries out the rounds in order, until one may not go on; see Applied.
  asio::awaitable<Applied> run();

 private:
  RequestPipeline::Source source(const Round& round);
  RequestPipeline::Source lft_source(const Round& round);
  RequestPipeline::Source mft_source(const Round& round);
  RequestPipeline::Source table_source(const Round& round);
  RequestPipeline::Source port_source(const Round& round);
  RequestPipeline::Source switch_source(const Round& round);
  RequestPipeline::Source adaptive_source(const Round& round);

  std::optional<Job> lft_job(NodeIndex node, const PartialBlock& block, const mad::DirectedPath& path,
                             std::size_t answer);
  void lft_done(NodeIndex node, const PartialBlock& block, std::size_t answer);
  std::optional<Job> check_lft(NodeIndex node, const PartialBlock& block, const mad::DirectedPath& path,
                               std::size_t answer, const wire::LinearForwardingTable& sent);
  std::optional<Job> check_mft(NodeIndex node, std::size_t part, const mad::DirectedPath& path,
                               std::size_t answer, const wire::MulticastForwardingTable& sent);
  bool above_top(NodeIndex node, std::size_t block) const;
  void top_first(NodeIndex node, std::size_t block, std::size_t answer);
  std::optional<Job> mft_job(const MftItem& item, std::size_t part, std::size_t answer);
  template <class A>
  std::optional<Job> table_job(const TableItem<A>& item);
  bool refuses(NodeIndex node, std::uint16_t attribute, const mad::RequestError& error) const;
  void failed_port_table(NodeIndex node, PortNum port, std::uint16_t attribute,
                         const mad::RequestError& error, bool refused);
  std::optional<Job> port_job(const PortItem& item, Phase phase);
  std::optional<Job> switch_job(NodeIndex node);
  std::optional<Job> adaptive_job(NodeIndex node);
  std::optional<Job> check_port(const PortItem& item, const mad::DirectedPath& path,
                                const wire::PortInfo& sent, const mad::RequestError& error);
  std::optional<Job> check_switch(NodeIndex node, const mad::DirectedPath& path, const wire::SwitchInfo& sent,
                                  const mad::RequestError& error);

  void begin_drain();
  asio::awaitable<bool> drained();
  bool has_failed(NodeIndex node, PortNum port) const;
  bool blocked(NodeIndex node, PortNum port) const;
  void silent(NodeIndex index);
  void failed(NodeIndex node, PortNum port, std::uint16_t attribute, std::string reason,
              bool given_up = false);
  /// Something newer waits: it was not refused, and is not lost.
  static bool is_given_up(const mad::RequestError& error);
  void failed_table(NodeIndex node, std::uint16_t attribute, const mad::RequestError& error);
  mad::Request table_request(mad::Request request) const;
  std::optional<mad::DirectedPath> path_to(NodeIndex node) const;
  std::optional<mad::DirectedPath> path_to_port(NodeIndex node, PortNum port) const;
  PlanInput plan_input() const { return {*in_.subnet, in_.decided}; }
  mad::Target target(NodeIndex node, PortNum port, const mad::DirectedPath& path) const;
  std::uint32_t port_modifier(NodeIndex node, PortNum port) const;

  mad::Transactions& tx_;
  mad::Clock& clock_;
  ApplyInput in_;
  Paths paths_;
  std::optional<Paths> ways_round_;  ///< the same without the nodes that are left out
  Applied applied_;
  VlTableOrder vl_tables_;
  std::vector<bool> failed_nodes_;
  std::set<std::pair<Guid, PortNum>> failed_ports_;
  std::set<std::pair<Guid, PortNum>> unenforced_;  ///< ports of switches that refuse their P_Key table
};

}  // namespace smd::sm::inline applying
