// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why one engine's tables were preferred to those of another, in words.

#include <string>
#include <string_view>

#include "routing/quality/load.h"

namespace smd::routing::inline chain {

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
