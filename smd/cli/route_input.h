// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that `smd route` is given.

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "mad/base/fabric.h"
#include "smd/cli/accepted.h"
#include "smd/cli/route.h"
#include "smd/daemon/failure.h"
#include "smd/dump/lft_dump.h"

namespace smd::cli {

using daemon::Failure;

struct RouteInput {
  base::Fabric complete;                ///< with the LIDs of --lids or --lfts
  std::optional<base::Fabric> without;  ///< what --without left of it
  std::optional<sm::LftDump> lfts;
  std::vector<Accepted> accepted;  ///< the lines of --accepted
  std::uint8_t lmc = 0;            ///< the largest that --lids or --lfts give to a CA's port
  std::vector<std::string> notes;  ///< what the operator should know, a line each
};

/// Reads the fabric file, then --lids, --lfts and --without. Failure: a bad file, or a name that is not in
/// it.
std::expected<RouteInput, Failure> load_input(const RouteOptions& options);

}  // namespace smd::cli
