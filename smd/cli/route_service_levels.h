// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd route --path-sl --sl2vl`: verifies the layers of another SM.

#include <expected>

#include "routing/parallel.h"
#include "smd/cli/route.h"
#include "smd/cli/route_pass.h"

namespace smd::cli {

/// Reads both files and follows each path on its SL: the verification of `pass` says what was found. Notes
/// say what the files do not cover. Without these options nothing is done. Failure: a bad file.
std::expected<void, Failure> check_given_levels(const RouteOptions& options,
                                                const routing::Parallel& parallel, RoutePass& pass);

}  // namespace smd::cli
