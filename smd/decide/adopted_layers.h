// SPDX-License-Identifier: Apache-2.0
#pragma once
// The SLs that clients have from another SM, as layers of pairs of switches.

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "mad/base/sl_files.h"
#include "routing/routes.h"
#include "routing/topology/context.h"
#include "smd/decide/decided.h"
#include "smd/decide/sl_part.h"

namespace smd::sm::inline decisions {

struct AdoptedLayers {
  routing::Layers layers;  ///< by pair; of a pair with several SLs the one that most of its paths have
  AdoptedSls sls;
};

/// Layers for the tables of another SM, by a file of the SLs that its SA gave. SL 0 is in layer 0, further
/// SLs that are in use follow in ascending order. Paths that the file does not name count as SL 0. The error,
/// in one line: there are more SLs than `most` layers. Pure; O(end ports x LIDs).
std::expected<AdoptedLayers, std::string> adopted_layers(const base::PathSlFile& file,
                                                         const routing::Topology& topology,
                                                         const routing::LidMap& lids, unsigned most);

/// What clients have by the file while tables of ours take the place of those of the other SM.
struct FirstLayers {
  /// Of pairs whose SL no layer has a number that no layer has; kNoLayer where the file names no path.
  routing::PairLayers layers;
  std::vector<Sl> sls;  ///< by layer, at most as many as there may be layers
};

/// The layers that pairs would have if they kept their SLs; numbered as those of adopted_layers(). Pure;
/// O(end ports x LIDs).
FirstLayers first_layers(const base::PathSlFile& file, const routing::Topology& topology,
                         const routing::LidMap& lids, unsigned most);

/// The same for tables whose layers are SLs by number (VlMap::by_port()). `layers`: at most 8.
routing::PairLayers sls_as_layers(const base::PathSlFile& file, const routing::Topology& topology,
                                  const routing::LidMap& lids, unsigned layers);

/// Paths whose SL of the SM before us is not known where that matters: tables that are free of credit loops
/// in each VL whichever paths use it (Verification::fixed_sl_ok) take any SL.
std::uint64_t paths_with_unknown_sl(const RoutePart& routes);

/// What is to be said against tables whose clients use the SLs of the file, while VLs are as `found` has
/// layers: paths, there and back, that close a credit loop or do not arrive. Empty: nothing. Follows every
/// path, so it is asked only where the layers of pairs do not say all (AdoptedSls::otherwise). Pure.
std::string fault_on_adopted_sls(const base::PathSlFile& file, const AdoptedLayers& found,
                                 const routing::RoutingContext& in, const routing::Routes& routes);

}  // namespace smd::sm::inline decisions
