// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of the routing engines.

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/torus_conf.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// Forwarding tables by GUID of the switch.
using Tables = std::map<Guid, std::shared_ptr<const LftRow>>;

/// What the operator configures for engines. An engine reads the members that concern it and ignores the
/// others.
struct RoutingOptions {
  std::vector<Guid> root_guids{};          ///< top switches of the tree; empty: the engine finds them
  std::shared_ptr<const Tables> tables{};  ///< for the engine `file`
  std::optional<base::TorusConf> torus{};  ///< for `torus-2QoS`; nothing: it finds the torus
  friend bool operator==(const RoutingOptions&, const RoutingOptions&) = default;
};

/// SLs that there are, and VLs, the management VL counted as one.
inline constexpr unsigned kMostLayers = 16;

struct EngineInput {
  RoutingContext context;
  RoutingOptions options{};
  unsigned vl_budget = 1;            ///< VLs, and layers that have one of their own, at most, 1 to 16
  unsigned sl_budget = kMostLayers;  ///< layers, at most
  std::uint64_t seed = 0;
  /// To be followed instead of the engine's own: tables that installed ones turn into without a new order of
  /// the switches. Engines without follows_ranking ignore it.
  const SwitchRanking* ranking = nullptr;
  /// The widest cabling seen, by which an engine may number switches, so that it does not change while some
  /// of it is missing. Null: the fabric's.
  const Topology* widest = nullptr;
};

struct RouteError {
  enum class Cause : std::uint8_t {
    stopped,
    no_such_root,
    no_legal_path,
    not_a_tree,
    not_a_lattice,
    no_tables,
    too_few_vls,
    too_few_sls,
    not_a_torus,
    no_seed,
    other_torus,
    torus_in_pieces
  };
  Cause cause = Cause::stopped;
  /// Roots that do not exist; two leaves without a path; a leaf and a neighbour of it that is not above it;
  /// two switches of a torus without a path; with other_torus a switch that is elsewhere, if it is one.
  std::vector<Guid> guids;
  unsigned vls = 0;     ///< with too_few_vls and too_few_sls: those that were allowed
  unsigned needed = 0;  ///< instead of them; 0: not known, 17: more than there are
};
/// The error in one line, with its GUIDs.
std::string to_string(const RouteError& error);

/// Pure and stateless: the same topology and LIDs give the same bytes, for any order of the input and any
/// threads.
using Engine = std::expected<Routes, RouteError> (*)(const EngineInput&);

/// The ranking that the engine's paths follow; repair uses it too. Nothing: the engine has none for this
/// fabric.
using EngineRanking = std::optional<SwitchRanking> (*)(const Topology&, const RoutingOptions&,
                                                       const Parallel&);

/// A row of the registry (engines/engine.cpp). Each engine defines its row in its own .cpp.
struct EngineInfo {
  std::string_view name, summary;
  Engine run;
  EngineRanking ranking = nullptr;  ///< null: the engine has no ranking for any fabric
  bool follows_ranking = false;     ///< all its paths follow that ranking
  bool uses_roots = false;          ///< it reads RoutingOptions::root_guids
  bool spreads_roles = false;       ///< compute and I/O nodes are spread each by themselves
  /// On damaged fabrics routes may be missing. The chain adds them where they close no cycle of channels with
  /// the others.
  bool leaves_gaps = false;
  bool layered = false;  ///< its paths have several layers, and clients must use the SL of each
  /// Its tables follow from positions, which are those of EngineInput::widest: what is damaged is not
  /// repaired but recomputed, and pairs keep their layers.
  bool by_position = false;
};

/// All engines, in the order in which the documentation lists them.
std::span<const EngineInfo> all_engines();

/// Null if no engine has that name.
const EngineInfo* find_engine(std::string_view name);

}  // namespace smd::routing::inline engines
