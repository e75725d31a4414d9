// SPDX-License-Identifier: Apache-2.0
#pragma once
// One decision on forwarding tables, for the files of this folder that make it: routes.cpp (fresh tables, and
// which way is taken), routes_left_engine.cpp (an engine that has to be left, and comes back),
// routes_repair.cpp (tables that were there before, mended), routes_adopt.cpp (tables that switches hold).

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routing/chain/chain.h"
#include "routing/repair/repair.h"
#include "smd/base/stopwatch.h"
#include "smd/decide/adopted_layers.h"
#include "smd/decide/routes.h"

namespace smd::sm::inline decisions {

using RoutePartOr = std::expected<std::shared_ptr<const RoutePart>, routing::RouteError>;
using RankingPtr = std::shared_ptr<const routing::GuidRanking>;

/// One decision: the topology as it is, and what may become of the tables that are there.
class RouteDecision {
 public:
  RouteDecision(const DecideInput& in, const LidPart& lids, routing::TopologyInput input,
                const LayerBudget& budget, DecideTimes& times);

  /// See decide_routes(). To be called once.
  RoutePartOr decide();

 private:
  std::expected<routing::Chosen, routing::RouteError> run_chain(const routing::EngineInput& input,
                                                                const routing::ChainOptions& options);
  bool sls_are_all_one() const;
  std::optional<routing::InstalledEngine> installed() const;
  bool cannot_return(const std::optional<routing::InstalledEngine>& left, const std::string& chosen) const;
  RoutePart::LeftEngine left_engine(const std::string& engine) const;
  void use_own_vls(const routing::EngineInput& input, const routing::ChainOptions& options,
                   routing::Chosen& chosen) const;
  void stop_waiting();
  bool keeps_engine(const RoutePart& before);
  void keep_stored_engine();
  RoutePartOr fresh();
  RoutePartOr with_ranking(RoutePartOr part);
  void keep_sls(RoutePart& part) const;
  RoutePartOr standing_in(RoutePartOr part) const;
  RoutePartOr mended(const RoutePart& before);
  RoutePartOr mended_tables(const RoutePart& before);
  RoutePartOr fresh_or_waiting(const RoutePart& before);
  void take_choice(const RoutePart& before);
  RoutePartOr fresh_by_ranking(const RoutePart& before);
  routing::RoutingOptions options() const;
  RoutePartOr given(const GivenTables& tables);
  RoutePartOr adopt(std::vector<routing::OldRow> held);
  RoutePartOr anew_for_clients();
  static RoutePartOr repaired_again(const RoutePart& held, const RoutePart& fresh_part);
  void take_sls_of_before();
  bool one_layer_in_use() const;
  RoutePartOr as_they_are(const std::vector<routing::OldRow>& held, const routing::VlMap& vls);
  void take_first_layers(RoutePart& part) const;
  RoutePartOr instead_of_held(const RoutePart& fresh_part, bool refused) const;
  RoutePartOr repair(std::span<const routing::OldRow> old, const std::string& engine,
                     const RoutePart* before = nullptr, const RankingPtr& ranking = nullptr);
  RoutePartOr with_room(std::span<const routing::OldRow> old, const std::string& engine,
                        std::shared_ptr<const RoutePart> part);
  RoutePartOr repair_otherwise(std::span<const routing::OldRow> old, const std::string& engine,
                               const RoutePart& before, bool follows);
  RankingPtr reoriented(const std::string& engine, const RankingPtr& ranking) const;
  RankingPtr ranking_of(const std::string& engine) const;
  std::optional<routing::SwitchRanking> ranking_now(const routing::EngineInfo& engine,
                                                    const RankingPtr& ranking) const;
  RoutePartOr repair_layers(std::span<const routing::OldRow> old, const std::string& engine);
  RoutePartOr extend_in_layers(std::span<const std::shared_ptr<const routing::LftRow>> rows,
                               const std::string& engine, const routing::PairLayers& now,
                               const routing::PairLayers& home);
  RoutePartOr return_pairs(std::span<const routing::OldRow> old, const std::string& engine,
                           const RoutePart& before);
  RoutePartOr extend(const RoutePart& before);
  std::vector<std::shared_ptr<const routing::LftRow>> by_switch(std::span<const routing::OldRow> old) const;
  std::vector<routing::OldRow> held_tables() const;
  bool add_returned(std::vector<routing::OldRow>& old, const RoutePart& before) const;
  void settle_orphans(routing::Routes& routes) const;
  RoutePartOr finish(routing::Routes&& routes, std::string engine, RoutePart::Origin origin,
                     const RoutePart* before = nullptr, RankingPtr ranking = nullptr);
  routing::Verification verify(const routing::Routes& routes, const RoutePart* before) const;
  bool usable(const routing::Verification& found) const;

  const DecideInput& in_;
  const LidPart& lids_;
  LayerBudget budget_;
  DecideTimes& times_;
  Stopwatch lap_;
  RoutePart base_;
  bool of_another_ = false;                   ///< the tables to build on are not ours
  std::optional<AdoptedLayers> sls_of_file_;  ///< what clients have from the SM before us
  std::string not_repaired_;
  bool credit_loops_ = false;                      ///< that is why
  std::optional<routing::InstalledEngine> stays_;  ///< while RoutePart::engine_waits
  bool stays_in_one_layer_ = false;                ///< as its tables have
  std::shared_ptr<const RoutePart> made_;          ///< by fresh() already
};

}  // namespace smd::sm::inline decisions
