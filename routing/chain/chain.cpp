// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "routing/chain/candidates.h"
#include "routing/chain/compared_loads.h"
#include "routing/chain/leaf_roots.h"
#include "routing/chain/proven_routes.h"
#include "routing/chain/shape.h"
#include "routing/engines/lattice.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/ranking/islands.h"
#include "routing/ranking/root_sets.h"
#include "routing/repair/extend.h"
#include "routing/verify/proof.h"
#include "routing/verify/verify.h"

namespace smd::routing::inline chain {
namespace {

/// So many engines are compared at most, the configured ones first: each costs its tables and their proof.
constexpr std::size_t kCompared = 4;
/// Of the load of the engine for trees on a fabric that is nearly one: other engines have this or less.
constexpr double kMuchLess = 0.8;
/// Of the load of the engine for trees: the one that counts destinations has this or less.
constexpr double kMuchMore = 1.5;
/// Routes that an engine has left out are searched in so many orders.
constexpr unsigned kFillTries = 4;

bool is_own(const ChainLink& link) { return link.engine == "updn" && link.options.root_guids.empty(); }

/// Tables of an engine, proven or those of the last resort.
struct Candidate {
  Chosen chosen;
  bool proven = false;
  bool installed = false;
  RouteLoad load{};
};

class ChainRun {
 public:
  ChainRun(std::span<const ChainLink> chain, const EngineInput& input, const ChainOptions& options)
      : links_(chain.begin(), chain.end()), in_(input), options_(options) {
    rooted_ = std::ranges::any_of(links_, [](const auto& link) { return !link.options.root_guids.empty(); });
    if (links_.size() == 1 && links_.front().engine == kAuto) {
      links_.front().engine = "dmodc";
      shape_ = Shape{.kind = Shape::Kind::tree};
    } else if (std::ranges::none_of(links_, is_own)) {
      links_.push_back({"updn", {}});
    }
  }

  std::expected<Chosen, RouteError> run() {
    for (std::size_t i = 0; i < links_.size(); ++i) {  // the first of kAuto adds others
      if ((!declined_ && !candidates_.empty()) || enough()) break;
      if (candidates_.size() < compared()) try_link(ChainLink(links_[i]), {});
      if (shape_ && i == 0) try_counts(ChainLink(links_[i]));
      if (stopped_ || settled_ || installed_stays()) break;
      if (shape_ && candidates_.empty() && !declined_) decline(ChainLink(links_[i]));
    }
    if (declined_ && !stopped_ && !settled_ && !installed_stays() && !enough()) try_roots();
    if (stopped_ || in_.context.stop.stop_requested()) return std::unexpected(RouteError{});
    return choose();
  }

 private:
  /// Of engines of kAuto those are compared whose time allows it.
  std::size_t compared() const { return shape_ ? links_.size() + kCompared : kCompared; }

  /// In large fabrics engines with one layer are not compared with those that have several: they are seldom
  /// better (nue may be, around what is missing), and their time would be added.
  bool enough() const {
    const auto work = search_work(in_.context.topology);
    if (!shape_ || work <= (damaged() ? kCompareNue : kCompareAll)) return false;
    return std::ranges::any_of(
        candidates_, [](const Candidate& c) { return c.proven && find_engine(c.chosen.engine)->layered; });
  }

  bool misses_cables() {
    if (!misses_cables_) misses_cables_ = misses_uplinks(in_.context.topology);
    return *misses_cables_;
  }

  /// Around missing cables, in fabrics in which it takes little time.
  bool may_gain_by_counts() {
    return !declined_ && search_work(in_.context.topology) <= kCompareAll && misses_cables() &&
           may_carry_less(in_.context, candidates_.front().chosen.routes);
  }

  /// The engine that counts destinations, where round robin cannot be even, is not, or where it is installed.
  void try_counts(ChainLink link) {
    if (stopped_ || candidates_.empty()) return;
    link.engine = "ftree";
    const auto& topology = in_.context.topology;
    const bool installed = options_.installed && options_.installed->engine == link.engine;
    const bool irregular = (declined_ || leaves_differ(topology)) && search_work(topology) <= kCompareNue;
    const bool uneven = candidates_.front().chosen.routes.uneven;
    if (installed_stays() || !(uneven || installed || irregular || may_gain_by_counts())) return;
    try_link(link, {});
  }

