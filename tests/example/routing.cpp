// SPDX-License-Identifier: Apache-2.0
// The routing library alone: two leaves, two spines, three hosts a leaf; routes, proof, quality, and the
// repair after a cable is lost. Links smd_routing and nothing else of smd.
#include <cstdio>
#include <vector>

#include "routing/chain/chain.h"
#include "routing/quality/quality.h"
#include "routing/repair/repair.h"
#include "routing/verify/verify.h"

using namespace smd;           // Guid, Lid, PortNum
using namespace smd::routing;  // everything else

namespace {

TopologyInput fabric() {
  TopologyInput input;
  for (std::uint64_t s = 0; s < 4; ++s) input.switches.push_back({Guid{0x10 + s}, 8});
  for (SwitchIndex leaf = 0; leaf < 2; ++leaf) {
    for (SwitchIndex spine = 0; spine < 2; ++spine) {
      input.links.push_back({.a = leaf,
                             .a_port = PortNum{static_cast<std::uint8_t>(4 + spine)},
                             .b = 2 + spine,
                             .b_port = PortNum{static_cast<std::uint8_t>(1 + leaf)}});
    }
    for (std::uint8_t h = 1; h <= 3; ++h) {
      const Guid guid{0x100 + leaf * 16U + h};
      input.end_ports.push_back({guid, leaf, PortNum{h}, EndKind::compute, guid, guid});
    }
  }
  return input;
}

/// A fabric with LIDs: switches 1 to 4, hosts 5 to 10, in the order of the input.
struct Fabric {
  explicit Fabric(const TopologyInput& input) : topology(input) {
    std::vector<LidRange> switches, hosts;
    std::uint16_t next = 1;
    for (std::size_t i = 0; i < input.switches.size(); ++i) switches.push_back({Lid{next++}, 0});
    for (std::size_t i = 0; i < input.end_ports.size(); ++i) hosts.push_back({Lid{next++}, 0});
    lids = LidMap(topology, switches, hosts);
  }
  Topology topology;
  LidMap lids;
};

}  // namespace

int main() {
  auto input = fabric();
  const Fabric whole(input);
  const Threads threads(2);

  const std::vector<ChainLink> chain{{"dmodc", RoutingOptions{}}, {"updn", RoutingOptions{}}};
  const EngineInput job{.context = {whole.topology, whole.lids, threads}};
  const auto chosen = route_with_chain(chain, job);
  if (!chosen || !chosen->verification.clean()) return 1;
  const auto quality =
      measure({whole.topology, whole.lids, threads}, chosen->routes, hosts_in_file_order(whole.topology));
  std::printf("%s: at most %llu routes over a link\n", chosen->engine.c_str(),
              static_cast<unsigned long long>(quality.max_link_paths));

  input.links.pop_back();  // between the second leaf and the second spine
  const Fabric damaged(input);
  std::vector<OldRow> old;
  for (SwitchIndex s = 0; s < whole.topology.switches(); ++s) {
    old.push_back({whole.topology.guid(s), chosen->routes.rows[s]});
  }
  const auto reference = merge({}, whole.topology);
  const auto repaired = repair_routes({.context = {damaged.topology, damaged.lids, threads},
                                       .old = old,
                                       .reference = reference,
                                       .engine = *find_engine(chosen->engine),
                                       .options = RoutingOptions{}});
  if (!repaired) return 1;
  const auto found = verify_routes({damaged.topology, damaged.lids, threads}, repaired->routes);
  std::printf("one cable less: %llu entries replaced, %s\n",
              static_cast<unsigned long long>(repaired->replaced), describe(found, damaged.topology).c_str());
  return found.clean() && quality.max_link_paths == 6 ? 0 : 1;
}
