// SPDX-License-Identifier: Apache-2.0
// The names are those of `opensm -c`, of opensm(8) and of its older versions. docs/routing.md, "OpenSM's
// options", has a row for each.
#include "config/opensm_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smd::config {
namespace {

constexpr std::string_view kFileSuffix = "_file";

struct OptionWithoutKey {
  std::string_view name, why;
};

constexpr std::string_view kPortOrder =
    "dor finds the dimensions from the cabling; torus_file has port_order for torus-2QoS";
constexpr std::string_view kTurns =
    "the engines for trees count off the destinations that each switch receives, so no port is moved at "
    "random";

constexpr std::array kWithoutKey{
    OptionWithoutKey{"hop_weights_file",
                     "the engines for trees share routes by the rates of cables, and auto compares by them"},
    OptionWithoutKey{"port_search_ordering_file", kPortOrder},
    OptionWithoutKey{"dimn_ports_file", kPortOrder},
    OptionWithoutKey{"guid_routing_order_file",
                     "the order follows from the cabling; smd route --rank-order shows it"},
    OptionWithoutKey{"guid_routing_order_no_scatter", "no port is chosen at random"},
    OptionWithoutKey{"scatter_ports", kTurns},
    OptionWithoutKey{"port_shifting", kTurns},
    OptionWithoutKey{
        "port_prof_ignore_file",
        "compute_nodes and io_nodes are spread each by themselves, and so are aggregation nodes"},
    OptionWithoutKey{"port_profile_switch_nodes",
                     "routes to switches are spread by themselves and change no route to a host"},
    OptionWithoutKey{"ids_guid_file", "ties between switches are decided by the cabling"},
    OptionWithoutKey{"connect_roots",
                     "routes between top switches that no up/down path allows can close credit loops; nue "
                     "routes them without"},
    OptionWithoutKey{"max_reverse_hops",
                     "I/O nodes on top switches get routes without credit loops: updn re-roots the tree"},
    OptionWithoutKey{"quasi_ftree_indexing", "leaves are numbered by their nearness in every tree"},
    OptionWithoutKey{"use_ucast_cache", "a repair keeps every entry that still leads to its destination"},
    OptionWithoutKey{"lid_matrix_dump_file",
                     "hops are computed from the cabling; opensm-lid-matrix.dump is only written"},
    OptionWithoutKey{"do_mesh_analysis", "lash finds the dimensions from the cabling by itself"},
    OptionWithoutKey{"lash_start_vl", "classes of [qos] have VLs of their own beside those of the layers"},
    OptionWithoutKey{"nue_max_num_vls", "nue uses one VL"},
    OptionWithoutKey{"nue_include_switches", "paths from and to switches are always in the proof"},
    OptionWithoutKey{
        "avoid_throttled_links",
        "the engines for trees share routes by the rates of cables; the others count cables alike"},
    OptionWithoutKey{"no_fallback", "updn, which refuses nothing, is the last engine of every chain"},
};

}  // namespace

std::string why_no_key(std::string_view name) {
  const auto names_it = [&](const OptionWithoutKey& option) {
    return option.name == name || (option.name.ends_with(kFileSuffix) &&
                                   option.name.substr(0, option.name.size() - kFileSuffix.size()) == name);
  };
  const auto* const found = std::ranges::find_if(kWithoutKey, names_it);
  if (found == kWithoutKey.end()) return {};
  return fmt::format("OpenSM's {} has no key here: {}", found->name, found->why);
}

}  // namespace smd::config