  /// Of tables of a tree, whole or damaged: by how much they are worse than others in their worst figure.
  /// Load and shifts weigh the same: what one gains is not worth more than the other loses.
  double cost(const Candidate& c) const {
    double worst = 0;
    for (const auto& other : candidates_) {
      if (!declined_ && other.proven) worst = std::max(worst, worst_ratio(c.load, other.load));
    }
    return worst;
  }

  /// Better shifts are not worth much more load, however much better they are.
  bool stays_round_robin(const Candidate& best) const {
    const auto& first = candidates_.front();
    return !declined_ && first.proven && best.load.max_link_time > kMuchMore * first.load.max_link_time;
  }

  /// Behind the engine for trees.
  void add_links_of_shape() {
    const auto& topology = in_.context.topology;
    const auto& widest = options_.widest != nullptr ? *options_.widest : topology;
    shape_ = find_shape(widest);
    shape_->damaged =
        shape_->damaged || widest.cables() > topology.cables() || widest.switches() > topology.switches();
    const auto options = links_.front().options;
    for (const auto name : engines_for(*shape_, search_work(topology), options_.layered))
      links_.push_back({std::string(name), options});
    if (std::ranges::none_of(links_, is_own)) links_.push_back({"updn", {}});
  }

  /// An engine for trees takes a dragonfly+, and trees with switches below leaves, cables between leaves or
  /// islands, but spreads what crosses there less well than others.
  bool takes_more_than_trees(const ChainLink& link) {
    const auto& topology = in_.context.topology;
    if (!shape_ || declined_ || link.engine != "dmodc") return false;
    nearly_tree_ = joins_leaves(topology);
    return nearly_tree_ || is_dragonfly_plus(topology) || has_islands(topology) || was_more_than_tree();
  }

  /// Missing cables that make a tree of the rest are no reason to leave the installed engine.
  bool was_more_than_tree() const {
    const auto* const widest = options_.widest;
    if (widest == nullptr || !options_.installed || options_.installed->engine == "dmodc") return false;
    return joins_leaves(*widest) || is_dragonfly_plus(*widest) || has_islands(*widest);
  }

  /// What does not fit into a tree loads a few links: for a little less on these the shifts and permutations
  /// of all others are not given up.
  bool stays_tree(const Candidate& best) const {
    return first_is_nearly_for_it() && &best != &candidates_.front() &&
           best.load.max_link_time > kMuchLess * candidates_.front().load.max_link_time && !better(best);
  }

  bool first_is_nearly_for_it() const {
    return nearly_tree_ && candidates_.front().proven && candidates_.front().chosen.engine == "dmodc";
  }

  /// Than the engine for trees.
  bool better(const Candidate& c) const { return c.proven && is_better(c.load, candidates_.front().load); }

  using Candidates = std::vector<Candidate>;

  /// The least load, or a little more with half of its shifts.
  Candidates::iterator least_loaded() {
    const auto least = std::ranges::min_element(
        candidates_, {}, [&](const Candidate& c) { return std::tuple(!c.proven, cost(c), c.load); });
    if (!declined_ || !least->proven) return least;
    return std::ranges::min_element(candidates_, {}, [&](const Candidate& c) {
      const bool worth = c.proven && has_half_the_shifts(c.load, least->load);
      return std::tuple(!worth && &c != &*least, c.load.shift_max + c.load.shift_mean, c.load);
    });
  }

  Candidates::iterator best_candidate() {
    const auto best = least_loaded();
    if (stays_round_robin(*best)) return candidates_.begin();
    if (!stays_tree(*best)) return best;
    return std::ranges::min_element(candidates_, {}, [&](const Candidate& c) {
      const bool first = &c == &candidates_.front();
      return std::tuple(!first && !better(c), load_and_shifts(c.load), c.load);
    });
  }

  void refuse(const ChainLink& link, std::string reason, bool lacks_vls = false) {
    refusals_.push_back({link.engine, std::move(reason), lacks_vls});
  }

  void step(const ChainLink& link, ChainOptions::Step what) const {
    if (options_.on_step) options_.on_step(link.engine, what);
  }

