// SPDX-License-Identifier: Apache-2.0
#pragma once
// One function a spec. docs/simulator.md ('Specs') says what each builds; names, GUIDs and port numbers are
// part of that and must not change. Errors come without the spec in front.

#include <expected>
#include <string>

#include "mad/base/fabric.h"
#include "mad/base/spec/args.h"

namespace smd::base::spec {

using Result = std::expected<Fabric, std::string>;

Result ft2(Args args);            ///< K: two-level fat tree of switches with K ports
Result ft3(Args args);            ///< K[:PODS]: three-level fat tree
Result xgft(Args args);           ///< extended generalised fat tree, one argument
Result rails(Args args);          ///< LEAVES:SPINES:HOSTS:RAILS: a host has a port a rail
Result fullcore(Args args);       ///< PODS:LEAVES:HOSTS:AGGS:CORES: every aggregation switch at every core
Result chassis(Args args);        ///< EDGES:HOSTS:LINES:SPINES[:CABLES[:CHASSIS]]: directors
Result torus(Args args);          ///< a grid that closes in each dimension
Result mesh(Args args);           ///< a grid that does not close
Result hyperx(Args args);         ///< all switches of a line linked, in each dimension
Result dragonfly(Args args);      ///< A:H[:P]: Kim et al., ISCA 2008
Result dragonflyplus(Args args);  ///< GROUPS:LEAVES:SPINES:HOSTS: Shpiner et al., HiPINEB 2017
Result random(Args args);         ///< SWITCHES:DEGREE:HOSTS:SEED: connected, the same for one seed

}  // namespace smd::base::spec
