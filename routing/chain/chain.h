// SPDX-License-Identifier: Apache-2.0
#pragma once
// Engines in order of preference: the first whose tables are proven is used.

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/verify/report.h"

namespace smd::routing::inline chain {

struct ChainLink {
  std::string engine;  ///< a name of all_engines()
  RoutingOptions options{};
};

/// An engine that was passed over, and why.
struct Refusal {
  std::string engine;
  std::string reason;
};

struct ChainOptions {
  /// The operator's word: tables with credit loops are used where nothing else is wrong with them.
  bool allow_credit_loops = false;
  /// Called after each step, on the caller's thread, for times and progress.
  enum class Step { routed, verified };
  std::function<void(std::string_view engine, Step)> on_step;
};

struct Chosen {
  Routes routes;
  Verification verification;
  std::string engine;
  std::vector<Refusal> fell_back_from;
};

/// Runs the links in order, then `updn` with an order of our own choice, which is proven on any fabric.
/// `input.options` is not used. Fails only when stopped.
std::expected<Chosen, RouteError> route_with_chain(std::span<const ChainLink> chain, const EngineInput& input,
                                                   const ChainOptions& options = {});

}  // namespace smd::routing::inline chain