  /// `roots`: those that the chain has found, for the engine of `link`.
  void try_link(const ChainLink& link, std::vector<Guid> roots) {
    const auto* const engine = find_engine(link.engine);
    if (engine == nullptr) return refuse(link, "not an engine");
    auto link_options = link.options;
    if (!roots.empty()) link_options.root_guids = roots;
    auto routes = engine->run({.context = in_.context,
                               .options = std::move(link_options),
                               .vl_budget = in_.vl_budget,
                               .sl_budget = in_.sl_budget,
                               .seed = in_.seed,
                               .widest = options_.widest});
    if (!routes) {
      using Cause = RouteError::Cause;
      const auto cause = routes.error().cause;
      stopped_ = cause == Cause::stopped;
      if (!stopped_ && roots.empty()) {
        const auto error = with_need(*engine, link, routes.error());
        refuse(link, to_string(error), error.cause == Cause::too_few_vls);
      }
      if (cause == Cause::not_a_tree || cause == Cause::no_legal_path) decline(link);
      return;
    }
    if (takes_more_than_trees(link)) decline(link);
    const bool whole = engine->leaves_gaps && fill_gaps(*routes);
    step(link, ChainOptions::Step::routed);
    const bool shortest = link.engine == "minhop" || link.engine == "sssp";
    if (declined_ && !is_own(link) && shortest) return try_shortest(link, *std::move(routes));
    if (!roots.empty()) return try_proof(link, *std::move(routes), std::move(roots));
    auto found = verify_routes(in_.context, *routes);
    if (in_.context.stop.stop_requested()) return;
    step(link, ChainOptions::Step::verified);
    const bool proven = usable(found);
    settled_ = proven && whole && declined_ && !options_.installed && meshed() &&
               find_lattice(in_.context.topology) &&
               ((!options_.layered && !damaged()) || even_on_shortest_paths(*routes));
    if (proven || is_own(link)) {
      add(link, {*std::move(routes), std::move(found)}, {}, proven);
    } else {
      refuse(link, describe(found, in_.context.topology));
    }
  }

  /// How many VLs or SLs an engine that was asked for by name would need.
  RouteError with_need(const EngineInfo& engine, const ChainLink& link, RouteError error) const {
    using enum RouteError::Cause;
    if (error.cause != too_few_vls && error.cause != too_few_sls) return error;
    if (in_.sl_budget <= in_.vl_budget) error.cause = too_few_sls;
    if (shape_) return error;
    error.needed = layers_needed(engine, link, error.cause);
    return error;
  }

  /// The fewest layers that are enough: engines spread over as many as there are. kMostLayers + 1: none are;
  /// 0: it fails for another reason.
  unsigned layers_needed(const EngineInfo& engine, const ChainLink& link, RouteError::Cause lacks) const {
    auto fails = std::min(in_.sl_budget, in_.vl_budget), works = kMostLayers + 1;
    while (works - fails > 1) {
      const auto layers = works > kMostLayers ? kMostLayers : std::midpoint(fails, works);
      const auto routes = engine.run({.context = in_.context,
                                      .options = link.options,
                                      .vl_budget = layers,
                                      .sl_budget = layers,
                                      .seed = in_.seed,
                                      .widest = options_.widest});
      using enum RouteError::Cause;
      if (routes) {
        works = lacks == too_few_vls ? routes->layers.vl_indexes() : routes->layers.count;
      } else if (routes.error().cause == too_few_vls || routes.error().cause == too_few_sls) {
        fails = layers;
      } else {
        return 0;
      }
    }
    return works;
  }

  /// Rings and paths are no better for dimension order than for others.
  bool meshed() const {
    const auto& topology = in_.context.topology;
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      if (topology.groups(s) > 2) return true;
    }
    return false;
  }

  /// Around what is missing dimension order loads some links with much more than others.
  bool damaged() const { return shape_ && shape_->damaged; }

  /// No routes can carry less over the most loaded link than those of dimension order do.
  bool even_on_shortest_paths(const Routes& routes) const {
    const auto& topology = in_.context.topology;
    if (!topology.one_rate() || !shape_ || shape_->kind == Shape::Kind::torus) return false;
    const auto hosts = rank_order(in_.context, {});
    const auto load = measure_load(in_.context, routes, hosts, LoadOfShifts::no);
    const auto n = static_cast<double>(hosts.size());
    return load.max_link_time * 2 * static_cast<double>(topology.cables()) < load.mean_hops * n * n + 1;
  }

  /// Whether none was missing. Routes stay as they are if some host still has none: verification names it.
  bool fill_gaps(Routes& routes) const {
    if (prove(in_.context, routes)) return true;
    for (const auto added : {AddedPaths::nearest, AddedPaths::known}) {
      auto filled = extend({.context = in_.context,
                            .old = routes.rows,
                            .layers = routes.layers,
                            .added = added,
                            .installed = false,
                            .tries = kFillTries});
      if (!filled) continue;
      routes = std::move(filled->routes);
      break;
    }
    return false;
  }

