// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came of writing a plan: the answers, which are reads of what the nodes now hold.

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mad/clock.h"
#include "mad/wire/port_info.h"
#include "mad/wire/switch.h"
#include "smd/plan/plan.h"

namespace smd::sm::inline applying {

struct PortAnswer {
  NodeIndex node = 0;
  PortNum port;
  std::optional<wire::PortInfo> sent;  ///< nothing: a Get that followed a failed Set
  wire::PortInfo answered;
};

struct SwitchAnswer {
  NodeIndex node = 0;
  std::optional<wire::SwitchInfo> sent;
  wire::SwitchInfo answered;
};

struct ArAnswer {
  NodeIndex node = 0;
  wire::ArInfo sent, answered;
};

/// Of one switch in one round. Rounds may write a block twice: answers are in order.
struct LftAnswer {
  NodeIndex node = 0;
  BlockSet acknowledged;              ///< hold what Decided says
  std::vector<PartialBlock> partial;  ///< acknowledged too, with what was meant for the time being
  /// The Set was answered well, and a Get after it says that other entries stand in the block.
  struct Other {
    std::size_t block = 0;
    wire::LinearForwardingTable sent, held;
  };
  std::vector<Other> other;
  BlockSet unknown;  ///< Set and not (well) answered
};

/// Of one switch in one round.
struct MftAnswer {
  NodeIndex node = 0;
  std::shared_ptr<const routing::McRow> content;
  BlockSet acknowledged;  ///< mft_part: hold what `content` says
  /// The Set was answered well, and a Get after it says that other masks stand there.
  struct Other {
    std::size_t part = 0;
    wire::MulticastForwardingTable sent, held;
  };
  std::vector<Other> other;
  BlockSet unknown;  ///< Set and not (well) answered
};

/// A block of a port's table, attribute A, that was Set: what the port says it holds; nothing: not (well)
/// answered.
template <class A>
struct TableAnswer {
  NodeIndex node = 0;
  PortNum port;
  std::size_t block = 0;
  std::optional<A> held;
  bool refused = false;  ///< with a status: the table is as it was
};
template <class A>
using TableAnswers = std::vector<TableAnswer<A>>;

/// A Set without a good answer: what it was about is unknown now.
struct FailedSet {
  NodeIndex node = 0;
  PortNum port;
  std::uint16_t attribute = 0;
  std::string reason;     ///< which MAD, along which path, how often, what came back
  bool given_up = false;  ///< before its time was over, because something newer waits
};

/// A Set of a port's VL tables that was left out, because one before it was not taken (VlTableOrder).
struct HeldBackSet {
  NodeIndex node = 0;
  PortNum port;
  std::uint16_t attribute = 0;
};

/// Routes were taken away since `since`; until `until` packets that went by them may be under way, and wait
/// for what other routes would wait for.
struct Drain {
  mad::TimePoint since{}, until{};
};

struct Applied {
  std::vector<PortAnswer> ports;
  std::vector<SwitchAnswer> switches;
  std::vector<ArAnswer> adaptive;
  std::vector<LftAnswer> lfts;
  std::vector<MftAnswer> mfts;
  OfEachTable<TableAnswers> tables;
  std::vector<FailedSet> failed;
  /// Nodes to which nothing more was written: they did not answer, or refused what others rest on.
  std::vector<NodeIndex> silent, refusing;
  /// Switches that refused or ignored a block of an LFT above LinearFDBTop: it has to rise first.
  std::vector<NodeIndex> top_first;
  std::vector<HeldBackSet> held_back;
  std::size_t skipped = 0;  ///< Sets not sent because an earlier one to the same node failed
  Drain drain;
  /// Because something newer waits: while it waited for `drain`, or before tables were written that may lead
  /// over links whose Sets were given up.
  bool cut_short = false;
  bool held = false;  ///< Sets are held since a standstill: no further one was tried

  /// Of the tables that attribute A carries.
  template <class A>
  const TableAnswers<A>& answers() const {
    return std::get<TableAnswers<A>>(tables);
  }
  /// The same, to fill in.
  template <class A>
  TableAnswers<A>& answers() {
    return std::get<TableAnswers<A>>(tables);
  }
};

}  // namespace smd::sm::inline applying
