// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Subnet as the plain description of a fabric.

#include "mad/base/fabric.h"
#include "smd/dump/view.h"

namespace smd::sm::inline dumps {

/// Switches, then CAs, then routers, each by GUID; ids as ibnetdiscover makes them.
base::Fabric fabric_of(const DumpView& view);

}  // namespace smd::sm::inline dumps
