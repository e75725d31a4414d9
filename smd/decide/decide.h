// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what is to what should be.

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "config/config.h"
#include "routing/engines/engine.h"
#include "routing/parallel.h"
#include "smd/decide/decided.h"
#include "smd/decide/lids.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

/// Forwarding tables by switch.
using GivenTables = std::map<Guid, std::shared_ptr<const routing::LftRow>>;

struct DecideInput {
  const Subnet& subnet;
  const config::SubnetConfig& config;
  const Stored& stored;
  bool adopting = false;  ///< we have just become master
  /// Tables are computed by the engine, not repaired.
  enum class Fresh : std::uint8_t {
    no,
    canonical,     ///< as if there were none, but the engine stays, and so do the layers of pairs
    new_layers,    ///< the same, and pairs have the layers that the engine gives them
    any_engine,    ///< the same, and the engine may change if that is worth it
    same_ranking,  ///< by the engine and ranking of the tables before; no routes if that has none
  };
  Fresh fresh = Fresh::no;
  /// Members of each multicast LID; null: not known yet, what switches forward stays.
  std::shared_ptr<const GroupList> multicast = nullptr;
  PolicyPtr partitions = nullptr;    ///< null: P_Key tables of the ports of SMs only
  bool keep_unknown_groups = false;  ///< MLIDs without members stay as switches have them
  /// Other tables than those that are decided first, because writing those takes routes out of service. Where
  /// there are none Decided has no routes; multicast is not decided.
  enum class Instead : std::uint8_t {
    no,
    same_ranking,  ///< repaired by the ranking of the tables before
    extend,        ///< those before are only extended
    first_layers   ///< those before, but pairs of switches come back to the layers that they had at first
  };
  Instead instead = Instead::no;
  /// These tables are taken as they are, whatever verification finds, under the engine's name "lfts". A
  /// switch without one has none.
  const GivenTables* given = nullptr;
  const Decided* previous = nullptr;  ///< parts with equal inputs are taken from here
  const routing::Parallel& parallel;
  /// Layers that engines may use, 1 to 15. Nothing: as many as [routing] path_sl and the links allow.
  std::optional<unsigned> vl_budget = std::nullopt;
  std::vector<Guid> file_order = {};  ///< node GUIDs; numbers hosts for quality figures
  std::stop_token stop = {};
};

struct Decision {
  Decided decided;
  DecideTimes times;
};

/// Replaces the partitions of `decided`, the P_Key tables and the QoS policy; parts that are equal are those
/// of `before`. Index 0 of `reindex` (port GUIDs) is decided anew.
void decide_partitions(const DecideInput& in, const Decided& before, Decided& decided,
                       const std::set<Guid>& reindex = {});

/// Replaces the tables of QoS; they are those of `before` where they are equal.
void decide_qos_tables(const DecideInput& in, const Decided& before, Decided& decided);

/// Pure and deterministic. Fails only when stopped.
std::expected<Decision, routing::RouteError> decide(const DecideInput& in);

/// [routing] as engines take it.
routing::RoutingOptions routing_options(const config::RoutingConfig& config);

/// [lids] as decide_lids takes it; LMC 0 where none is given.
LidOptions lid_options(const config::LidsConfig& config);

}  // namespace smd::sm::inline decisions
