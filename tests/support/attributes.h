// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every layout of mad/wire, for tests that go over all of them.

#include <gtest/gtest.h>

#include <string>

#include "mad/wire/attributes.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/mad.h"

namespace smd::wire {

using EveryLayout =
    ::testing::Types<NodeInfo, NodeDescription, SwitchInfo, GuidInfo, PortInfo, PKeyTable, SlToVl,
                     VlArbitration, LinearForwardingTable, MulticastForwardingTable, SmInfo, Notice,
                     ClassPortInfo, PortInfoExtended, MlnxExtPortInfo, ArInfo, MadHeader, GidDetails,
                     LinkStateDetails, PortErrorDetails, LocalChangeDetails, SystemImageDetails,
                     BadMKeyDetails, BadKeyDetails, BadPKeyAtSwitchDetails>;

/// Names the typed tests by the attribute; kinds of trap details by their first trap.
struct LayoutName {
  template <class A>
  static std::string GetName(int /*index*/) {
    if constexpr (requires { A::kName; }) {
      return std::string(A::kName);
    } else {
      return "Trap" + std::to_string(A::kTraps[0]);
    }
  }
};

}  // namespace smd::wire
