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

Result ft2(Args args);
Result ft3(Args args);
Result xgft(Args args);
Result rails(Args args);
Result torus(Args args);
Result mesh(Args args);
Result hyperx(Args args);
Result dragonfly(Args args);
Result dragonflyplus(Args args);
Result random(Args args);

}  // namespace smd::base::spec
