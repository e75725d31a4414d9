// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/chain.h"

#include <fmt/format.h>

#include "routing/verify/verify.h"

namespace smd::routing::inline chain {
namespace {

bool usable(const Verification& found, const ChainOptions& options) {
  if (found.clean()) return true;
  return options.allow_credit_loops && found.host_pairs_unreachable == 0 && found.loops == 0 &&
         found.dead_ends == 0;
}

struct Attempt {
  Routes routes;
  Verification verification;
};

std::expected<Attempt, RouteError> attempt(const ChainLink& link, const EngineInfo& engine,
                                           const EngineInput& in, const ChainOptions& options) {
  const auto step = [&](ChainOptions::Step what) {
    if (options.on_step) options.on_step(link.engine, what);
  };
  auto routes = engine.run(
      {.context = in.context, .options = link.options, .vl_budget = in.vl_budget, .seed = in.seed});
  if (!routes) return std::unexpected(routes.error());
  step(ChainOptions::Step::routed);
  auto found = verify_routes(in.context, *routes);
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  step(ChainOptions::Step::verified);
  return Attempt{*std::move(routes), std::move(found)};
}

}  // namespace

std::expected<Chosen, RouteError> route_with_chain(std::span<const ChainLink> chain, const EngineInput& input,
                                                   const ChainOptions& options) {
  std::vector<ChainLink> links(chain.begin(), chain.end());
  const ChainLink own{"updn", {}};
  const auto is_own = [&](const ChainLink& link) {
    return link.engine == own.engine && link.options.root_guids.empty();
  };
  links.push_back(own);
  std::vector<Refusal> refusals;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool last = i + 1 == links.size();
    const auto* const engine = find_engine(links[i].engine);
    if (engine == nullptr) {
      refusals.push_back({links[i].engine, "not an engine"});
      continue;
    }
    auto tried = attempt(links[i], *engine, input, options);
    if (!tried && tried.error().cause == RouteError::Cause::stopped) return std::unexpected(tried.error());
    if (!tried) {
      refusals.push_back({links[i].engine, to_string(tried.error())});
      continue;
    }
    if (last || is_own(links[i]) || usable(tried->verification, options)) {
      return Chosen{std::move(tried->routes), std::move(tried->verification), links[i].engine,
                    std::move(refusals)};
    }
    refusals.push_back({links[i].engine, describe(tried->verification, input.context.topology)});
  }
  return std::unexpected(RouteError{});
}

}  // namespace smd::routing::inline chain
