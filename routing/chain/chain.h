// SPDX-License-Identifier: Apache-2.0
#pragma once
// A chain of engines in order of preference: the first whose tables are proven is used. Where an engine for
// trees declines the fabric, those after it are compared by their load. "auto" is a chain that follows from
// the shape of the fabric.

#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/verify/report.h"

namespace smd::routing::inline chain {

/// The only link of a chain: all engines, of which the shape of the fabric says which are compared.
inline constexpr std::string_view kAuto = "auto";

struct ChainLink {
  std::string engine;  ///< a name of all_engines(), or kAuto
  RoutingOptions options{};
};

/// An engine that was not used, and the reason.
struct Refusal {
  std::string engine;
  std::string reason;
  bool lacks_vls = false;  ///< it needs more VLs than there are
};

/// Whose tables switches hold.
struct InstalledEngine {
  std::string engine;
  std::vector<Guid> roots{};  ///< Chosen::roots of it
  /// Another one is used if it is better by kWorthwhile; else the installed one stays while it is proven.
  bool may_change = false;
};

/// Another engine is worth a change of all tables if its most loaded link carries at most so much of the
/// load.
inline constexpr double kWorthwhile = 0.9;

/// Of the least load of engines that are compared: one with this or less, and with half of the worst and mean
/// shift or less, is better.
inline constexpr double kLittleMore = 1.03;

struct ChainOptions {
  /// Configured by the operator: accepts tables whose only fault is credit loops.
  bool allow_credit_loops = false;
  /// Called after each step on the caller's thread, for timing and progress.
  enum class Step { routed, verified };
  std::function<void(std::string_view engine, Step)> on_step;
  std::optional<InstalledEngine> installed{};  ///< nothing: no tables yet, the best is used
  /// With kAuto: clients use the SL of each path, so that engines with several layers are compared, too.
  bool layered = false;
  /// The widest cabling seen, for engines by_position; with kAuto the shape is told by it, too. Null: the
  /// input's.
  const Topology* widest = nullptr;
};

struct Chosen {
  Routes routes;
  Verification verification;
  std::string engine;
  std::vector<Refusal> fell_back_from;
  /// Roots that the chain has found for this engine, and that its repairs need; empty: those of its options.
  std::vector<Guid> roots{};
  bool by_load = false;  ///< an engine before it declined, and it was compared with the others
  std::string shape{};   ///< with kAuto: "torus 10x10x10"
  std::string why{};     ///< with kAuto: why this engine, in one line that begins with the shape
};

/// Runs the engines in order, then `updn` without roots, which always succeeds. Ignores `input.options`. If
/// an engine finds that the fabric is no tree, or has hosts without an up/down path, later ones run (four
/// at most, up to one with leaves_gaps that leaves none), and `updn` with root_sets() and below the
/// best_leaf_root() if no roots are configured; the least measure_load() of those proven is used, of equal
/// ones the first, or one with kLittleMore. Fails if stopped.
///
/// kAuto: `dmodc`; if it declines, or the fabric is a dragonfly+, engines_for() its shape in the same way,
/// without that limit.
std::expected<Chosen, RouteError> route_with_chain(std::span<const ChainLink> chain, const EngineInput& input,
                                                   const ChainOptions& options = {});

}  // namespace smd::routing::inline chain
