// SPDX-License-Identifier: Apache-2.0
#pragma once
// The channel dependency graph of one layer while paths are put into it, kept free of cycles.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/engines/channel_net.h"
#include "routing/topology/online_order.h"

namespace smd::routing::inline engines {

/// Channels keep a topological order, which is mended locally where a new dependency runs against it.
class LayerGraph {
 public:
  /// No dependencies. The net must outlive it.
  explicit LayerGraph(const ChannelNet& net);

  /// Adds the dependencies of a pair of paths, all or none: false if they would close a cycle.
  bool add(std::span<const ChannelPair> dependencies);

 private:
  bool held(std::uint32_t index) const { return ((held_[index / 64] >> (index % 64)) & 1U) != 0; }
  bool closing(std::uint32_t index) const { return ((closing_[index / 64] >> (index % 64)) & 1U) != 0; }
  void link(const ChannelPair& pair);
  void unlink(const ChannelPair& pair);
  bool insert(const ChannelPair& pair);
  bool leads(NetChannel from, NetChannel to);
  template <class Fn>
  void for_each_after(NetChannel c, const Fn& fn) const;
  template <class Fn>
  void for_each_before(NetChannel c, const Fn& fn) const;

  const ChannelNet* net_;
  std::size_t words_;                   ///< a bit for each neighbour of the largest switch
  std::vector<std::uint64_t> after_;    ///< by channel: which of those that leave its head it waits for
  std::vector<std::uint64_t> before_;   ///< by channel: from which neighbours of its tail others wait for it
  std::vector<std::uint64_t> held_;     ///< by ChannelPair::index: it is in the graph
  std::vector<std::uint64_t> closing_;  ///< by ChannelPair::index: would close a cycle, as nothing is removed
  OnlineOrder order_;                   ///< a channel is before those that it waits for
  std::vector<ChannelPair> added_;
};

}  // namespace smd::routing::inline engines
