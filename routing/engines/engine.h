// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of every routing engine.

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "routing/parallel.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing {

struct MinhopOptions {
  friend bool operator==(const MinhopOptions&, const MinhopOptions&) = default;
};

struct UpdnOptions {
  std::vector<Guid> root_guids;  ///< empty: an order of our own choice, which reaches every host
  friend bool operator==(const UpdnOptions&, const UpdnOptions&) = default;
};

struct DmodcOptions {
  std::vector<Guid> root_guids;  ///< empty: found
  friend bool operator==(const DmodcOptions&, const DmodcOptions&) = default;
};

struct FtreeOptions {
  std::vector<Guid> root_guids;  ///< empty: found
  friend bool operator==(const FtreeOptions&, const FtreeOptions&) = default;
};

struct DnupOptions {
  friend bool operator==(const DnupOptions&, const DnupOptions&) = default;
};

/// Forwarding tables by GUID of the switch.
using Tables = std::map<Guid, std::shared_ptr<const LftRow>>;

struct FileOptions {
  std::shared_ptr<const Tables> tables;
  friend bool operator==(const FileOptions&, const FileOptions&) = default;
};

/// One alternative an engine. An engine given another's options uses its own defaults.
using EngineOptions =
    std::variant<MinhopOptions, UpdnOptions, DmodcOptions, FtreeOptions, DnupOptions, FileOptions>;

/// The options that are the engine's own, or its defaults.
template <class Own>
Own own_options(const EngineOptions& options) {
  const auto* const own = std::get_if<Own>(&options);
  return own != nullptr ? *own : Own{};
}

struct EngineInput {
  const Topology& topology;
  const LidMap& lids;
  EngineOptions options;
  unsigned vl_budget = 1;
  std::uint64_t seed = 0;
  const Parallel& parallel;
  std::stop_token stop;
};

struct RouteError {
  enum class Cause : std::uint8_t {
    stopped,
    no_such_root,
    no_legal_path,
    aggregation_cut_off,
    not_a_tree,
    no_tables
  };
  Cause cause = Cause::stopped;
  /// Roots that are not there; two leaves without a path; a leaf and an aggregation node without one; where a
  /// tree ends.
  std::vector<Guid> guids;
};
std::string to_string(const RouteError& error);

/// Pure and stateless: same topology and LIDs, same bytes, whatever the order of the input or the threads.
using Engine = std::expected<Routes, RouteError> (*)(const EngineInput&);

/// What is up and what is down for an engine's paths: repaired tables go by it, too. Nothing: on this fabric
/// the engine has no such order.
using EngineRanking = std::optional<SwitchRanking> (*)(const Topology&, const EngineOptions&,
                                                       const Parallel&);

std::expected<Routes, RouteError> minhop(const EngineInput& in);
std::expected<Routes, RouteError> updn(const EngineInput& in);
std::expected<Routes, RouteError> dmodc(const EngineInput& in);
std::expected<Routes, RouteError> ftree(const EngineInput& in);
std::expected<Routes, RouteError> dnup(const EngineInput& in);
std::expected<Routes, RouteError> from_file(const EngineInput& in);

std::optional<SwitchRanking> tree_ranking(const Topology&, const EngineOptions&, const Parallel&);
std::optional<SwitchRanking> updn_ranking(const Topology&, const EngineOptions&, const Parallel&);
std::optional<SwitchRanking> dmodc_ranking(const Topology&, const EngineOptions&, const Parallel&);
std::optional<SwitchRanking> ftree_ranking(const Topology&, const EngineOptions&, const Parallel&);
std::optional<SwitchRanking> dnup_ranking(const Topology&, const EngineOptions&, const Parallel&);

struct EngineInfo {
  std::string_view name, summary;
  Engine run;
  EngineRanking ranking;         ///< null: none on any fabric
  bool follows_ranking = false;  ///< all of its paths follow that order
};
inline constexpr std::array kEngines{
    EngineInfo{"dmodc", "for trees, whole or damaged: a closed form that balances every level", dmodc,
               dmodc_ranking, true},
    EngineInfo{"ftree", "for trees: as dmodc, with the n-th hosts of all leaves routed alike", ftree,
               ftree_ranking, true},
    EngineInfo{"updn", "up then down from the roots: free of credit loops on any fabric", updn, updn_ranking,
               true},
    EngineInfo{"dnup", "up then down, counted from the hosts", dnup, dnup_ranking, true},
    EngineInfo{"minhop", "a shortest path for every pair, spread evenly", minhop, tree_ranking},
    EngineInfo{"file", "tables from a file, as opensm-lfts.dump or opensm.fdbs", from_file, nullptr},
};

/// Null where no engine has the name.
const EngineInfo* find_engine(std::string_view name);

}  // namespace smd::routing
