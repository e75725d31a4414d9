// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two engines' tables are better where neither load nor shifts alone decide, and why one is
// preferred, in words.

#include <string>
#include <string_view>

#include "routing/quality/load.h"

namespace smd::routing::inline chain {

/// Load times shifts, as cost_in_tree().
double load_and_shifts(const RouteLoad& load);

/// The largest of the ratios of load, worst and mean shift to those of other tables: 1 or less where none is
/// worse.
double worst_ratio(const RouteLoad& load, const RouteLoad& than);

/// No more load, and load_and_shifts() are less by a tenth.
bool is_better(const RouteLoad& load, const RouteLoad& than);

/// At most kLittleMore of the load, and half of the shifts or less.
bool has_half_the_shifts(const RouteLoad& load, const RouteLoad& than);

/// Whether the cables of leaves allow kWorthwhile of the load of these routes, or less.
bool may_carry_less(const RoutingContext& in, const Routes& routes);

/// By what tables with the load `is` are worse than the best: "352 routes over the most loaded link instead
/// of 320". Tables with less load have worse shifts.
std::string why_worse(const RouteLoad& is, const RouteLoad& best);

struct NamedLoad {
  std::string_view engine;
  RouteLoad load;
};

/// "ftree has 96 routes over the most loaded link, dmodc 112".
std::string why_better(const NamedLoad& best, const NamedLoad& other);

}  // namespace smd::routing::inline chain