  // What is only compared is proven or not: tracing the fault to describe it takes longer than the tables.
  void try_shortest(const ChainLink& link, Routes routes) {
    const auto rows = routes;  // which proven_shortest() may replace
    auto proven = proven_shortest(in_.context, std::move(routes));
    if (!proven && shape_ && search_work(in_.context.topology) <= kCompareAll) {
      // What the quick proof does not take for routes that are missing by rule.
      auto found = verify_routes(in_.context, rows);
      if (found.clean()) proven = ProvenRoutes{rows, std::move(found)};
    }
    step(link, ChainOptions::Step::verified);
    if (proven) return add(link, *std::move(proven), {}, true);
    refuse(link, "credit loops: shortest paths wait for each other in a cycle");
  }

  void try_proof(const ChainLink& link, Routes routes, std::vector<Guid> roots) {
    auto found = prove(in_.context, routes);
    step(link, ChainOptions::Step::verified);
    if (found && found->clean()) add(link, {std::move(routes), *std::move(found)}, std::move(roots), true);
  }

  void add(const ChainLink& link, ProvenRoutes tables, std::vector<Guid> roots, bool proven) {
    if (in_.context.stop.stop_requested()) return;
    const bool installed =
        options_.installed && options_.installed->engine == link.engine && options_.installed->roots == roots;
    candidates_.push_back({Chosen{std::move(tables.routes), std::move(tables.verification), link.engine,
                                  refusals_, std::move(roots), declined_},
                           proven,
                           installed,
                           {}});
  }

  bool usable(const Verification& found) const {
    if (found.clean()) return true;
    return options_.allow_credit_loops && found.host_pairs_unreachable == 0 && found.loops == 0 &&
           found.dead_ends == 0;
  }

  /// An engine for trees has declined: from now on engines are compared, if the installed one may change.
  void decline(const ChainLink& link) {
    if (std::exchange(declined_, true)) return;
    if (shape_) add_links_of_shape();
    if (!options_.installed) return;
    const auto& [engine, roots, may_change] = *options_.installed;
    const bool configured =
        shape_ || std::ranges::any_of(links_, [&](const auto& l) { return l.engine == engine; });
    if (!configured || engine == link.engine || (may_change && roots.empty())) return;
    try_link({engine, link.options}, roots);
  }

  bool installed_stays() const {
    return options_.installed && !options_.installed->may_change &&
           std::ranges::any_of(candidates_, [](const auto& c) { return c.installed && c.proven; });
  }

  /// `updn` below several roots, where the operator has named none.
  void try_roots() {
    if (rooted_) return;
    for (const auto& set : root_sets(in_.context.topology)) {
      if (stopped_) return;
      if (candidates_.size() >= compared()) break;
      std::vector<Guid> roots;
      for (const auto s : set) roots.push_back(in_.context.topology.guid(s));
      const bool there = std::ranges::any_of(
          candidates_, [&](const auto& c) { return c.chosen.engine == "updn" && c.chosen.roots == roots; });
      if (!there) try_link({"updn", {}}, std::move(roots));
    }
    if (auto found = best_leaf_root(in_))
      add({"updn", {}}, std::move(found->tables), std::move(found->roots), true);
  }

  std::expected<Chosen, RouteError> choose() {
    if (candidates_.empty()) return std::unexpected(RouteError{});
    drop_less_complete();
    if (candidates_.size() > 1) measure();
    auto best = best_candidate();
    const auto installed =
        std::ranges::find_if(candidates_, [](const Candidate& c) { return c.installed && c.proven; });
    const bool may_change = options_.installed && options_.installed->may_change;
    const bool worthwhile =
        installed == candidates_.end() ||
        (may_change && best->load.max_link_time <= kWorthwhile * installed->load.max_link_time);
    if (!worthwhile) best = installed;
    add_worse(*best);
    std::ranges::move(dropped_, std::back_inserter(best->chosen.fell_back_from));
    if (shape_) explain(*best, *shape_, !worthwhile);
    return std::move(best->chosen);
  }

