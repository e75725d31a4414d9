// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smd::routing::inline engines {

// The registry. An engine is one .cpp, which defines its row, and the name of the row in the two lines here.
extern const EngineInfo kDmodc, kFtree, kUpdn, kDnup, kMinhop, kDor, kSssp, kDfsssp, kLash, kNue, kTorus2Qos,
    kFile;

std::span<const EngineInfo> all_engines() {
  static const std::array kAll{kDmodc, kFtree,  kUpdn, kDnup, kMinhop,    kDor,
                               kSssp,  kDfsssp, kLash, kNue,  kTorus2Qos, kFile};
  return kAll;
}

const EngineInfo* find_engine(std::string_view name) {
  const auto all = all_engines();
  const auto at = std::ranges::find(all, name, &EngineInfo::name);
  return at != all.end() ? &*at : nullptr;
}

namespace {

std::string too_few(const RouteError& error, std::string_view what, std::string_view of) {
  const auto allowed = fmt::format("{} {}{}{}", error.vls, what, error.vls == 1 ? "" : "s", of);
  if (error.needed == 0) return "needs more than " + allowed;
  const auto needed =
      error.needed > kMostLayers ? fmt::format("more than {}", kMostLayers) : std::to_string(error.needed);
  return fmt::format("needs {} {}s{}, and may use {}", needed, what, of, error.vls);
}

}  // namespace

std::string to_string(const RouteError& error) {
  switch (error.cause) {
    case RouteError::Cause::stopped:
      return "stopped";
    case RouteError::Cause::no_such_root:
      return fmt::format("none of the roots is a switch of this fabric: {}", fmt::join(error.guids, ", "));
    case RouteError::Cause::no_legal_path:
      return fmt::format("no path that goes up first and down then between the leaves {}",
                         fmt::join(error.guids, " and "));
    case RouteError::Cause::not_a_tree:
      return fmt::format("not a tree: switch {} has hosts, and a cable to {} at its level or below",
                         error.guids.empty() ? Guid{} : error.guids.front(),
                         error.guids.empty() ? Guid{} : error.guids.back());
    case RouteError::Cause::not_a_lattice:
      return "the switches are no mesh, hypercube, HyperX or torus";
    case RouteError::Cause::no_tables:
      return "no tables of this fabric's switches: [routing] tables_file names the file";
    case RouteError::Cause::too_few_vls:
      return too_few(error, "VL", "");
    case RouteError::Cause::too_few_sls:
      return too_few(error, "SL", " for each class") + ": all classes have 16 together";
    case RouteError::Cause::not_a_torus:
      return "the switches are no torus or mesh of at most three dimensions";
    case RouteError::Cause::no_seed:
      return "of each seed in the torus-2QoS.conf at least one switch is missing";
    case RouteError::Cause::other_torus:
      return error.guids.empty() ? "the switches are no torus or mesh of the sizes in the torus-2QoS.conf"
                                 : fmt::format("{} has no place in the torus that the torus-2QoS.conf says",
                                               error.guids.front());
    case RouteError::Cause::torus_in_pieces:
      return fmt::format("a ring is in pieces: its rule has no path from {} to {}",
                         error.guids.empty() ? Guid{} : error.guids.front(),
                         error.guids.empty() ? Guid{} : error.guids.back());
  }
  return "unknown";
}

}  // namespace smd::routing::inline engines