  /// Why kAuto has chosen `best`.
  void explain(Candidate& best, Shape& shape, bool stays) {
    if (!declined_) shape.damaged = misses_cables();
    const auto& engine = best.chosen.engine;
    const auto other = std::ranges::min_element(candidates_, {}, [&](const Candidate& c) {
      return std::tuple(&c == &best || !c.proven || c.chosen.engine == engine, c.load);
    });
    const bool compared = other != candidates_.end() && other->proven && other->chosen.engine != engine;
    auto reason = fmt::format("{} is the engine for it", engine);
    if ((declined_ && !settled_) || compared) {
      reason = !compared ? fmt::format("only {} has routes that are proven", engine)
                         : why_better({engine, best.load}, {other->chosen.engine, other->load});
    }
    if (compared && stays_tree(*other)) {
      const auto* const is = &best == &candidates_.front() ? "" : "better than ";
      reason = fmt::format("{} is {}the engine for trees, which it nearly is; {}", engine, is,
                           why_better({engine, best.load}, {other->chosen.engine, other->load}));
    }
    if (stays) reason = fmt::format("{} is installed and stays", engine);
    best.chosen.shape = to_string(shape);
    best.chosen.why = fmt::format("{}: {}", best.chosen.shape, reason);
  }

  static std::string roots_of(const Candidate& c) {
    return c.chosen.roots.empty() ? "" : fmt::format("with {} roots of its own ", c.chosen.roots.size());
  }

  /// Tables that reach fewer switches than `updn` does are no better for less load.
  void drop_less_complete() {
    const auto own = std::ranges::find_if(
        candidates_, [](const Candidate& c) { return c.chosen.engine == "updn" && c.chosen.roots.empty(); });
    if (own == candidates_.end()) return;
    const auto missing = own->chosen.verification.unreachable_switch_pairs;
    std::erase_if(candidates_, [&](const Candidate& c) {
      const auto lacks = c.chosen.verification.unreachable_switch_pairs;
      if (!c.chosen.by_load || lacks <= missing) return false;
      dropped_.push_back(
          {c.chosen.engine, fmt::format("{}reaches fewer switches than updn: {} missing routes "
                                        "from hosts to switches instead of {}",
                                        roots_of(c), lacks, missing)});
      return true;
    });
  }

  void measure() {
    const auto hosts = rank_order(in_.context, {});
    const auto shifts = declined_ ? LoadOfShifts::no : LoadOfShifts::yes;  // those of trees always count
    auto least = std::numeric_limits<double>::infinity();
    for (auto& candidate : candidates_) {
      candidate.load = measure_load(in_.context, candidate.chosen.routes, hosts, shifts);
      if (candidate.proven) least = std::min(least, candidate.load.max_link_time);
    }
    if (!declined_) return;
    const auto first = candidates_.front().load.max_link_time;
    const auto most = std::max(kLittleMore * least, first_is_nearly_for_it() ? first : 0);
    const auto counts = [&](const Candidate& c) { return c.load.max_link_time <= most; };
    if (std::ranges::count_if(candidates_, counts) < 2) return;
    for (auto& candidate : candidates_) {
      if (counts(candidate)) candidate.load = measure_load(in_.context, candidate.chosen.routes, hosts);
    }
  }

  /// What was preferred to `best` by its place, and has more load.
  void add_worse(Candidate& best) const {
    for (const auto& other : candidates_) {
      if (&other == &best) break;
      best.chosen.fell_back_from.push_back(
          {other.chosen.engine, other.proven ? "proven, but with " + why_worse(other.load, best.load)
                                             : describe(other.chosen.verification, in_.context.topology)});
    }
  }

  std::vector<ChainLink> links_;
  const EngineInput& in_;
  const ChainOptions& options_;
  std::optional<Shape> shape_;  ///< with kAuto: a tree as long as no engine for trees has declined
  bool rooted_ = false;         ///< roots are configured
  bool nearly_tree_ = false;    ///< a tree in which a cable joins switches with hosts
  bool declined_ = false;       ///< an engine for trees has found that there is none, or not for all hosts
  bool stopped_ = false;
  std::optional<bool> misses_cables_;  ///< misses_uplinks(), once it was asked for
  bool settled_ = false;  ///< a whole lattice whose dimension order misses no route: others carry more
  std::vector<Refusal> refusals_;
  std::vector<Refusal> dropped_;  ///< by drop_less_complete()
  std::vector<Candidate> candidates_;
};

}  // namespace

std::expected<Chosen, RouteError> route_with_chain(std::span<const ChainLink> chain, const EngineInput& input,
                                                   const ChainOptions& options) {
  return ChainRun(chain, input, options).run();
}

}  // namespace smd::routing::inline chain
